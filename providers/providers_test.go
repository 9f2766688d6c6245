package providers_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// answers is a transport that answers by path.
type answers map[string]string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body, ok := a[r.URL.Path]
	status := http.StatusOK
	if !ok || r.Header.Get("Authorization") != "Bearer at-1" {
		status = http.StatusForbidden
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: r}, nil
}

func TestGitHub(t *testing.T) {
	for _, row := range []struct {
		name    string
		answers answers
		want    core.User
		fails   bool
	}{
		{"public address", answers{"/user": `{"id":9007199254740993,"login":"ada","name":"Ada","email":"ada@example.com","avatar_url":"https://img.example/a"}`},
			core.User{ID: "9007199254740993", Name: "Ada", Email: "ada@example.com", Image: "https://img.example/a"}, false},
		{"no name: the login", answers{"/user": `{"id":1,"login":"ada","name":null,"email":"ada@example.com"}`},
			core.User{ID: "1", Name: "ada", Email: "ada@example.com"}, false},
		{"primary verified address", answers{"/user": `{"id":1,"login":"ada"}`, "/user/emails": `[{"email":"old@example.com","primary":false,"verified":true},{"email":"ada@example.com","primary":true,"verified":true}]`},
			core.User{ID: "1", Name: "ada", Email: "ada@example.com"}, false},
		{"primary address that is not verified", answers{"/user": `{"id":1,"login":"ada"}`, "/user/emails": `[{"email":"ada@example.com","primary":true,"verified":false}]`},
			core.User{ID: "1", Name: "ada"}, false},
		{"no list of addresses", answers{"/user": `{"id":1,"login":"ada"}`}, core.User{ID: "1", Name: "ada"}, false},
		{"refused", answers{}, core.User{}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := providers.GitHub()
			tokens := &core.TokenSet{AccessToken: "at-1"}
			profile, err := p.FetchUserinfo(t.Context(), &http.Client{Transport: row.answers}, tokens)
			if err != nil || row.fails {
				if (err != nil) != row.fails {
					t.Errorf("error %v", err)
				}
				return
			}
			got, err := p.Profile(t.Context(), profile, tokens)
			if err != nil {
				t.Fatal(err)
			}
			if got.ID != row.want.ID || got.Name != row.want.Name || got.Email != row.want.Email || got.Image != row.want.Image {
				t.Errorf("got %s, %s, %s, %s", got.ID, got.Name, got.Email, got.Image)
			}
		})
	}
}

// TestEveryProviderStarts proves that two environment variables are all that a provider needs.
func TestEveryProviderStarts(t *testing.T) {
	env := map[string]string{
		"AUTH_SECRET": "a-secret-of-more-than-thirty-two-bytes", "AUTH_URL": "https://app.example",
		"AUTH_GITHUB_ID": "id", "AUTH_GITHUB_SECRET": "s", "AUTH_GOOGLE_ID": "id", "AUTH_GOOGLE_SECRET": "s", "AUTH_MY_OP_ID": "id", "AUTH_MY_OP_SECRET": "s",
	}
	_, err := core.New(core.Config{
		Providers: []core.Provider{providers.GitHub(), providers.Google(), providers.OIDC("my-op", "https://op.example")},
		Getenv:    func(name string) string { return env[name] },
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	p := providers.Google(providers.Options{ID: "work", Name: "Work", ClientID: "id", Scope: "openid", AuthorizationParams: map[string][]string{"hd": {"example.com"}}})
	if p.ID != "work" || p.Name != "Work" || p.ClientID != "id" || p.Scope != "openid" || p.Authorization.Params.Get("hd") != "example.com" || p.Issuer != "https://accounts.google.com" {
		t.Errorf("got %+v", p.ID)
	}
}
