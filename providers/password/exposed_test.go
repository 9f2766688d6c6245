package password_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
)

// leaks is a service that knows breached passwords.
type leaks struct {
	mu    sync.Mutex
	known map[core.Secret]bool
	fails error
	asked int
}

func (l *leaks) breached(_ context.Context, secret core.Secret) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	return l.known[secret], l.fails
}

// leak adds a password to the service.
func (l *leaks) leak(secret core.Secret) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = map[core.Secret]bool{secret: true}
}

func (l *leaks) number() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

// leaky returns a site that checks passwords at sign-ins, with a user. The password is not in the list.
func leaky(t *testing.T, change ...func(o *password.Options, c *core.Config)) (*world, *leaks) {
	t.Helper()
	l := &leaks{}
	on := func(o *password.Options, _ *core.Config) { o.Breached, o.BreachedAtSignIn = l.breached, true }
	w := site(t, append([]func(o *password.Options, c *core.Config){on}, change...)...)
	w.signUp(ada, good)
	return w, l
}

// held signs in with a breached password, and checks that there is no session.
func (w *world) held() *browser {
	w.t.Helper()
	b := w.visit()
	r := b.post("callback/password", "email", ada, "password", good, "callbackUrl", "/orders")
	if !strings.Contains(string(r.Body)+r.Redirect, "/auth/password/breached") || b.session() != "" {
		w.t.Fatalf("answered %d %s %s, session of %q", r.Status, r.Body, r.Redirect, b.session())
	}
	return b
}

// TestBreachedSignIn: a breached password does not sign in until the code or the link in an email was used and a new
// password was chosen. Then the sign-in continues where it was going.
func TestBreachedSignIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			var events []audit.Name
			w, l := leaky(t, func(_ *password.Options, c *core.Config) {
				c.Session.Strategy = strategy
				c.Audit = func(_ context.Context, e audit.Event) {
					if e.Name == audit.PasswordBreached && e.Outcome == audit.Refused && e.UserID != "" {
						events = append(events, e.Name)
					}
				}
			})
			l.leak(good)
			for _, way := range []string{"code", "link"} {
				l.leak(good)
				b := w.held()
				says(t, b.get("/auth/password/breached"), 200, "mail")
				says(t, b.post("password/reset", "newPassword", better), 400, "link_invalid")
				says(t, b.post("password/breached"), 202, "mail")
				mail := w.newestEmail(ada, mailkind.Reset)
				other := w.visit()
				says(t, other.post("password/breached-code", "code", string(mail.Code)), 401, "code_expired")
				if way == "code" {
					says(t, b.post("password/breached-code", "code", wrong(mail.Code)), 401, "code_wrong")
					r := b.post("password/breached-code", "code", string(mail.Code))
					if !strings.Contains(string(r.Body), "/auth/password/reset") || b.session() != "" {
						t.Fatalf("the code is answered %d %s", r.Status, r.Body)
					}
				} else {
					b.get("/auth/password/reset?token=" + token(t, mail))
				}
				says(t, b.post("password/reset", "newPassword", good), 422, "password_breached")
				r := b.post("password/reset", "newPassword", better)
				if b.session() != ada || !strings.Contains(string(r.Body), "https://app.test/orders") {
					t.Fatalf("%s: after the new password %d %s, session of %q; %v", way, r.Status, r.Body, b.session(), r.Err)
				}
				if w.signIn(ada, good) != "" || w.signIn(ada, better) != ada {
					t.Errorf("%s: the password was not replaced", way)
				}
				w.clean(string(mail.Code))
				// Choose the first password again for the other way.
				l.leak("")
				w.reset(ada, good)
			}
			if len(events) != 2 {
				t.Errorf("%d audit events for two sign-ins", len(events))
			}
		}
	})
}

// reset sets a new password by a link.
func (w *world) reset(email, secret string) {
	w.t.Helper()
	w.advance(time.Hour)
	b := w.open(w.forgot(email))
	says(w.t, b.post("password/reset", "newPassword", secret), 200, "signin")
}

