package password_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
)

// resets returns the number of emails with a reset link to an address.
func (w *world) resets(to string) (n int) {
	w.t.Helper()
	for _, l := range w.emailsTo(to) {
		if l.Kind == mailkind.Reset {
			n++
		}
	}
	return n
}

// TestRequestedAgain: a reset that is requested again within minutes sends no second email, and the link of the first
// works. Once it does not work any more, or after five minutes, there is another email.
func TestRequestedAgain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		between func(w *world, link string)
		want    int
	}{
		"at once":            {func(*world, string) {}, 1},
		"four minutes later": {func(w *world, _ string) { w.advance(4 * time.Minute) }, 1},
		"six minutes later":  {func(w *world, _ string) { w.advance(6 * time.Minute) }, 2},
		"after the reset": {func(w *world, link string) {
			w.open(link).post("password/reset", "newPassword", better)
		}, 2},
		"after another address": {func(w *world, _ string) {
			w.visit().post("password/forgot", "email", "eve@example.com")
		}, 1},
		"after the link was removed": {func(w *world, _ string) {
			if _, err := w.store.DeleteUserRecords(t.Context(), w.user(ada).ID, "reset"); err != nil {
				t.Error(err)
			}
		}, 2},
	} {
		w := site(t, func(_ *password.Options, c *core.Config) { c.InsecureNoLimits = false })
		w.signUp(ada, good)
		row.between(w, w.forgot(ada))
		link := w.forgot(ada)
		if n := w.resets(ada); n != row.want {
			t.Errorf("%s: %d emails, want %d", name, n, row.want)
		}
		says(t, w.open(link).post("password/reset", "newPassword", "quiet lanterns, seven"), 200, "signin")
	}
}

// TestRequestedAgainElsewhere: another process of the site sends no second email either.
func TestRequestedAgainElsewhere(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.signUp(ada, good)
	w.forgot(ada)
	other := site(t, func(_ *password.Options, c *core.Config) { c.Store = w.store })
	says(t, other.visit().post("password/forgot", "email", ada), 202, "mail")
	if n := len(other.emailsTo(ada)); n != 0 {
		t.Errorf("%d emails", n)
	}
}

// TestOwnerGetsTheirLink: an attacker requests resets for an address from unidentified clients or many addresses. The
// owner has a valid link in the mailbox and gets the usual response from another client. The mailbox is not flooded.
func TestOwnerGetsTheirLink(t *testing.T) {
	t.Parallel()
	for name, attacker := range map[string]func(i int, b *browser){
		"one address":        func(int, *browser) {},
		"no peer":            func(_ int, b *browser) { b.from = "@" },
		"a private proxy":    func(_ int, b *browser) { b.from = "10.0.0.1:1" },
		"the /64 of one /48": func(i int, b *browser) { b.from = fmt.Sprintf("[2001:db8:0:%x::1]:1", i) },
		"many":               func(i int, b *browser) { b.from = fmt.Sprintf("198.51.100.%d:1", i) },
	} {
		w := site(t, func(_ *password.Options, c *core.Config) { c.InsecureNoLimits = false })
		known := w.signUp(ada, good)
		for i := range 60 {
			for _, address := range []string{ada, "nobody@example.com"} {
				b := w.visit()
				attacker(i, b)
				b.post("password/forgot", "email", address)
				w.flush()
			}
		}
		for owner, b := range map[string]*browser{"a known browser": known, "elsewhere": w.visit()} {
			b.from = "203.0.113.9:1"
			for _, address := range []string{ada, "nobody@example.com"} {
				if r := b.post("password/forgot", "email", address); r.Status != 202 {
					t.Errorf("%s: %s gets %d for %s", name, owner, r.Status, address)
				}
			}
		}
		if n := w.resets(ada); n != 1 {
			t.Errorf("%s: %d emails", name, n)
		}
		if w.visitFrom("203.0.113.10:1").post("callback/password", "email", ada, "password", good).Status >= 400 {
			t.Errorf("%s: the owner does not sign in elsewhere", name)
		}
		b := w.open(token(t, w.newestEmail(ada, mailkind.Reset)))
		says(t, b.post("password/reset", "newPassword", better), 200, "signin")
	}
}

// visitFrom opens a browser at an address.
func (w *world) visitFrom(address string) *browser {
	b := w.visit()
	b.from = address
	return b
}

// TestBrowserIsKnown: sign-up, sign-in, reset and change make a browser known, so that it signs in while attackers use
// up what the address may do.
func TestBrowserIsKnown(t *testing.T) {
	t.Parallel()
	for name, enter := range map[string]func(w *world, b *browser){
		"sign-up": func(_ *world, _ *browser) {},
		"sign-in": func(w *world, b *browser) { b.post("callback/password", "email", ada, "password", good) },
		"reset": func(w *world, b *browser) {
			b.get("/auth/password/reset?token=" + w.forgot(ada))
			says(t, b.post("password/reset", "newPassword", good+" too"), 200, "signin")
		},
	} {
		w := site(t, func(_ *password.Options, c *core.Config) { c.InsecureNoLimits = false })
		b, secret := w.signUp(ada, good), good
		if name != "sign-up" {
			b = w.visit()
			enter(w, b)
		}
		if name == "reset" {
			secret = good + " too"
		}
		for i := range 60 {
			w.visitFrom(fmt.Sprintf("198.51.100.%d:1", i)).post("callback/password", "email", ada, "password", "x")
		}
		if r := w.visitFrom("203.0.113.9:1").post("callback/password", "email", ada, "password", secret); r.Status != 429 {
			t.Fatalf("%s: the limit is not used up: %d", name, r.Status)
		}
		if b.post("callback/password", "email", ada, "password", secret); b.session() != ada {
			t.Errorf("%s: the owner is locked out", name)
		}
	}
}

// TestChangePasswordURL requests the address that password managers open to change a password, without and with a
// session.
func TestChangePasswordURL(t *testing.T) {
	w := site(t)
	user := w.person()
	user.cookies = w.signUp(ada, good).cookies
	for name, b := range map[string]*browser{"nobody": w.person(), "a user": user} {
		r := b.get("/.well-known/change-password")
		if r.Status != 302 || r.Redirect != "https://app.test/auth/password/change" {
			t.Errorf("%s: %d to %q", name, r.Status, r.Redirect)
		}
	}
}
