package password_test

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
)

// TestResetEndsSessionsOfUnverifiedAddress: an attacker created a user with the victim's address, which nobody has
// verified, and keeps the session cookie. The victim resets the password. The cookie ends with it, in every
// configuration.
func TestResetEndsSessionsOfUnverifiedAddress(t *testing.T) {
	t.Parallel()
	for configuration, session := range map[string]core.SessionConfig{
		"database":            {Strategy: core.StrategyDatabase},
		"jwt":                 {Strategy: core.StrategyJWT},
		"jwt, revocation off": {Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.Off}},
	} {
		for source, begin := range map[string]func(w *world, b *browser){
			"provider account": func(w *world, b *browser) { w.byService(b) },
			"password": func(w *world, b *browser) {
				u := w.unverified()
				if err := w.provider.Import(w.t.Context(), u.ID, "old "+good); err != nil {
					w.t.Fatal(err)
				}
				b.post("callback/password", "email", u.Email, "password", good)
			},
			"NewSession": func(w *world, b *browser) {
				cookies, err := w.auth.NewSession(w.t.Context(), &core.Request{
					Method: "GET", Target: "/", Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1",
					Header: http.Header{},
				}, w.unverified())
				if err != nil {
					w.t.Fatal(err)
				}
				for _, c := range cookies {
					b.cookies[c.Name] = c.Value
				}
			},
		} {
			t.Run(configuration+"/"+source, func(t *testing.T) {
				t.Parallel()
				w := site(t, func(o *password.Options, c *core.Config) {
					c.Session = session
					c.Providers = []core.Provider{service()}
					o.Import = []password.Verifier{oldHash()}
				})
				attacker := w.visit()
				begin(w, attacker)
				if attacker.session() != ada {
					t.Fatal("the attacker is not signed in")
				}
				w.advance(time.Minute)
				says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", better), 200, "signin")
				w.advance(time.Minute)
				copied := w.visit()
				maps.Copy(copied.cookies, attacker.cookies)
				if who := copied.session(); who != "" {
					t.Errorf("the attacker's cookie is still the session of %s", who)
				}
				if w.signIn(ada, better) != ada || w.signIn(ada, good) != "" {
					t.Error("the new password does not sign in, or an old one does")
				}
			})
		}
	}
}

// unverified creates a user whose address nobody has verified.
func (w *world) unverified() *core.User {
	w.t.Helper()
	u, err := w.store.CreateUser(w.t.Context(), &core.User{ID: "u1", Email: ada})
	if err != nil {
		w.t.Fatal(err)
	}
	return u
}

// service is an OAuth provider that does not verify addresses. Its only user has the address of Ada.
func service() *core.OAuthProvider {
	return &core.OAuthProvider{
		ID: "service", Name: "Service", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
		Checks:        []core.Check{core.CheckPKCE},
		Authorization: core.Endpoint{URL: "https://service.example/authorize"},
		Token:         core.Endpoint{URL: "https://service.example/token"},
		Userinfo:      core.Endpoint{URL: "https://service.example/userinfo"},
		HTTPClient:    &http.Client{Transport: serviceAPI{}},
	}
}

type serviceAPI struct{}

func (serviceAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"sub":"s1","name":"Somebody","email":"` + ada + `"}`
	if r.URL.Path == "/token" {
		body = `{"access_token":"a","token_type":"bearer"}`
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// byService signs a browser in at the service, and returns the response to the callback.
func (w *world) byService(b *browser) *core.Response {
	w.t.Helper()
	if r := b.post("signin/service"); r.Err != nil {
		w.t.Fatal(r.Err)
	}
	return b.get("/auth/callback/service?code=c")
}

// oldHash is a format of imported hashes: the password after "old ".
func oldHash() password.Verifier {
	return password.Func(func(encoded string) bool { return strings.HasPrefix(encoded, "old ") },
		func(encoded string, typed []byte) (bool, error) { return encoded == "old "+string(typed), nil })
}