// TestBreachedLinkElsewhere: in a browser without the pending sign-in, the link sets a password and does not sign in.
func TestBreachedLinkElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t)
		l.leak(good)
		b := w.held()
		b.post("password/breached")
		other := w.open(token(t, w.newestEmail(ada, mailkind.Reset)))
		says(t, other.post("password/reset", "newPassword", better), 200, "signin")
		if other.session() != "" || b.session() != "" {
			t.Error("a session without a sign-in")
		}
		says(t, b.get("/auth/password/breached"), http.StatusGone, "pending_expired")
		says(t, b.post("password/breached"), http.StatusGone, "pending_expired")
	})
}

// TestBreachedOfAnother: the link of another user's reset does not complete a pending sign-in.
func TestBreachedOfAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t)
		const eve = "eve@example.com"
		w.signUp(eve, evil)
		l.leak(good)
		b := w.held()
		b.get("/auth/password/reset?token=" + w.forgot(eve))
		says(t, b.post("password/reset", "newPassword", better), 200, "signin")
		if b.session() != "" {
			t.Errorf("signed in as %s", b.session())
		}
	})
}

// TestBreachedChecks: a password is checked once in 30 days, a breach is remembered, and a failure is neither.
func TestBreachedChecks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t)
		at := l.number()
		asked := func(want int, when string) {
			t.Helper()
			if n := l.number() - at; n != want {
				t.Errorf("%s: asked %d times, want %d", when, n, want)
			}
			at = l.number()
		}
		w.signIn(ada, better)
		asked(0, "a wrong password")
		w.signIn(ada, good)
		asked(1, "the first sign-in")
		w.signIn(ada, good)
		asked(0, "the second sign-in")
		w.advance(29 * 24 * time.Hour)
		w.signIn(ada, good)
		asked(0, "after 29 days")
		w.advance(2 * 24 * time.Hour)
		l.fails = errors.New("out of order")
		if w.signIn(ada, good) != ada {
			t.Error("an outage prevents a sign-in")
		}
		asked(1, "after 31 days, in an outage")
		l.fails = nil
		l.leak(good)
		w.held()
		asked(1, "after the outage")
		l.leak("")
		w.advance(100 * 24 * time.Hour)
		w.held()
		asked(0, "a known breach")
	})
}

// TestBreachedSlow: a service that ignores its context delays a sign-in by 300 ms, and not at all if 64 calls hang.
func TestBreachedSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang, calls := make(chan struct{}), atomic.Int64{}
		t.Cleanup(func() { close(hang) })
		w := site(t, patient, func(o *password.Options, _ *core.Config) {
			o.BreachedAtSignIn = true
			o.Breached = func(context.Context, core.Secret) (bool, error) {
				if calls.Add(1) > 1 { // the sign-up's own check
					<-hang
				}
				return false, nil
			}
		})
		w.signUp(ada, good)
		began := time.Now()
		if w.signIn(ada, good) != ada {
			t.Error("a slow service prevents a sign-in")
		}
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("the sign-in took %v", took)
		}
		for range 4 { // 200 calls, which are more than 64
			race(func(int) bool { return w.signIn(ada, good) == ada })
		}
		if n := calls.Load(); n != 65 {
			t.Errorf("%d calls, want 64 and the one of the sign-up", n)
		}
		if w.signIn(ada, good) != ada {
			t.Error("a full queue prevents a sign-in")
		}
	})
}

// TestBreachedWithoutAddress: a user without an address cannot show that it is them, so the password does not sign in.
func TestBreachedWithoutAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t)
		l.leak(good)
		b := w.held()
		user := w.user(ada)
		user.Email, user.EmailVerified = "", time.Time{}
		if _, err := w.store.UpdateUser(t.Context(), user); err != nil {
			t.Fatal(err)
		}
		says(t, b.get("/auth/password/breached"), http.StatusConflict, "no_address")
		says(t, b.post("password/breached"), http.StatusConflict, "no_address")
		b.accept = "text/html"
		if r := b.get("/auth/password/breached"); !strings.Contains(string(r.Body), "no email address") {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	})
}

