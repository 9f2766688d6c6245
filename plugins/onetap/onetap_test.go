package onetap_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/onetap"
)

// TestSignIn signs users in with the prompt. The second sign-in of a person is that of the same user, also in another
// process. The stored tokens of the account do not change.
func TestSignIn(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		if r := b.tap("ada"); r.Status != http.StatusSeeOther || r.Redirect != "https://app.test/cart" || b.name() != "ADA" {
			s.Fatalf("%d %s %s %v, signed in as %q", r.Status, r.Redirect, r.Body, r.Err, b.name())
		}
		id := b.session().UserID
		account, err := s.store.Account(s.Context(), "google", "ada")
		if err != nil || account.UserID != id {
			s.Fatalf("the account is %+v, %v", account, err)
		}
		account.AccessToken = "in use"
		if err := s.store.UpdateAccount(s.Context(), account); err != nil {
			s.Fatal(err)
		}
		again := s.process().browser()
		nonce := again.nonce()
		if again.at(s).credential(sign(s.T, claims(nonce, "ada"))); again.session().UserID != id {
			s.Errorf("the second sign-in is that of %+v", again.session())
		}
		if account, err = s.store.Account(s.Context(), "google", "ada"); err != nil || account.AccessToken != "in use" {
			s.Errorf("the tokens of the account are %+v, %v", account, err)
		}
		if s.audited("signin ok") != 2 || s.audited("user.created ok") != 1 {
			s.Errorf("events: %q", *s.log)
		}
		r := s.browser()
		answer := r.credential(sign(s.T, claims(r.nonce(), "grace")), "Accept", "application/json")
		if answer.Status != http.StatusOK || string(answer.Body) != `{"url":"https://app.test/cart"}` {
			s.Errorf("JSON: %d %s", answer.Status, answer.Body)
		}
	})
}

// TestRefusals sends a credential with one difference each. No user is signed in or created.
func TestRefusals(t *testing.T) {
	for name, send := range map[string]func(s *site, b *browser) *core.Response{
		"another audience": func(s *site, b *browser) *core.Response {
			c := claims(b.nonce(), "ada")
			c["aud"], c["azp"] = "other.apps.example", "other.apps.example"
			return b.credential(sign(s.T, c))
		},
		"requested by another client": func(s *site, b *browser) *core.Response {
			c := claims(b.nonce(), "ada")
			c["azp"] = "other.apps.example"
			return b.credential(sign(s.T, c))
		},
		"another issuer": func(s *site, b *browser) *core.Response {
			c := claims(b.nonce(), "ada")
			c["iss"] = "https://other.example"
			return b.credential(sign(s.T, c))
		},
		"expired": func(s *site, b *browser) *core.Response {
			c := claims(b.nonce(), "ada")
			c["exp"] = time.Now().Unix() - 60
			return b.credential(sign(s.T, c))
		},
		"the nonce of another browser": func(s *site, b *browser) *core.Response {
			b.nonce()
			return b.credential(sign(s.T, claims(s.browser().nonce(), "ada")))
		},
		"no nonce in the token": func(s *site, b *browser) *core.Response {
			c := claims(b.nonce(), "ada")
			delete(c, "nonce")
			return b.credential(sign(s.T, c))
		},
		"a browser without a nonce": func(s *site, b *browser) *core.Response {
			return b.credential(sign(s.T, claims(s.browser().nonce(), "ada")))
		},
		"a browser without a nonce, and none in the token": func(s *site, b *browser) *core.Response {
			return b.credential(sign(s.T, claims("", "ada")))
		},
		"an expired nonce": func(s *site, b *browser) *core.Response {
			nonce := b.nonce()
			time.Sleep(time.Hour + time.Second)
			return b.credential(sign(s.T, claims(nonce, "ada")))
		},
		"alg none": func(s *site, b *browser) *core.Response {
			signed := sign(s.T, claims(b.nonce(), "ada"))
			_, rest, _ := strings.Cut(signed, ".")
			payload, _, _ := strings.Cut(rest, ".")
			return b.credential(base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + payload + ".")
		},
		"a wrong signature": func(s *site, b *browser) *core.Response {
			signed := sign(s.T, claims(b.nonce(), "ada"))
			return b.credential(signed[:len(signed)-8] + "AAAAAAAA")
		},
		"no token": func(_ *site, b *browser) *core.Response { b.nonce(); return b.credential("") },
		"a post from another site": func(s *site, b *browser) *core.Response {
			form := url.Values{"credential": {sign(s.T, claims(b.nonce(), "ada"))}}
			return b.postForm("/auth/onetap", form, "Origin", "https://evil.example")
		},
		"login CSRF with the double submit cookie of Google's redirect mode": func(s *site, b *browser) *core.Response {
			b.cookies["g_csrf_token"] = "x"
			form := url.Values{"credential": {sign(s.T, claims(b.nonce(), "ada"))}, "g_csrf_token": {"x"}}
			return b.postForm("/auth/onetap", form)
		},
		"a GET request": func(s *site, b *browser) *core.Response {
			return b.get("/auth/onetap?credential=" + sign(s.T, claims(b.nonce(), "ada")))
		},
		"a bearer token": func(s *site, b *browser) *core.Response {
			signed := sign(s.T, claims(b.nonce(), "ada"))
			return b.postForm("/auth/onetap", url.Values{"credential": {signed}}, "Authorization", "Bearer x")
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(s *site) {
				b := s.browser()
				r := send(s, b)
				if strings.HasPrefix(name, "a browser without") && !strings.HasPrefix(r.Redirect, "https://app.test/auth/signin?") {
					s.Errorf("%d %s: no new prompt", r.Status, r.Redirect)
				}
				if b.session() != nil || strings.Contains(r.Redirect, "/cart") && !strings.Contains(r.Redirect, "/signin") {
					s.Errorf("status %d, redirected to %s, signed in as %q", r.Status, r.Redirect, b.name())
				}
				if _, err := s.store.UserByEmail(s.Context(), "ada@example.com"); !errors.Is(err, core.ErrNotFound) {
					s.Errorf("a user was created: %v", err)
				}
			})
		})
	}
}

