package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// captcha is a CAPTCHA service. It accepts each token that begins with the required action once.
type captcha struct {
	challenge.Challenge
	mu   sync.Mutex
	used map[string]bool
	last challenge.Params
}

func newCaptcha() *captcha {
	s := &captcha{used: map[string]bool{}}
	s.Challenge = challenge.Challenge{
		Widget: ui.Challenge{
			Script: "https://captcha.example/api.js", Class: "captcha", SiteKey: "the-site",
			FrameSources: []string{"https://captcha.example"},
		},
		Field: "captcha-response", Verify: s.verify,
	}
	return s
}

func (s *captcha) verify(_ context.Context, p challenge.Params) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = p
	if !strings.HasPrefix(p.Token, p.Action+"-") || s.used[p.Token] {
		return challenge.ErrRefused
	}
	s.used[p.Token] = true
	return nil
}

// captchaApp is a site with a password form and email links.
type captchaApp struct {
	*app
	captcha *captcha
	mails   int
	guesses int
	events  []audit.Event
}

func newCaptchaApp(t *testing.T, change func(s *captcha, c *core.Config)) *captchaApp {
	t.Helper()
	a := &captchaApp{captcha: newCaptcha()}
	config := core.Config{
		Store: newPeople().as(power{true, true, true, true}), InsecureNoLimits: true,
		Audit: func(_ context.Context, e audit.Event) { a.events = append(a.events, e) },
		Providers: []core.Provider{
			&core.CredentialsProvider{
				ID: "credentials", Fields: []ui.Field{{Name: "email"}, {Name: "password", Type: "password"}},
				Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) {
					a.guesses++
					return &core.User{ID: "1", Email: "ada@example.com"}, nil
				},
			},
			&core.EmailProvider{ID: "email", From: "a@app.test", Send: func(context.Context, core.Email) error {
				a.mails++
				return nil
			}},
			plainOAuth(),
		},
		Session: core.SessionConfig{Strategy: core.StrategyJWT},
	}
	if change != nil {
		change(a.captcha, &config)
	}
	config.Callbacks.Challenge = &a.captcha.Challenge
	a.app = newApp(t, config)
	return a
}

func withToken(token string) url.Values {
	return url.Values{"email": {"ada@example.com"}, "password": {"x"}, "captcha-response": {token}}
}

// TestChallenge posts the form of a password and that of an email link, as a browser and as a program.
func TestChallenge(t *testing.T) {
	const failed = "https://app.test/auth/signin?error=ChallengeFailed"
	for _, path := range []string{"/auth/callback/credentials", "/auth/signin/email"} {
		for _, row := range []struct {
			name, token string
			ok          bool
		}{
			{"valid", "sign-in-1", true},
			{"none", "", false},
			{"made up", "nonsense", false},
			{"of another action", "sign-up-1", false},
			{"too long", "sign-in-" + strings.Repeat("x", challenge.MaxToken), false},
		} {
			t.Run(path+" "+row.name, func(t *testing.T) {
				a := newCaptchaApp(t, nil)
				b := visit(t, a)
				r := b.submit(path, withToken(row.token))
				if done := a.mails+a.guesses == 1; done != row.ok || !row.ok && r.Redirect != failed {
					t.Errorf("%d guesses, %d emails: %d %s", a.guesses, a.mails, r.Status, r.Redirect)
				}
				if again := b.submit(path, withToken(row.token)); again.Redirect != failed || a.mails+a.guesses > 1 {
					t.Errorf("the token was accepted twice: %s", again.Redirect)
				}
				program := visit(t, a)
				program.header.Set("Accept", "application/json")
				var problem struct{ Code, Error string }
				r = program.submit(path, withToken("nonsense"))
				if err := json.Unmarshal(r.Body, &problem); err != nil || r.Status != 403 || problem.Code != "challenge_failed" ||
					problem.Error != "ChallengeFailed" {
					t.Errorf("a program gets %d %s", r.Status, r.Body)
				}
				if row.token != "" && strings.Contains(a.log.String(), row.token) {
					t.Error("the log has the token")
				}
				if e := a.events[len(a.events)-1]; e.Name != audit.Challenge || e.Outcome != audit.Refused {
					t.Errorf("the last event is %+v", e)
				}
			})
		}
	}
}

