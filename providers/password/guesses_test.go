package password_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/providers/password"
)

// TestInvalidPasswords: empty and overlong passwords are rejected before the user is looked up.
func TestInvalidPasswords(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.signUp(ada, good)
	b := w.visit()
	for name, text := range map[string]string{"empty": "", "huge": good + strings.Repeat("x", 1024)} {
		w.store.took()
		r := b.post("callback/password", "email", ada, "password", text)
		if refused := r.Status == 401 || strings.Contains(r.Redirect, "error="); !refused || b.session() != "" {
			t.Errorf("%s: answered %d to %q", name, r.Status, r.Redirect)
		}
		if calls := w.store.took(); slices.Contains(calls, "UserByEmail") {
			t.Errorf("%s: the store was asked: %q", name, calls)
		}
	}
}

// TestGuessesAtAChangeAreCounted: guesses at a change are counted like those at a sign-in, so that an attacker at an
// open session cannot guess the password.
func TestGuessesAtAChangeAreCounted(t *testing.T) {
	t.Parallel()
	w := site(t, func(_ *password.Options, c *core.Config) { c.InsecureNoLimits = false })
	b := w.signUp(ada, good)
	for range 20 {
		if r := b.post("password/change", "current", evil, "newPassword", better); r.Status == 429 {
			return
		}
	}
	t.Error("20 guesses were compared")
}

// TestAChangeEndsLinks: a change deletes reset links, which an attacker may have requested, and remembered devices.
func TestAChangeEndsLinks(t *testing.T) {
	t.Parallel()
	w := site(t)
	b := w.signUp(ada, good)
	link := w.forgot(ada)
	w.store.took()
	says(t, b.post("password/change", "current", good, "newPassword", better), 200, "done")
	if calls := w.store.took(); !slices.Contains(calls, "DeleteUserRecords reset") {
		t.Errorf("the links stay: %q", calls)
	}
	if r := w.open(link).post("password/reset", "newPassword", evil); r.Status == 200 {
		t.Errorf("a link of before is answered %d", r.Status)
	}
}

// often limits only the consecutive failed attempts.
func often(_ *password.Options, c *core.Config) {
	plenty := limit.Rate{Burst: 1000, Every: time.Second}
	c.InsecureNoLimits = false
	c.Limits.Rates = map[limit.Attempt]limit.Rates{
		limit.AttemptCredentials: {
			Identifier: limit.Rate{Burst: 1001, Every: time.Second}, Visitor: plenty, Network: plenty, Browser: plenty,
		},
		limit.AttemptInARow: {
			Identifier: limit.Rate{Burst: 3, Every: time.Hour}, Visitor: limit.Rate{Burst: 2, Every: time.Hour},
			Browser: limit.Rate{Burst: 3, Every: time.Hour},
		},
	}
}

// TestAfterFailuresInARow: after many failures only an emailed link works, for known and unknown addresses, until a new
// password is set.
func TestAfterFailuresInARow(t *testing.T) {
	t.Parallel()
	w := site(t, often)
	owner := w.signUp(ada, good)
	for _, address := range []string{ada, "nobody@example.com"} {
		stranger := w.visit()
		for range 2 {
			if r := stranger.post("callback/password", "email", address, "password", evil); r.Status != 401 {
				t.Fatalf("%s: a wrong password is answered %d %s", address, r.Status, r.Body)
			}
		}
		w.store.took()
		r := stranger.post("callback/password", "email", address, "password", good)
		if r.Status != 403 || !strings.Contains(string(r.Body), `"code":"too_many_failures"`) {
			t.Errorf("%s: answered %d %s", address, r.Status, r.Body)
		}
		if calls := w.store.took(); slices.Contains(calls, "UserByEmail") {
			t.Errorf("%s: the store was asked: %q", address, calls)
		}
	}
	w.visit().post("callback/password", "email", ada, "password", evil) // the third failure for the address
	b := w.open(w.forgot(ada))
	says(t, b.post("password/reset", "newPassword", better), 200, "signin")
	unknown := w.visit() // the reset made b a known browser, whose attempts count separately
	if r := unknown.post("callback/password", "email", ada, "password", better); r.Err != nil || unknown.session() == "" {
		t.Errorf("in an unknown browser after a new password: %d %s, %v", r.Status, r.Body, r.Err)
	}
	if r := b.post("callback/password", "email", ada, "password", better); r.Err != nil || b.session() == "" {
		t.Errorf("after a new password: %d %s, %v", r.Status, r.Body, r.Err)
	}
	owner.post("callback/password", "email", ada, "password", better)
	for range 3 { // attempts at a change in a known browser count separately
		owner.post("password/change", "current", evil, "newPassword", good)
	}
	if r := owner.post("password/change", "current", better, "newPassword", good); r.Status != 429 {
		t.Errorf("a change after wrong ones in a row is answered %d %s", r.Status, r.Body)
	}
	w.advance(time.Hour)
	says(t, owner.post("password/change", "current", better, "newPassword", good), 200, "done")
	for range 2 {
		says(t, owner.post("password/change", "current", good, "newPassword", good), 200, "done")
	}
}