// TestNonceIsUsedOnce replays a credential in a browser with the same cookies, also in another process and 50 times at
// once.
func TestNonceIsUsedOnce(t *testing.T) {
	for name, kept := range map[string]bool{"with records": true, "without a store": false} {
		t.Run(name, func(t *testing.T) {
			both(t, func(s *site) {
				if !kept {
					if s.strategy == core.StrategyDatabase {
						return
					}
					s.store = nil
					s = s.process()
				}
				b, other := s.browser(), s
				if kept {
					other = s.process()
				}
				signed := sign(s.T, claims(b.nonce(), "ada"))
				copied := b.copied()
				var all sync.WaitGroup
				signedIn := make([]bool, 50)
				for i := range signedIn {
					at := s
					if i%2 == 1 {
						at = other
					}
					tab := b.copied().at(at)
					tab.cookies = copied.copied().cookies
					all.Go(func() {
						tab.credential(signed)
						signedIn[i] = tab.session() != nil
					})
				}
				all.Wait()
				n := 0
				for _, yes := range signedIn {
					if yes {
						n++
					}
				}
				if n != 1 {
					s.Errorf("%d browsers are signed in", n)
				}
				r := copied.credential(signed)
				if copied.session() != nil || r.Redirect != "https://app.test/auth/signin?callbackUrl=https%3A%2F%2Fapp.test%2Fcart" {
					s.Errorf("the replay: %d %s, signed in as %q", r.Status, r.Redirect, copied.name())
				}
				if r := copied.credential(signed, "Accept", "application/json"); r.Status != http.StatusBadRequest ||
					!strings.Contains(string(r.Body), `"nonce_invalid"`) {
					s.Errorf("the replay: %d %s", r.Status, r.Body)
				}
				if s.audited("signin refused replayed") == 0 {
					s.Errorf("events: %q", *s.log)
				}
			})
		})
	}
}