// TestChallengePages: the widget is in the forms that need it, and only their pages permit its origins.
func TestChallengePages(t *testing.T) {
	a := newCaptchaApp(t, func(s *captcha, _ *core.Config) {
		s.Widget.ScriptSources = []string{"https://scripts.example", "https://more.example"}
		s.Widget.StyleSources = []string{"https://styles.example"}
	})
	plain := newApp(t, core.Config{Providers: []core.Provider{plainOAuth()}})
	for range 2 { // the second page is from the cache
		b := visit(t, a)
		r := b.get("/auth/signin")
		policy := r.Header.Get("Content-Security-Policy")
		nonce, _, _ := strings.Cut(strings.SplitAfter(policy, "'nonce-")[1], "'")
		without := visit(t, plain).get("/auth/signin").Header.Get("Content-Security-Policy")
		other, _, _ := strings.Cut(strings.SplitAfter(without, "'nonce-")[1], "'")
		want := strings.ReplaceAll(without, other, nonce)
		want = strings.Replace(want, "script-src ", "script-src https://scripts.example https://more.example ", 1)
		want = strings.Replace(want, "style-src ", "style-src https://styles.example ", 1)
		want += "; frame-src https://captcha.example"
		if policy != want {
			t.Errorf("the policy is\n%s, want\n%s", policy, want)
		}
		body := string(r.Body)
		if n := strings.Count(body, `class="captcha" data-sitekey="the-site" data-action="sign-in"`); n != 1 {
			t.Errorf("%d widgets, want one in the form for both", n)
		}
		if !strings.Contains(body, `<script src="https://captcha.example/api.js" nonce="`+nonce+`"`) {
			t.Error("the script of the widget has no nonce")
		}
	}
	for path, want := range map[string]bool{
		"/auth/signin?error=ChallengeFailed": true, "/auth/verify-request?provider=email&type=email": true,
		"/auth/signout": false, "/auth/error": false,
	} {
		r := visit(t, a).get(path)
		has := strings.Contains(r.Header.Get("Content-Security-Policy"), "captcha.example")
		if has != want || strings.Contains(string(r.Body), "captcha.example") != want {
			t.Errorf("%s permits the widget: %v", path, has)
		}
	}
	onlyOAuth := newCaptchaApp(t, func(_ *captcha, c *core.Config) { c.Providers = c.Providers[2:] })
	if r := visit(t, onlyOAuth).get("/auth/signin"); strings.Contains(string(r.Body), "captcha") {
		t.Error("a page without forms has the widget")
	}
	page := string(visit(t, a).get("/auth/signin?error=ChallengeFailed").Body)
	if !strings.Contains(page, "confirm that you&#39;re human. Please try again.") {
		t.Error("the page has no message")
	}
}

// TestChallengeOutage: by default, a request is refused while the service is unavailable.
func TestChallengeOutage(t *testing.T) {
	for _, row := range []struct {
		name   string
		verify func(ctx context.Context, p challenge.Params) error
		cancel bool // the client disconnects
		passes bool // with AllowOutage
	}{
		{name: "an error", verify: func(context.Context, challenge.Params) error { return errors.New("down") }, passes: true},
		{name: "a panic", verify: func(context.Context, challenge.Params) error { panic("bug") }, passes: true},
		{name: "no response", verify: func(ctx context.Context, _ challenge.Params) error {
			<-ctx.Done()
			return ctx.Err()
		}, passes: true},
		{name: "the client disconnects", cancel: true, verify: func(ctx context.Context, _ challenge.Params) error {
			<-ctx.Done()
			return ctx.Err()
		}},
	} {
		for _, allow := range []bool{false, true} {
			t.Run(row.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a := newCaptchaApp(t, func(s *captcha, _ *core.Config) { s.Verify, s.AllowOutage = row.verify, allow })
					b := visit(t, a)
					form := withToken("token")
					form.Set("csrfToken", b.csrf())
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if row.cancel {
						time.AfterFunc(time.Second, cancel)
					}
					began := time.Now()
					r := a.Handle(ctx, b.request("POST", "/auth/callback/credentials", "application/x-www-form-urlencoded",
						form.Encode()))
					if waited := time.Since(began); waited > challenge.Timeout {
						t.Errorf("the request took %v", waited)
					}
					if passed := a.guesses == 1; passed != (allow && row.passes) {
						t.Errorf("passed: %v; %d %s", passed, r.Status, r.Redirect)
					}
					if !allow && (r.Status != 503 || r.Header.Get("Retry-After") == "") {
						t.Errorf("status %d, Retry-After %q", r.Status, r.Header.Get("Retry-After"))
					}
					if !row.cancel && !strings.Contains(a.log.String(), "level=ERROR") {
						t.Errorf("the outage is not in the log: %s", a.log)
					}
				})
			})
		}
	}
}

// TestChallengeOverload: requests beyond the limit of concurrent verifications are refused, even if an outage is
// allowed, so that an attacker cannot cause one.
func TestChallengeOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newCaptchaApp(t, func(s *captcha, _ *core.Config) {
			s.AllowOutage = true
			s.Verify = func(ctx context.Context, _ challenge.Params) error {
				select {
				case <-ctx.Done():
				case <-time.After(time.Second): //nolint:forbidigo // the clock of the bubble
				}
				return challenge.ErrRefused
			}
		})
		b := visit(t, a)
		form := withToken("token")
		form.Set("csrfToken", b.csrf())
		var refused, busy int
		var mu sync.Mutex
		var wait sync.WaitGroup
		for range 100 {
			wait.Go(func() {
				r := a.Handle(t.Context(), b.request("POST", "/auth/callback/credentials", "application/x-www-form-urlencoded",
					form.Encode()))
				mu.Lock()
				defer mu.Unlock()
				if r.Status == 503 {
					busy++
				} else {
					refused++
				}
			})
		}
		wait.Wait()
		if a.guesses != 0 || refused != 64 || busy != 36 {
			t.Errorf("%d passed, %d refused, %d busy", a.guesses, refused, busy)
		}
	})
}

