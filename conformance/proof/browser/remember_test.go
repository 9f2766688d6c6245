package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// restartable starts a browser with a profile on disk. quit closes it as a user does, so that the cookies are written.
func restartable(t *testing.T, profile, site string) (v *visitor, quit func()) {
	t.Helper()
	path, err := findChromium()
	if err != nil {
		t.Fatal(err)
	}
	allocator, stop := chromedp.NewExecAllocator(
		context.Background(), append(chromiumOptions(path), chromedp.UserDataDir(profile))...,
	)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() { cancel(); stop() })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return &visitor{T: t, ctx: ctx, site: site}, func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Error(err)
		}
	}
}

// TestRememberMe signs in with and without the checkbox, by the form with the checkbox and by a provider's button, and
// restarts the browser. The user is signed in afterwards only with it.
func TestRememberMe(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(posting))
	defer service.Close()
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		store := memory.New()
		owner, err := store.CreateUser(t.Context(), &core.User{ID: "lovell", Name: "Jim Lovell", Email: lovell})
		if err != nil {
			t.Fatal(err)
		}
		listener, origin := listen(t)
		auth, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: origin, Store: store,
			Session: core.SessionConfig{Strategy: strategy, RememberMe: true, UpdateAge: core.UpdateAlways},
			Getenv:  func(string) string { return "" },
			Providers: []core.Provider{
				&core.OAuthProvider{
					ID: "plain", Name: "Plain", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
					Authorization: core.Endpoint{URL: service.URL + "/authorize"},
					Token:         core.Endpoint{URL: service.URL + "/token"}, Userinfo: core.Endpoint{URL: service.URL + "/user"},
				},
				&core.CredentialsProvider{
					Fields: []core.Field{{Name: "email", Type: "email"}, {Name: "password", Type: "password"}},
					Authorize: func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
						if form["email"] != lovell || form["password"] != password {
							return nil, nil
						}
						return owner, nil
					},
				},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		mux, adapter := http.NewServeMux(), authhttp.New(auth)
		adapter.Mount(mux)
		mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
		mux.Handle("/", adapter.Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			session, _ := authhttp.Session(r)
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, "<!doctype html><title>Home</title>signed in: %t", session != nil)
		})))
		t.Cleanup(serveHTTP(listener, mux))
		for _, door := range []struct {
			name string
			in   func(v *visitor)
		}{
			{"form", func(v *visitor) {
				v.do(write(`[type=email]`, lovell), write(`[type=password]`, password))
				v.follow(click(`form[action$="/callback/credentials"] button[type=submit]`))
			}},
			{"provider", func(v *visitor) { v.follow(click(`form[action$="/signin/plain"] button`)) }},
		} {
			for _, selected := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/%t", strategy, door.name, selected), func(t *testing.T) {
					profile := t.TempDir()
					v, quit := restartable(t, profile, origin)
					v.open("/auth/signin")
					if selected {
						v.do(click("[data-remember]"))
					}
					door.in(v)
					v.sees("signed in: true")
					v.open("/") // the session is renewed
					v.sees("signed in: true")
					quit()
					v, _ = restartable(t, profile, origin)
					v.open("/")
					v.sees(fmt.Sprintf("signed in: %t", selected))
				})
			}
		}
	}
}