// TestTabs: the tabs of a browser share the nonce until it is half an hour old.
func TestTabs(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		first := b.nonce()
		time.Sleep(29 * time.Minute)
		if first == "" || b.nonce() != first {
			s.Error("the second tab got another nonce")
		}
		time.Sleep(2 * time.Minute)
		second := b.nonce()
		if second == "" || second == first {
			s.Error("the nonce was not replaced")
		}
		if b.credential(sign(s.T, claims(second, "ada"))); b.name() != "ADA" {
			s.Errorf("signed in as %q", b.name())
		}
		if got := b.nonce(); got != "" {
			s.Error("a signed-in user got a nonce")
		}
	})
}

// TestOutages: without the keys of the provider, or without the store, no user is signed in.
func TestOutages(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		s.service.down = true
		signed := sign(s.T, claims(b.nonce(), "ada"))
		if r := b.credential(signed); r.Status != http.StatusServiceUnavailable || b.session() != nil {
			s.Errorf("without keys: %d %s", r.Status, r.Body)
		}
	})
	broken := errors.New("the store is down")
	both(t, func(s *site) {
		b := s.browser()
		r := b.tap("ada")
		if _, err := s.store.UserByEmail(s.Context(), "ada@example.com"); b.session() != nil || r.Err == nil ||
			!errors.Is(err, core.ErrNotFound) {
			s.Errorf("without the store: %d %v, %v", r.Status, r.Err, err)
		}
	}, func(c *core.Config, _ *onetap.Options) { c.Store = brokenRecords{c.Store.(recordStore), broken} })
}

type recordStore interface {
	core.Store
	store.RecordStore
	store.AccountStore
	store.SessionStore
	store.Transactor
}

// brokenRecords cannot create records.
type brokenRecords struct {
	recordStore
	err error
}

func (s brokenRecords) CreateRecord(context.Context, *store.Record) error { return s.err }

// TestLinking: the account is linked by the same rules as after a redirect.
func TestLinking(t *testing.T) {
	prepare := func(s *site) {
		_, err := s.store.CreateUser(s.Context(), &core.User{ID: "a", Name: "Ann", Email: "ada@example.com"})
		if err != nil {
			s.Fatal(err)
		}
	}
	both(t, func(s *site) {
		prepare(s)
		b := s.browser()
		if r := b.tap("ada"); b.session() != nil || !strings.Contains(r.Redirect, "/auth/signin?") ||
			!strings.Contains(r.Redirect, "error=OAuthAccountNotLinked") {
			s.Errorf("%d %s %v, signed in as %q", r.Status, r.Redirect, r.Err, b.name())
		}
		if s.audited("account.refused refused not_linked") == 0 && s.audited("signin ok") != 0 {
			s.Errorf("events: %q", *s.log)
		}
	})
	both(t, func(s *site) {
		prepare(s)
		b := s.browser()
		if b.tap("ada"); b.session() == nil || b.session().UserID != "a" {
			s.Errorf("signed in as %q", b.name())
		}
	}, func(c *core.Config, _ *onetap.Options) {
		c.Providers[0].(*core.OAuthProvider).AllowDangerousEmailAccountLinking = true
	})
}

// TestAnotherUser: while another user is signed in, the browser asks whether to continue, and nothing is linked.
func TestAnotherUser(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		signed := sign(s.T, claims(b.nonce(), "eve"))
		attacker := b.copied() // the nonce, without a session
		if b.tap("ada"); b.name() != "ADA" {
			s.Fatalf("signed in as %q", b.name())
		}
		for name, value := range attacker.cookies {
			if strings.Contains(name, "onetap") {
				b.cookies[name] = value
			}
		}
		r := b.credential(signed)
		if b.name() != "ADA" || r.Redirect != "" && !strings.Contains(r.Redirect, "/signin") {
			s.Errorf("%d %s, signed in as %q", r.Status, r.Redirect, b.name())
		}
		if _, err := s.store.UserByAccount(s.Context(), "google", "eve"); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("the account was linked: %v", err)
		}
	})
	both(t, func(s *site) {
		b := s.browser()
		nonce := b.nonce()
		kept := b.copied()
		other := s.browser()
		if other.tap("ada"); other.name() != "ADA" {
			s.Fatal("not signed in")
		}
		for name, value := range other.cookies {
			if strings.Contains(name, "session") {
				kept.cookies[name] = value
			}
		}
		r := kept.credential(sign(s.T, claims(nonce, "eve")))
		if r.Status != http.StatusOK || !strings.Contains(string(r.Body), "/auth/signin/google") || kept.name() != "ADA" {
			s.Errorf("%d %s, signed in as %q", r.Status, r.Body, kept.name())
		}
		if _, err := s.store.UserByAccount(s.Context(), "google", "eve"); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("the account was linked: %v", err)
		}
	})
}

