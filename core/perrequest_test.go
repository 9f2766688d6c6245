package core_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestAudienceKeepsAuthsApart sends session tokens of both strategies, CSRF tokens and bearer tokens to another Auth
// with the same secret. They are valid for their own audience only.
func TestAudienceKeepsAuthsApart(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, row := range []struct {
			name, first, second string
			shared              bool
		}{
			{"none and none", "", "", true},
			{"the same", "shop", "shop", true},
			{"none and one", "", "shop", false},
			{"one and none", "shop", "", false},
			{"two", "shop", "office", false},
		} {
			t.Run(string(strategy)+" "+row.name, func(t *testing.T) {
				store := newSessionRows()
				config := core.Config{
					Store: store, Session: core.SessionConfig{Strategy: strategy}, Providers: []core.Provider{plainOAuth()},
				}
				config.Audience = row.first
				first := newApp(t, config)
				config.Audience = row.second
				second := newApp(t, config)
				b := visit(t, first)
				ada := &core.User{ID: "1", Name: "Ada"}
				cookies, err := first.NewSession(t.Context(), b.request("POST", "/register", "", ""), ada)
				if err != nil {
					t.Fatal(err)
				}
				b.keep(cookies[0])
				if s, err := first.Visit(t.Context(), b.pageRequest()).Session(); s == nil || err != nil {
					t.Fatalf("its own Auth has the session %v, %v", s, err)
				}
				s, err := second.Visit(t.Context(), b.pageRequest()).Session()
				if err != nil || (s != nil) != row.shared {
					t.Errorf("the other Auth has the session %v, %v", s, err)
				}
				token := b.csrf()
				b.auth = second
				if got := b.csrf() == token; got != row.shared {
					t.Errorf("the other Auth accepts the CSRF token: %v", got)
				}
				b.auth = first
				if b.csrf() != token {
					t.Error("the other Auth has overwritten a cookie")
				}
				for name, value := range b.cookies { // under the cookie names of the other Auth
					b.cookies[strings.Replace(name, "authjs.", family(row.second), 1)] = value
				}
				if s, err := second.Visit(t.Context(), b.pageRequest()).Session(); err != nil || (s != nil) != row.shared {
					t.Errorf("under its own cookie name the other Auth has the session %v, %v", s, err)
				}
				if strategy == core.StrategyJWT {
					sealed, err := first.EncodeToken(&core.Token{Subject: "1"}, sessionCookie, time.Hour)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := second.DecodeToken(sealed, sessionCookie); (err == nil) != row.shared {
						t.Errorf("the other Auth accepts the token: %v", err)
					}
				}
			})
		}
	}
}

// family returns the prefix of the cookie names of an audience.
func family(audience string) string {
	if audience == "" {
		return "authjs."
	}
	sum := sha256.Sum256([]byte(audience))
	return fmt.Sprintf("authjs.%x.", sum[:4])
}

// TestPerRequestWarnsOfSharedSessions returns Auths that accept each other's sessions, and Auths that do not.
func TestPerRequestWarnsOfSharedSessions(t *testing.T) {
	t.Parallel()
	store, secret := newSessionRows(), []core.Secret{"another-secret-of-more-than-32-bytes"}
	jwt := core.SessionConfig{Strategy: core.StrategyJWT}
	renamed := core.CookiesConfig{SessionToken: core.CookieOptions{Name: "session-b"}}
	for _, row := range []struct {
		name          string
		first, second core.Config
		warned        bool
	}{
		{"the same secret", core.Config{}, core.Config{}, true},
		{"other secrets", core.Config{}, core.Config{Secrets: secret}, false},
		{"other audiences", core.Config{Audience: "a"}, core.Config{Audience: "b"}, false},
		{"other cookies", core.Config{}, core.Config{Cookies: renamed}, false},
		{"one store", core.Config{Store: store}, core.Config{Store: store}, true},
		{"two stores", core.Config{Store: store}, core.Config{Store: newSessionRows()}, false},
		{"two stores and encrypted sessions", core.Config{Store: store, Session: jwt},
			core.Config{Store: newSessionRows(), Session: jwt}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.first.Providers, row.second.Providers = []core.Provider{plainOAuth()}, []core.Provider{plainOAuth()}
			auths := []*app{newApp(t, row.first), newApp(t, row.second)}
			n := 0
			tenants := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) {
				n++
				return auths[n%2].Auth, nil
			})
			for range 6 {
				visit(t, tenants).get("/auth/csrf")
			}
			got := strings.Count(auths[0].log.String()+auths[1].log.String(), "shared-sessions")
			if want := map[bool]int{true: 2}[row.warned]; got != want { // message and code in one line
				t.Errorf("warned %d times, want %d: %s%s", got, want, auths[0].log, auths[1].log)
			}
		})
	}
}