// TestBreachedUnverified: the link verifies an address that was not verified, as after password/forgot.
func TestBreachedUnverified(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &leaks{}
		w := site(t, func(o *password.Options, _ *core.Config) {
			o.Breached, o.BreachedAtSignIn, o.LegacyHashes = l.breached, true, []password.Verifier{password.Drupal()}
		})
		user, err := w.store.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: ada})
		if err == nil {
			err = w.provider.Import(t.Context(), user.ID, "$S$C33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf")
		}
		if err != nil {
			t.Fatal(err)
		}
		l.leak("hashcat")
		b := w.visit()
		b.post("callback/password", "email", ada, "password", "hashcat")
		says(t, b.post("password/breached"), 202, "mail")
		b.post("password/breached-code", "code", string(w.newestEmail(ada, mailkind.Reset).Code))
		b.post("password/reset", "newPassword", better)
		if b.session() != ada || w.user(ada).EmailVerified.IsZero() {
			t.Errorf("session of %q, verified at %v", b.session(), w.user(ada).EmailVerified)
		}
	})
}

// TestBreachedPages: each step works in a browser without JavaScript, and no page shows the address.
func TestBreachedPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t)
		l.leak(good)
		b := w.person()
		const held = "https://app.test/auth/password/breached"
		if r := b.post("callback/password", "email", ada, "password", good); r.Redirect != held {
			t.Fatalf("redirects to %s", r.Redirect)
		}
		has := func(page, text string) bool { return strings.Contains(page, text) }
		page := string(b.get("/auth/password/breached").Body)
		if !has(page, "appeared in a data breach") || has(page, ada) || has(page, `name="code"`) {
			t.Errorf("the page is %s", page)
		}
		b.post("password/breached")
		page = string(b.get("/auth/password/breached").Body)
		if !has(page, `name="code"`) || has(page, ada) || !has(page, "Email me another code") {
			t.Errorf("the second page is %s", page)
		}
		r := b.post("password/breached-code", "code", "")
		if !strings.Contains(r.Redirect, "/auth/password/breached?left=5&error=CodeWrong") {
			t.Errorf("a wrong code redirects to %s", r.Redirect)
		}
		r = b.post("password/breached-code", "code", string(w.newestEmail(ada, mailkind.Reset).Code))
		if r.Redirect != "https://app.test/auth/password/reset" {
			t.Errorf("the code redirects to %s", r.Redirect)
		}
	})
}

// TestBreachedOption: the check needs a service, and is off by default.
func TestBreachedOption(t *testing.T) {
	t.Parallel()
	_, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test", Store: site(t).store,
		Getenv:    func(string) string { return "" },
		Providers: []core.Provider{password.New(password.Options{Mail: &postbox{}, BreachedAtSignIn: true})},
	})
	if err == nil || !strings.Contains(err.Error(), "BreachedAtSignIn is set and Breached is not") {
		t.Error(err)
	}
	l := &leaks{}
	w := site(t, func(o *password.Options, _ *core.Config) { o.Breached = l.breached })
	w.signUp(ada, good)
	l.leak(good)
	if n := l.number(); w.signIn(ada, good) != ada || l.number() != n {
		t.Error("a sign-in was checked")
	}
}

// TestBreachedUnstored: if the result cannot be stored, the breached password does not sign in.
func TestBreachedUnstored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t)
		l.leak(good)
		w.store.failing("UpdateRecord password")
		b := w.visit()
		b.post("callback/password", "email", ada, "password", good)
		if b.session() != "" {
			t.Error("signed in")
		}
		w.store.failing("")
		w.held()
	})
}