// TestGuests: a guest who had the prompt is upgraded. A guest's session that was planted after the prompt is not.
func TestGuests(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		b.post("/auth/guest", url.Values{})
		id := b.session().UserID
		if b.tap("ada"); b.session() == nil || b.session().UserID != id || b.name() != "ADA" {
			s.Errorf("the user is %+v, was %s", b.session(), id)
		}
		attacker, victim := s.browser(), s.browser()
		attacker.post("/auth/guest", url.Values{})
		planted := attacker.session().UserID
		nonce := victim.nonce()
		for name, value := range attacker.cookies {
			if strings.Contains(name, "session") {
				victim.cookies[name] = value
			}
		}
		if victim.credential(sign(s.T, claims(nonce, "grace"))); victim.session() == nil ||
			victim.session().UserID == planted || victim.name() != "GRACE" {
			s.Errorf("the user is %+v, the planted guest %s", victim.session(), planted)
		}
	}, withGuests)
}

// holds is a plugin with a gate that holds each sign-in.
type holds struct{}

func (holds) Attach(h *core.PluginHost) error {
	h.TrackAuthentication()
	page := func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		if c.Request.Method == http.MethodGet {
			return c.JSON(ctx, http.StatusOK, nil), nil
		}
		p, err := c.PendingSignIn(ctx)
		if err != nil || p == nil {
			return nil, err
		}
		return c.CompleteSignIn(ctx, p, amr.OTP)
	}
	h.AddAction(core.Action{Method: "GET", Name: "more", Handle: page})
	h.AddAction(core.Action{Method: "POST", Name: "more", Handle: page})
	h.AddSignInGate(func(_ context.Context, p *core.PendingSignIn) (string, error) {
		if p.Linking || p.Account.Provider != "google" {
			return "", nil
		}
		return "more", nil
	})
	return nil
}

// TestGates: a sign-in gate holds the sign-in, and the browser completes it. Callbacks.SignIn can deny it.
func TestGates(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		if r := b.tap("ada"); r.Redirect != "https://app.test/auth/more" || b.session() != nil {
			s.Fatalf("%d %s, signed in as %q", r.Status, r.Redirect, b.name())
		}
		if r := b.post("/auth/more", url.Values{}); r.Redirect != "https://app.test/cart" || b.name() != "ADA" {
			s.Errorf("%d %s %v, signed in as %q", r.Status, r.Redirect, r.Err, b.name())
		}
		if core.RecentSignIn(time.Minute)(s.Context(), b.session()) != nil {
			s.Error("the second factor is no recent sign-in")
		}
	}, func(c *core.Config, _ *onetap.Options) { c.Plugins = append(c.Plugins, holds{}) })
	both(t, func(s *site) {
		b := s.browser()
		if r := b.tap("ada"); b.session() != nil || !strings.Contains(r.Redirect, "AccessDenied") {
			s.Errorf("%d %s, signed in as %q", r.Status, r.Redirect, b.name())
		}
	}, func(c *core.Config, _ *onetap.Options) {
		c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) { return core.Deny(), nil }
	})
}

// TestInvalidTokensAreLimited: invalid tokens are limited per network.
func TestInvalidTokensAreLimited(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		b.nonce()
		status := 0
		for range 100 {
			if status = b.credential("x").Status; status == http.StatusTooManyRequests {
				break
			}
		}
		if status != http.StatusTooManyRequests {
			s.Errorf("status %d after 100 invalid tokens", status)
		}
	})
}