// lockedStore is a store that cannot be compared with ==.
type lockedStore struct {
	core.Store
	store.SessionStore
	parts any
}

// TestPerRequestOfStoresThatCannotBeCompared returns Auths whose stores panic when they are compared.
func TestPerRequestOfStoresThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	rows := newSessionRows()
	config := core.Config{
		Providers: []core.Provider{plainOAuth()},
		Store:     lockedStore{Store: rows, SessionStore: rows, parts: []string{"a"}},
	}
	auths := []*app{newApp(t, config), newApp(t, config)}
	n := 0
	tenants := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) {
		n++
		return auths[n%2].Auth, nil
	})
	for range 4 {
		if r := visit(t, tenants).get("/auth/csrf"); r.Status != http.StatusOK {
			t.Errorf("status %d: %v", r.Status, r.Err)
		}
	}
}

// TestPerRequestFaults calls every entry while choose fails, or returns an Auth with another base path.
func TestPerRequestFaults(t *testing.T) {
	t.Parallel()
	fit, elsewhere := newApp(t, core.Config{}), newApp(t, core.Config{BasePath: "/api/auth"})
	unknown := errors.New("no such tenant")
	always := func(a *core.Auth, err error) func(context.Context, *core.Request) (*core.Auth, error) {
		return func(context.Context, *core.Request) (*core.Auth, error) { return a, err }
	}
	for name, choose := range map[string]func(context.Context, *core.Request) (*core.Auth, error){
		"a panic":                      func(context.Context, *core.Request) (*core.Auth, error) { panic("boom") },
		"an error":                     always(nil, unknown),
		"an error and an Auth":         always(fit.Auth, unknown),
		"nothing":                      always(nil, nil),
		"of another path":              always(elsewhere.Auth, nil),
		"one that New has not made":    always(&core.Auth{}, nil),
		"one that would choose itself": always(core.PerRequest("/auth", always(fit.Auth, nil)), nil),
		"no function":                  nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := core.PerRequest("/auth", choose)
			b := visit(t, a)
			request := func() *core.Request { return b.request("POST", "/x", "application/x-www-form-urlencoded", "") }
			for entry, response := range map[string]*core.Response{
				"Handle":  a.Handle(t.Context(), b.request("GET", "/auth/session", "", "")),
				"SignIn":  a.SignIn(t.Context(), request()),
				"SignOut": a.SignOut(t.Context(), request()),
			} {
				if response.Status != http.StatusInternalServerError {
					t.Errorf("%s: status %d", entry, response.Status)
				}
			}
			session, refusal := a.Visit(t.Context(), request()).Require()
			if session != nil || refusal == nil || refusal.Status != http.StatusInternalServerError {
				t.Errorf("the guard returns %v, %+v", session, refusal)
			}
			if token, err := a.Token(t.Context(), request()); token != nil || err == nil {
				t.Errorf("Token returns %v, %v", token, err)
			}
			if raw, err := a.RawToken(t.Context(), request()); raw != "" || err == nil {
				t.Errorf("RawToken returns %q, %v", raw, err)
			}
			if cookies, err := a.NewSession(t.Context(), request(), &core.User{ID: "1"}); cookies != nil || err == nil {
				t.Errorf("NewSession returns %v, %v", cookies, err)
			}
		})
	}
}

