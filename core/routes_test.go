package core_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// club is a plugin with one action that requires a session.
type club struct{}

func (club) Attach(h *core.PluginHost) error {
	h.AddAction(core.Action{
		Method: "POST", Name: "club", Verb: "leave", Attempt: "club-leave", Summary: "Leave the club",
		Input: leave{}, Output: left{},
		Require: []core.Guard{func(context.Context, *core.Session) error { return nil }},
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			var when int
			c.JSONMember("when", &when)
			if c.Field("reason") == "broken" {
				return c.JSON(ctx, 200, map[string]bool{"left": true}), nil
			}
			return c.JSON(ctx, 200, left{c.Field("reason") + c.Field("secret"), when}), nil
		},
	})
	return nil
}

// leave and left are the input and the output of the action.
type leave struct {
	Reason string `json:"reason"`
}

type left struct {
	Reason string `json:"reason"`
	When   int    `json:"when"`
}

// TestRoutes checks that the listed routes are exactly those that are handled, with their requirements.
func TestRoutes(t *testing.T) {
	acme := &core.OAuthProvider{
		ID: "acme", Type: core.TypeOIDC, Issuer: "https://acme.test", ClientID: "id", ClientSecret: "s3cret-s3cret",
	}
	posting := &core.OAuthProvider{
		ID: "posting", Type: core.TypeOIDC, Issuer: "https://posting.test", ClientID: "id", ClientSecret: "s3cret-s3cret",
		Authorization: core.Endpoint{Params: map[string][]string{"response_mode": {"form_post"}}},
	}
	typed := &core.CredentialsProvider{
		Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
	}
	auth, err := core.New(core.Config{
		URL: "https://app.test", BasePath: "/api/auth", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Providers: []core.Provider{acme, posting, typed}, Plugins: []core.Plugin{club{}},
		Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []core.Route
	for _, r := range auth.Routes() {
		if _, name, _ := strings.Cut(r.Path, "/page."); r.Method == "POST" || name != "" {
			got = append(got, r)
		}
	}
	want := []core.Route{
		{Method: "POST", Path: "/api/auth/backchannel-logout/acme", Provider: "acme"},
		{Method: "POST", Path: "/api/auth/backchannel-logout/posting", Provider: "posting"},
		{Method: "POST", Path: "/api/auth/callback/credentials", Provider: "credentials", CSRF: true},
		{Method: "POST", Path: "/api/auth/callback/posting", Provider: "posting"},
		{
			Method: "POST", Path: "/api/auth/club/leave", Plugin: "Plugins[0] (core_test.club)", CSRF: true, Guards: 1,
			Attempt: "club-leave", Summary: "Leave the club",
			Input: reflect.TypeFor[leave](), Output: reflect.TypeFor[left](),
		},
		{Method: "GET", Path: "/api/auth/page.script"},
		{Method: "GET", Path: "/api/auth/page.style"},
		{Method: "POST", Path: "/api/auth/session", CSRF: true},
		{Method: "POST", Path: "/api/auth/signin/acme", Provider: "acme", CSRF: true},
		{Method: "POST", Path: "/api/auth/signin/posting", Provider: "posting", CSRF: true},
		{Method: "POST", Path: "/api/auth/signout", CSRF: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	back := core.Route{Method: "GET", Path: "/api/auth/logout/acme", Provider: "acme"}
	if slices.Contains(auth.Routes(), back) {
		t.Error("the logout route is listed without a provider logout")
	}
	acme.Logout = core.True
	auth, err = core.New(core.Config{
		URL: "https://app.test", BasePath: "/api/auth", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Providers: []core.Provider{acme, posting, typed}, Getenv: func(string) string { return "" },
	})
	if err != nil || !slices.Contains(auth.Routes(), back) {
		t.Errorf("the way back from a sign-out is not listed: %v", err)
	}
	completed := auth.OAuthProviders()
	if len(completed) != 2 || completed[0] == acme || len(completed[0].Checks) == 0 || acme.Checks != nil {
		t.Errorf("%d providers, not completed or not copies", len(completed))
	}
	if len(auth.EmailProviders()) != 0 {
		t.Error("there is no e-mail provider")
	}
}

// TestActionTypes: an action reads only the fields of its Input, and responds only with its Output.
func TestActionTypes(t *testing.T) {
	t.Parallel()
	b := visit(t, newApp(t, core.Config{Providers: []core.Provider{passwords()}, Plugins: []core.Plugin{club{}}}))
	signIn(t, b)
	send := func(fields string) *core.Response {
		return b.send("POST", "/auth/club/leave", "application/json", `{"csrfToken":"`+b.csrf()+`",`+fields+`}`)
	}
	for fields, want := range map[string]string{
		`"reason":"rain"`:                               `{"reason":"rain","when":0}`,
		`"reason":"rain","secret":"x","when":7`:         `{"reason":"rain","when":0}`,
		`"secret":"x"`:                                  `{"reason":"","when":0}`,
		`"reason":"","callbackUrl":"/other","more":[1]`: `{"reason":"","when":0}`,
	} {
		if r := send(fields); r.Status != 200 || string(r.Body) != want {
			t.Errorf("%s: %d %s", fields, r.Status, r.Body)
		}
	}
	if r := send(`"reason":"broken"`); r.Status != 500 || strings.Contains(string(r.Body), "left") {
		t.Errorf("a response of another type: %d %s", r.Status, r.Body)
	}
	_, err := core.New(core.Config{
		URL: "https://app.test", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Plugins: []core.Plugin{partFunc(func(h *core.PluginHost) error {
			h.AddAction(core.Action{
				Method: "GET", Name: "toy", Input: map[string]string{},
				Handle: func(context.Context, *core.ActionRequest) (*core.Response, error) { return nil, nil },
			})
			return nil
		})},
	})
	if err == nil || !strings.Contains(err.Error(), "Input is not a struct") {
		t.Errorf("an Input that is a map: %v", err)
	}
}

// TestRoutesOfTenants: an Auth made by PerRequest lists no routes.
func TestRoutesOfTenants(t *testing.T) {
	auth := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) { return nil, nil })
	if routes := auth.Routes(); len(routes) != 0 {
		t.Errorf("Routes() = %v, want none", routes)
	}
}

// TestDescribe: an action gets the row of its method and verb, and nothing without one.
func TestDescribe(t *testing.T) {
	t.Parallel()
	table := map[string][3]any{
		"POST leave": {"Leave the club", leave{}, left{}}, "GET ": {"Get the club", struct{}{}, nil},
	}
	for _, row := range []struct{ action, want core.Action }{
		{core.Action{Method: "POST", Verb: "leave"}, core.Action{Summary: "Leave the club", Input: leave{}, Output: left{}}},
		{core.Action{Method: "GET"}, core.Action{Summary: "Get the club", Input: struct{}{}}},
		{core.Action{Method: "POST"}, core.Action{}},
	} {
		row.action.Describe(table)
		a := row.action
		if got := (core.Action{Summary: a.Summary, Input: a.Input, Output: a.Output}); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s %q: %+v", a.Method, a.Verb, got)
		}
	}
}