// TestPage: the sign-in page has the prompt if no user is signed in, and its headers permit what the prompt needs.
func TestPage(t *testing.T) {
	const google = "https://accounts.google.com/gsi/"
	both(t, func(s *site) {
		b := s.browser()
		for range 2 { // the second page comes from the cache
			r := b.get("/auth/signin")
			body, policy := string(r.Body), r.Header.Get("Content-Security-Policy")
			if !strings.Contains(body, `action="https://app.test/auth/onetap"`) && !strings.Contains(body, `action="/auth/onetap"`) ||
				!strings.Contains(body, `data-client="`+clientID+`" data-library="`+google+`client"`) {
				s.Errorf("the page has no prompt: %s", body)
			}
			for _, part := range []string{
				"connect-src " + google + " 'self'", "frame-src " + google, "style-src " + google + "style 'nonce-",
				"script-src 'nonce-",
			} {
				if !strings.Contains(policy, part) {
					s.Errorf("the policy is %q, without %q", policy, part)
				}
			}
			if r.Header.Get("Cross-Origin-Opener-Policy") != "same-origin-allow-popups" ||
				r.Header.Get("Referrer-Policy") != "strict-origin-when-cross-origin" {
				s.Errorf("the header is %v", r.Header)
			}
		}
		if r := b.get("/auth/signout"); strings.Contains(r.Header.Get("Content-Security-Policy"), google) ||
			r.Header.Get("Cross-Origin-Opener-Policy") != "same-origin" || r.Header.Get("Referrer-Policy") != "same-origin" {
			s.Errorf("another page: %v", r.Header)
		}
		if r := b.get("/auth/onetap.script"); r.Status != http.StatusOK || !strings.Contains(string(r.Body), "initialize") {
			s.Errorf("the script: %d %s", r.Status, r.Body)
		}
		b.tap("ada")
		for _, path := range []string{"/auth/signin", "/auth/signin?prompt=login"} {
			if r := b.get(path); strings.Contains(string(r.Body), "data-client") ||
				strings.Contains(r.Header.Get("Content-Security-Policy"), google) {
				s.Errorf("%s shows the prompt to a signed-in user", path)
			}
		}
	})
	both(t, func(s *site) {
		r := s.browser().get("/auth/signin")
		policy := r.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "connect-src https://idp.example:8443 'self'") || strings.Contains(policy, "google") ||
			r.Header.Get("Cross-Origin-Opener-Policy") != "same-origin" ||
			!strings.Contains(string(r.Body), `data-fedcm="https://idp.example:8443/fedcm.json"`) {
			s.Errorf("%v %s", r.Header, r.Body)
		}
	}, func(_ *core.Config, o *onetap.Options) { o.ConfigURL = "https://idp.example:8443/fedcm.json" })
}

// TestOptions: wrong options are configuration errors.
func TestOptions(t *testing.T) {
	for name, row := range map[string]struct {
		options onetap.Options
		twice   bool
		want    string
	}{
		"no provider":       {onetap.Options{Provider: "apple"}, false, `there is no provider "apple"`},
		"plain http":        {onetap.Options{ConfigURL: "http://idp.example/fedcm.json"}, false, "ConfigURL is not an https URL"},
		"no URL":            {onetap.Options{Library: "gsi"}, false, "Library is not an https URL"},
		"two prompts":       {onetap.Options{}, true, "already a prompt"},
		"OAuth without IDs": {onetap.Options{Provider: "plain"}, false, "has no ID tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			plugins := []core.Plugin{onetap.New(row.options)}
			if row.twice {
				plugins = append(plugins, onetap.New(row.options))
			}
			_, err := core.New(core.Config{
				Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test",
				Getenv: func(string) string { return "" }, Plugins: plugins,
				Providers: []core.Provider{
					&core.OAuthProvider{ID: "google", Type: core.TypeOIDC, Issuer: issuer, ClientID: "a", ClientSecret: "b"},
					&core.OAuthProvider{
						ID: "plain", Type: core.TypeOAuth, ClientID: "a", ClientSecret: "b",
						Authorization: core.Endpoint{URL: "https://p.example/a"}, Token: core.Endpoint{URL: "https://p.example/t"},
						Userinfo: core.Endpoint{URL: "https://p.example/u"},
					},
				},
			})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("the error is %v, want %q", err, row.want)
			}
		})
	}
}
