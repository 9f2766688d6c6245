package providers_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

const fusionAuthClaims = `{
	"sub": "user-1", "sid": "session-1", "jti": "token-1", "iss": "https://fusion.example", "aud": "client-1",
	"iat": 1893456000, "exp": 1893459600, "at_hash": "ah", "c_hash": "ch", "authenticationType": "PASSWORD",
	"scope": "openid", "email": "jane@example.com", "email_verified": true, "name": "Jane M. Doe", "given_name": "Jane",
	"middle_name": "M.", "family_name": "Doe", "preferred_username": "jane", "picture": "https://img.example/j.png",
	"department": "sales", "SUB": "somebody else"
}`

// employee has a claim of the installation in addition to the standard ones.
type employee struct {
	providers.FusionAuthProfile

	Department string `json:"department"`
}

// TestFusionAuthProfile decodes every claim of an identity server into the type, and additional ones into a type that
// embeds it.
func TestFusionAuthProfile(t *testing.T) {
	t.Parallel()
	profile := profileOf(t, fusionAuthClaims)
	want := providers.FusionAuthProfile{
		Subject: "user-1", SessionID: "session-1", ID: "token-1", Issuer: "https://fusion.example", Audience: "client-1",
		IssuedAt: 1893456000, Expires: 1893459600, AccessTokenHash: "ah", CodeHash: "ch", AuthenticationType: "PASSWORD",
		Scope: "openid", Email: "jane@example.com", EmailVerified: true, Name: "Jane M. Doe", GivenName: "Jane",
		MiddleName: "M.", FamilyName: "Doe", PreferredUsername: "jane", Picture: "https://img.example/j.png",
	}
	if got, err := providers.ProfileAs[providers.FusionAuthProfile](profile); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	p := providers.FusionAuth(providers.FusionAuthOptions{Options: providers.Options{
		Profile: providers.Typed(func(e employee) (*core.Person, error) {
			return &core.Person{AccountID: e.Subject, Name: e.GivenName + " of " + e.Department}, nil
		}),
	}})
	if person, err := p.Profile(t.Context(), profile, nil); err != nil || person.Name != "Jane of sales" ||
		person.AccountID != "user-1" {
		t.Errorf("%+v, %v", person, err)
	}
	profile["email_verified"] = "yes"
	if got, err := providers.ProfileAs[providers.FusionAuthProfile](profile); err == nil {
		t.Errorf("a claim of another type: %+v", got)
	}
}

const twitterAnswer = `{
	"data": {
		"id": "2244994945", "name": "X Dev", "username": "xdev", "created_at": "2013-12-14T04:35:55.000Z",
		"description": "about #go", "email": "dev@example.com", "confirmed_email": "dev@example.org", "location": "127.0.0.1",
		"pinned_post_id": "1255542774432063488", "profile_image_url": "https://pbs.example/p.jpg", "protected": true,
		"url": "https://t.example/3", "verified": true,
		"entities": {
			"description": {"hashtags": [{"start": 6, "end": 9, "tag": "go"}]},
			"url": {"urls": [{"start": 0, "end": 19, "url": "https://t.example/3",
				"expanded_url": "https://dev.example", "display_url": "dev.example"}]}
		}
	},
	"includes": {"posts": [{"id": "1255542774432063488", "text": "hello"}]}
}`

// TestTwitterProfile decodes every field of a response into the type.
func TestTwitterProfile(t *testing.T) {
	t.Parallel()
	got, err := providers.ProfileAs[providers.TwitterProfile](profileOf(t, twitterAnswer))
	if err != nil {
		t.Fatal(err)
	}
	// Encoding the profile again gives the same members.
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if was, is := profileOf(t, twitterAnswer), profileOf(t, string(raw)); !reflect.DeepEqual(was, is) {
		t.Errorf("read as %s", raw)
	}
	short, err := providers.ProfileAs[providers.TwitterProfile](profileOf(t,
		`{"data":{"id":"1","name":"Ada","username":"ada"}}`))
	if err != nil || short.Data.Username != "ada" || short.Includes.Posts != nil {
		t.Errorf("the fields that are always present: %+v, %v", short, err)
	}
}

func profileOf(t *testing.T, text string) (p core.Profile) {
	t.Helper()
	if err := p.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return p
}

// asked is the service's response to a sign-in, and the request that it received.
type asked struct{ userinfo url.Values }

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"access_token":"t","token_type":"bearer"}`
	if r.URL.Path == "/2/users/me" {
		a.userinfo = r.URL.Query()
		body = twitterAnswer
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// TestTwitterUserFields requests additional fields and pinned posts with options, and finds them in the signIn
// callback.
func TestTwitterUserFields(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name               string
		fields, expansions []string
		want               url.Values
	}{
		{"none", nil, nil, url.Values{"user.fields": {"profile_image_url"}}},
		{
			"fields", []string{"description", "profile_image_url", "confirmed_email"}, nil,
			url.Values{"user.fields": {"profile_image_url,description,confirmed_email"}},
		},
		{
			"fields and expansions", []string{"location"}, []string{"pinned_post_id"},
			url.Values{"user.fields": {"profile_image_url,location"}, "expansions": {"pinned_post_id"}},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			service, text := &asked{}, ""
			auth := signInTo(t, providers.Twitter(providers.TwitterOptions{
				UserFields: row.fields, Expansions: row.expansions,
				Options: providers.Options{
					ClientID: "id", ClientSecret: "secret", Checks: []core.Check{}, HTTPClient: &http.Client{Transport: service},
				},
			}), func(profile core.Profile) {
				p, err := providers.ProfileAs[providers.TwitterProfile](profile)
				if err == nil && len(p.Includes.Posts) == 1 {
					text = p.Includes.Posts[0].Text
				}
			})
			r := auth.Handle(t.Context(), &core.Request{
				Method: "GET", Target: "/auth/callback/twitter?code=c", Hosts: []string{"app.example"}, Scheme: "https",
				Header: http.Header{},
			})
			if r.Err != nil || text != "hello" {
				t.Errorf("%v, the pinned post is %q", r.Err, text)
			}
			if service.userinfo.Encode() != row.want.Encode() {
				t.Errorf("asked for %v", service.userinfo)
			}
		})
	}
	for _, o := range []providers.TwitterOptions{{UserFields: []string{"url"}}, {Expansions: []string{"pinned_post_id"}}} {
		o.Version = "1.0a"
		if p := providers.Twitter(o); p.Fault == nil || !strings.Contains(p.Fault.Error(), "version 2.0") {
			t.Errorf("fields of another version: %v", p.Fault)
		}
	}
}

// signInTo returns an Auth with one provider. It passes the profile of a sign-in to look.
func signInTo(t *testing.T, p core.Provider, look func(core.Profile)) *core.Auth {
	t.Helper()
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.example",
		Getenv: func(string) string { return "" }, Providers: []core.Provider{p},
		Callbacks: core.Callbacks{SignIn: func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
			look(p.Profile)
			return core.Allow(), nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return auth
}
