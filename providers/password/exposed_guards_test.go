package password_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/providers/password"
)

// TestBreachedOtherMethod: a user with a breached password signs in with another method, which does not depend on the
// password, and links one.
func TestBreachedOtherMethod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &leaks{}
		w := site(t, func(o *password.Options, c *core.Config) {
			o.Breached, o.BreachedAtSignIn, c.Providers = l.breached, true, []core.Provider{service()}
		})
		b := w.signUp(ada, good)
		l.leak(good)
		w.held()
		if w.byService(b); b.session() != ada {
			t.Fatal("the session ended when an account was linked")
		}
		other := w.visit()
		if r := w.byService(other); other.session() != ada {
			t.Errorf("the other method is answered %d %s %s", r.Status, r.Redirect, r.Body)
		}
	})
}

// TestBreachedChecksInFuture: a check that another process with a wrong clock has dated in the future does not count.
func TestBreachedChecksInFuture(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t)
		w.advance(40 * 24 * time.Hour)
		w.signIn(ada, good)
		w.advance(-40 * 24 * time.Hour)
		at := l.number()
		if w.signIn(ada, good) != ada || l.number() != at+1 {
			t.Errorf("asked %d times, want 1", l.number()-at)
		}
	})
}

// TestBreachedSlots: a finished check makes room for another one, whether it succeeds, fails or panics. After a panic
// the sign-in continues, and the log does not contain the password.
func TestBreachedSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, answer := range map[string]func(secret core.Secret) (bool, error){
			"succeeds": func(core.Secret) (bool, error) { return false, nil },
			"fails":    func(core.Secret) (bool, error) { return false, errors.New("out of order") },
			"panics":   func(secret core.Secret) (bool, error) { panic(string(secret)) },
		} {
			var calls atomic.Int64
			w := site(t, func(o *password.Options, _ *core.Config) {
				o.BreachedAtSignIn = true
				o.Breached = func(_ context.Context, secret core.Secret) (bool, error) {
					calls.Add(1)
					return answer(secret)
				}
			})
			w.signUp(ada, good)
			calls.Store(0)
			for n := int64(1); n <= 70; n++ { // more than the 64 slots
				if w.signIn(ada, good) != ada || calls.Load() != n {
					t.Fatalf("%s: sign-in %d fails or is not checked", name, n)
				}
				w.advance(31 * 24 * time.Hour)
			}
			w.clean(good)
		}
	})
}

// TestBreachedGateFails: if the password cannot be read when the sign-in is held, there is no session.
func TestBreachedGateFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _ := leaky(t)
		w.signIn(ada, good) // checks the password
		reads := 0
		var next func()
		next = func() {
			w.store.failing("")
			if reads++; reads == 3 { // those of the comparison and of the check before the session come first
				w.store.failing("Record password")
			}
			w.store.before("Record password", next)
		}
		w.store.before("Record password", next)
		b := w.visit()
		r := b.post("callback/password", "email", ada, "password", good)
		if reads < 3 || r.Status < 500 && !strings.Contains(r.Redirect+string(r.Body), "error") || b.session() != "" {
			t.Errorf("%d reads, answered %d %s %s, session of %q", reads, r.Status, r.Redirect, r.Body, b.session())
		}
	})
}

// TestBreachedMeanwhile: if the password is changed while its breach is stored, the sign-in with the old one is refused
// with a request to try again.
func TestBreachedMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t)
		l.leak(good)
		w.store.how = func() error { return store.ErrConflict }
		w.store.failing("UpdateRecord password")
		b := w.visit()
		says(t, b.post("callback/password", "email", ada, "password", good), http.StatusServiceUnavailable, "busy")
		if b.session() != "" {
			t.Error("signed in")
		}
	})
}

// TestBreachedForgotten: a new password has no result of an earlier check.
func TestBreachedForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t)
		l.leak(good)
		w.held()
		l.leak("")
		w.reset(ada, better)
		var record struct {
			Checked  time.Time
			Breached bool
		}
		if err := json.Unmarshal([]byte(w.store.all(t, "password")[0]), &record); err != nil || record.Breached ||
			!record.Checked.IsZero() {
			t.Errorf("the new password has %+v, %v", record, err)
		}
		if w.signIn(ada, better) != ada {
			t.Error("the new password does not sign in")
		}
	})
}

// TestBreachedUserGone: after the user was deleted, the pending sign-in is over, also if that happens after it was
// read.
func TestBreachedUserGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t)
		l.leak(good)
		b := w.held()
		id := w.user(ada).ID
		w.store.before("User", func() {
			if err := w.store.DeleteUser(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
		says(t, b.get("/auth/password/breached"), http.StatusGone, "pending_expired")
		says(t, b.post("password/breached"), http.StatusGone, "pending_expired")
	})
}

// TestBreachedEmails: the emails with a code are limited. If they cannot be queued, the response says so.
func TestBreachedEmails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t, func(_ *password.Options, c *core.Config) { c.InsecureNoLimits = false })
		l.leak(good)
		b := w.held()
		sent, refused := 0, 0
		for range 10 {
			switch r := b.post("password/breached"); r.Status {
			case http.StatusAccepted:
				sent++
			case http.StatusTooManyRequests:
				refused++
			default:
				t.Fatalf("answered %d %s", r.Status, r.Body)
			}
		}
		if sent == 0 || refused == 0 {
			t.Errorf("%d emails were sent and %d refused", sent, refused)
		}
	})
}

// TestBreachedAddressChanged: a code that was requested for an address is not sent if the user has another one by then.
func TestBreachedAddressChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, l := leaky(t)
		l.leak(good)
		b := w.held()
		w.flush()
		before := len(w.emailsTo(ada))
		w.post.hold()
		user := w.user(ada)
		w.store.before("CreateRecord outbox", func() {
			user.Email = "new@example.com"
			if _, err := w.store.UpdateUser(t.Context(), user); err != nil {
				t.Error(err)
			}
		})
		says(t, b.post("password/breached"), 202, "mail")
		w.post.release()
		if after := len(w.emailsTo(ada)) + len(w.emailsTo("new@example.com")); after != before {
			t.Errorf("%d emails were sent", after-before)
		}
		again := w.visit()
		again.post("callback/password", "email", user.Email, "password", good)
		says(t, again.post("password/breached"), 202, "mail")
		w.newestEmail(user.Email, mailkind.Reset)
	})
}