// TestPerRequestEntries calls every entry for two tenants, which are selected by host.
func TestPerRequestEntries(t *testing.T) {
	t.Parallel()
	tenants := map[string]*app{}
	for _, name := range []string{"one.test", "two.test"} {
		config := core.Config{URL: "https://" + name, Audience: name, Providers: []core.Provider{passwords()}}
		tenants[name] = newApp(t, config)
	}
	a := core.PerRequest("/auth", func(_ context.Context, r *core.Request) (*core.Auth, error) {
		return tenants[r.Hosts[0]].Auth, nil
	})
	if a.BasePath() != "/auth" || a.MountPath("") != "/auth" {
		t.Errorf("mounted at %q", a.BasePath())
	}
	one, two := visit(t, a), visit(t, a)
	one.origin, two.origin = "https://one.test", "https://two.test"
	cookies, err := a.NewSession(t.Context(), one.request("POST", "/register", "", ""), &core.User{ID: "1", Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	one.keep(cookies[0])
	two.keep(cookies[0])
	for _, row := range []struct {
		b  *browser
		in bool
	}{{one, true}, {two, false}} {
		if s, err := a.Visit(t.Context(), row.b.pageRequest()).Session(); err != nil || (s != nil) != row.in {
			t.Errorf("%s: the session is %v, %v", row.b.origin, s, err)
		}
		if token, err := a.Token(t.Context(), row.b.pageRequest()); err != nil || (token != nil) != row.in {
			t.Errorf("%s: the token is %v, %v", row.b.origin, token, err)
		}
		if raw, err := a.RawToken(t.Context(), row.b.pageRequest()); err != nil || (raw != "") != row.in {
			t.Errorf("%s: the raw token is %q, %v", row.b.origin, raw, err)
		}
		if r := row.b.get("/auth/session"); (string(r.Body) != "null") != row.in {
			t.Errorf("%s: GET session returns %s", row.b.origin, r.Body)
		}
		form := "csrfToken=" + row.b.csrf() + "&redirectTo=/bye"
		r := a.SignOut(t.Context(), row.b.request("POST", "/out", "application/x-www-form-urlencoded", form))
		if r.Redirect != row.b.origin+"/bye" {
			t.Errorf("%s: signed out to %q", row.b.origin, r.Redirect)
		}
		form = "csrfToken=" + row.b.csrf()
		r = a.SignIn(t.Context(), row.b.request("POST", "/in", "application/x-www-form-urlencoded", form))
		if !strings.HasPrefix(r.Redirect, row.b.origin+"/auth/signin") {
			t.Errorf("%s: the sign-in redirects to %q", row.b.origin, r.Redirect)
		}
	}
}

// TestPerRequestHasNoConfiguration calls the methods without a request.
func TestPerRequestHasNoConfiguration(t *testing.T) {
	t.Parallel()
	a := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) { return nil, nil })
	_, sealed := a.EncodeToken(&core.Token{Subject: "1"}, sessionCookie, time.Hour)
	_, opened := a.DecodeToken("x", sessionCookie)
	_, refreshed := a.Refresh(t.Context(), &core.Account{Provider: "plain"})
	for method, err := range map[string]error{"EncodeToken": sealed, "DecodeToken": opened, "Refresh": refreshed} {
		if !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), method) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestSharedSessionsAreLogged: two Auths of one application with the same secret accept each other's sessions.
func TestSharedSessionsAreLogged(t *testing.T) {
	t.Parallel()
	store := newSessionRows()
	site := func(change func(*core.Config)) core.Config {
		c := core.Config{
			URL: "https://a.test", Secrets: []core.Secret{"a-secret-of-this-test-alone-1234567890"},
			Providers: []core.Provider{plainOAuth()}, Getenv: func(string) string { return "" },
		}
		if change != nil {
			change(&c)
		}
		return c
	}
	for _, row := range []struct {
		name          string
		first, second core.Config
		ownLoggers    bool
		logged        bool
	}{
		{"another URL", site(nil), site(func(c *core.Config) { c.URL = "https://b.test" }), false, true},
		{"another base path", site(nil), site(func(c *core.Config) { c.BasePath = "/staff/auth" }), false, true},
		{"other hosts", site(func(c *core.Config) { c.URL, c.TrustedHosts = "", []string{"a.test"} }),
			site(func(c *core.Config) { c.URL, c.TrustedHosts = "", []string{"b.test"} }), false, true},
		{"another URL, one store", site(func(c *core.Config) { c.Store = store }),
			site(func(c *core.Config) { c.Store, c.URL = store, "https://b.test" }), false, true},

		{"the same site again", site(nil), site(nil), false, false},
		{"the same site with another provider", site(nil), site(func(c *core.Config) {
			c.Providers = []core.Provider{passwords()}
		}), false, false},
		{"another secret", site(nil), site(func(c *core.Config) {
			c.URL, c.Secrets = "https://b.test", []core.Secret{"another-secret-of-this-test-1234567890"}
		}), false, false},
		{"another audience", site(func(c *core.Config) { c.Audience = "a" }), site(func(c *core.Config) {
			c.URL, c.Audience = "https://b.test", "b"
		}), false, false},
		{"another store", site(func(c *core.Config) { c.Store = newSessionRows() }), site(func(c *core.Config) {
			c.URL, c.Store = "https://b.test", newSessionRows()
		}), false, false},
		{"two applications", site(nil), site(func(c *core.Config) { c.URL = "https://b.test" }), true, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var log bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&log, nil))
			row.first.Logger, row.second.Logger = logger, logger
			if row.ownLoggers {
				row.second.Logger = slog.New(slog.NewTextHandler(&log, nil))
			}
			first, err := core.New(row.first)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := core.New(row.second); err != nil {
				t.Fatal(err)
			}
			want := map[bool]int{true: 1}[row.logged]
			if n := strings.Count(log.String(), "code=shared-sessions"); n != want {
				t.Errorf("logged %d times, want %d: %s", n, want, &log)
			}
			runtime.KeepAlive(first)
		})
	}
}