// TestChallengeLimits: wrong tokens are limited for a network, and requests without one do not count. Neither uses up
// the limit of a name.
func TestChallengeLimits(t *testing.T) {
	a := newCaptchaApp(t, func(_ *captcha, c *core.Config) {
		c.InsecureNoLimits, c.TrustedProxies = false, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	b := visit(t, a)
	for range 100 {
		b.submit("/auth/callback/credentials", withToken(""))
	}
	for i := range 100 {
		a.captcha.last = challenge.Params{}
		b.submit("/auth/callback/credentials", withToken("wrong"))
		if asked := a.captcha.last.Token != ""; asked != (i < 30) {
			t.Fatalf("wrong token %d reached the service: %v", i, asked)
		}
	}
	owner := visit(t, a)
	owner.peer = "198.51.100.1:1"
	if owner.submit("/auth/callback/credentials", withToken("sign-in-1")); a.guesses != 1 {
		t.Error("the owner of the name is locked out")
	}
	for i := range 40 {
		a.clock.Advance(5 * time.Minute)
		owner.submit("/auth/callback/credentials", withToken("sign-in-x"+strings.Repeat("x", i)))
	}
	if a.guesses != 41 {
		t.Errorf("%d of 41 correct sign-ins", a.guesses)
	}
}

// TestChallengeParams: the service gets the client's address only if a trusted proxy reported it, and the public host.
func TestChallengeParams(t *testing.T) {
	for _, row := range []struct {
		name, peer, forwarded, want string
		proxies                     []netip.Prefix
	}{
		{name: "public peer", peer: "8.8.8.8:1", want: "8.8.8.8"},
		{name: "forwarded by anyone", peer: "8.8.8.8:1", forwarded: "1.2.3.4"},
		{name: "private peer", peer: "10.0.0.1:1"},
		{
			name: "forwarded by the proxy", peer: "10.0.0.1:1", forwarded: "9.9.9.9, 2001:db8:1::5", want: "2001:db8:1::5",
			proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		},
		{
			name: "forwarded past the proxy", peer: "8.8.8.8:1", forwarded: "1.2.3.4", want: "8.8.8.8",
			proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		},
		{name: "the proxy itself", peer: "10.0.0.1:1", proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newCaptchaApp(t, func(_ *captcha, c *core.Config) {
				c.URL, c.TrustedProxies = "https://app.test:8443", row.proxies
			})
			b := visit(t, a)
			b.peer, b.origin = row.peer, "https://app.test:8443"
			if row.forwarded != "" {
				b.header.Set("X-Forwarded-For", row.forwarded)
			}
			b.submit("/auth/callback/credentials", withToken("sign-in-1"))
			got := ""
			if at := a.captcha.last.RemoteIP; at.IsValid() {
				got = at.String()
			}
			if got != row.want || a.captcha.last.Host != "app.test" || a.captcha.last.Client == nil {
				t.Errorf("address %q, host %q; want %q", got, a.captcha.last.Host, row.want)
			}
		})
	}
}

// TestChallengeReauth: a signed-in user confirms the session without a challenge, and the page has no widget.
func TestChallengeReauth(t *testing.T) {
	a := newCaptchaApp(t, func(_ *captcha, c *core.Config) {
		c.Plugins = []core.Plugin{asking{}}
		if _, err := c.Store.CreateUser(t.Context(), &store.User{ID: "1", Email: "ada@example.com"}); err != nil {
			t.Fatal(err)
		}
	})
	b := visit(t, a)
	b.submit("/auth/callback/credentials", withToken("sign-in-1"))
	r := b.get("/auth/reauth")
	if r.Status != 200 || strings.Contains(string(r.Body)+r.Header.Get("Content-Security-Policy"), "captcha") {
		t.Errorf("the page: %d %s", r.Status, r.Body)
	}
	if b.submit("/auth/reauth/credentials", withToken("")); a.guesses != 2 {
		t.Error("the session was not confirmed")
	}
}

func TestChallengeConfig(t *testing.T) {
	_, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", Providers: []core.Provider{plainOAuth()},
		Callbacks: core.Callbacks{Challenge: challenge.Turnstile(challenge.TurnstileOptions{SiteKey: "a"})},
	})
	if !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), "Callbacks.Challenge: Verify is nil") {
		t.Errorf("New: %v", err)
	}
	if rates := (limit.Rates{}).WithDefaults(limit.AttemptChallenge); rates.Network.Burst == 0 {
		t.Error("wrong tokens are not limited")
	}
}
