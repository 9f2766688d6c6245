package core_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestAudienceKeepsAuthsApart presents what one Auth issued to another with the same secret: session tokens of both strategies, CSRF
// tokens and bearer tokens are good at their own audience alone.
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
				config := core.Config{Store: store, Session: core.SessionConfig{Strategy: strategy}, Providers: []core.Provider{plainOAuth()}}
				config.Audience = row.first
				first := newApp(t, config)
				config.Audience = row.second
				second := newApp(t, config)
				b := visit(t, first)
				cookies, err := first.NewSession(t.Context(), b.request("POST", "/register", "", ""), &core.User{ID: "1", Name: "Ada"})
				if err != nil {
					t.Fatal(err)
				}
				b.keep(cookies[0])
				if s, err := core.Begin(t.Context(), first, b.pageRequest()).Session(); s == nil || err != nil {
					t.Fatalf("its own Auth says %v, %v", s, err)
				}
				s, err := core.Begin(t.Context(), second, b.pageRequest()).Session()
				if err != nil || (s != nil) != row.shared {
					t.Errorf("the other Auth says %v, %v", s, err)
				}
				token := b.csrf()
				b.auth = second
				if got := b.csrf() == token; got != row.shared {
					t.Errorf("the CSRF token is good at the other: %v", got)
				}
				b.auth = first
				if b.csrf() != token {
					t.Error("the other Auth has overwritten a cookie")
				}
				for name, value := range b.cookies { // as if they had been renamed
					b.cookies[strings.Replace(name, "authjs.", family(row.second), 1)] = value
				}
				if s, err := core.Begin(t.Context(), second, b.pageRequest()).Session(); err != nil || (s != nil) != row.shared {
					t.Errorf("under its own name the other Auth says %v, %v", s, err)
				}
				if strategy == core.StrategyJWT {
					sealed, err := first.EncodeToken(&core.Token{Subject: "1"}, sessionCookie, time.Hour)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := second.DecodeToken(sealed, sessionCookie); (err == nil) != row.shared {
						t.Errorf("the token is good at the other: %v", err)
					}
				}
			})
		}
	}
}

// family begins the names of an audience's cookies.
func family(audience string) string {
	if audience == "" {
		return "authjs."
	}
	sum := sha256.Sum256([]byte(audience))
	return fmt.Sprintf("authjs.%x.", sum[:4])
}

// TestPerRequestWarnsOfSharedSessions hands over Auths that do and do not accept each other's sessions.
func TestPerRequestWarnsOfSharedSessions(t *testing.T) {
	t.Parallel()
	store, secret := newSessionRows(), []core.Secret{"another-secret-of-more-than-32-bytes"}
	jwt := core.SessionConfig{Strategy: core.StrategyJWT}
	for _, row := range []struct {
		name          string
		first, second core.Config
		warned        bool
	}{
		{"the same secret", core.Config{}, core.Config{}, true},
		{"other secrets", core.Config{}, core.Config{Secrets: secret}, false},
		{"other audiences", core.Config{Audience: "a"}, core.Config{Audience: "b"}, false},
		{"other cookies", core.Config{}, core.Config{Cookies: core.CookiesConfig{SessionToken: core.CookieOptions{Name: "session-b"}}}, false},
		{"one store", core.Config{Store: store}, core.Config{Store: store}, true},
		{"two stores", core.Config{Store: store}, core.Config{Store: newSessionRows()}, false},
		{"two stores and encrypted sessions", core.Config{Store: store, Session: jwt}, core.Config{Store: newSessionRows(), Session: jwt}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.first.Providers, row.second.Providers = []core.Provider{plainOAuth()}, []core.Provider{plainOAuth()}
			auths := []*app{newApp(t, row.first), newApp(t, row.second)}
			n := 0
			selector := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) { n++; return auths[n%2].Auth, nil })
			for range 6 {
				visit(t, selector).get("/auth/csrf")
			}
			got := strings.Count(auths[0].log.String()+auths[1].log.String(), string(core.WarnSharedSessions))
			if want := map[bool]int{true: 2}[row.warned]; got != want { // message and code of one line
				t.Errorf("warned %d times, want %d: %s%s", got, want, auths[0].log, auths[1].log)
			}
		})
	}
}

// TestPerRequestFaults asks every entrance while the function that chooses fails, or chooses an Auth that answers elsewhere.
func TestPerRequestFaults(t *testing.T) {
	t.Parallel()
	elsewhere := newApp(t, core.Config{BasePath: "/api/auth"})
	for name, f := range map[string]core.SelectFunc{
		"a panic":         func(context.Context, *core.Request) (*core.Auth, error) { panic("boom") },
		"nothing":         func(context.Context, *core.Request) (*core.Auth, error) { return nil, nil },
		"of another path": func(context.Context, *core.Request) (*core.Auth, error) { return elsewhere.Auth, nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := core.PerRequest("/auth", f)
			b := visit(t, s)
			request := func() *core.Request { return b.request("POST", "/x", "application/x-www-form-urlencoded", "") }
			for entrance, response := range map[string]*core.Response{
				"Serve":         core.Serve(t.Context(), s, b.request("GET", "/auth/session", "", "")),
				"SignInAction":  core.SignInAction(t.Context(), s, request()),
				"SignOutAction": core.SignOutAction(t.Context(), s, request()),
			} {
				if response.Status != http.StatusInternalServerError {
					t.Errorf("%s answered %d", entrance, response.Status)
				}
			}
			if session, refusal := core.Begin(t.Context(), s, request()).Require(); session != nil || refusal == nil || refusal.Status != 500 {
				t.Errorf("the guard says %v, %+v", session, refusal)
			}
		})
	}
}
