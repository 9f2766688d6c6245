package password_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
)

// TestWhatIsNoPassword is refused before anybody is looked up: nothing, and what is longer than any password.
func TestWhatIsNoPassword(t *testing.T) {
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

// TestGuessesAtAChangeAreCounted, as those at a sign-in are: whoever finds a browser signed in learns no password.
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

// TestAChangeEndsLinks removes the links of letters that somebody may have asked for, and remembered devices.
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
