package password_test

import (
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/mailkind"
)

// month is longer than the cooldown of usernames.
const month = 31 * 24 * time.Hour

// cooled returns a site on which ada has given up the name "first" a month ago, and is signed in.
func cooled(t *testing.T) (*world, *browser) {
	t.Helper()
	w := site(t, withNames)
	w.signUp(ada, good).choose("first")
	var b *browser
	for _, name := range []string{"second", ""} {
		w.advance(month)
		b = w.visit()
		b.post("callback/password", "email", ada, "password", good)
		if name != "" && b.choose(name) != name {
			t.Fatalf("cannot choose %s", name)
		}
	}
	return w, b
}

// TestTwoSignUpsOfOneName: of two sign-ups that have found a name free, the first to write it gets it. The other one
// says that it is taken and creates no user, or with an address a user without a name.
func TestTwoSignUpsOfOneName(t *testing.T) {
	t.Parallel()
	for _, tx := range []bool{true, false} {
		w := site(t, alone, transactions(tx))
		call := map[bool]string{true: "InTransaction", false: "CreateRecord username"}[tx]
		w.store.before(call, func() { w.signUpAlone("the.one", better) })
		b := w.visit()
		says(t, b.post("password/sign-up", "username", "the.one", "password", good), 409, "username_taken")
		if b.name() != "" || w.entersAs("the.one", good) != "" || w.entersAs("the.one", better) != "the.one" {
			t.Errorf("transactions %t: both sign-ups have the name, or none", tx)
		}
		if users, _, err := w.store.ListRecords(t.Context(), "password", "", "", 10); err != nil || len(users) != 1 {
			t.Errorf("transactions %t: %d passwords, %v", tx, len(users), err)
		}
	}
	w := site(t, withNames)
	w.store.before("CreateRecord username", func() { w.signUpNamed("eve@example.com", "the.one") })
	b, _ := w.signUpNamed(ada, "the.one")
	if who := w.signIn("the.one", good); who != "eve@example.com" {
		t.Errorf("the name signs in %q", who)
	}
	if r := b.get("/auth/password/username"); string(r.Body) != `{"username":""}` {
		t.Errorf("the other user has %s", r.Body)
	}
	if got := b.choose("another"); got != "another" {
		t.Errorf("the other user chooses another name: %s", got)
	}
}

// TestChangeAgainstSignUp: a user changes the name while another one signs up with the new name. One of them gets it,
// and the other one is refused and keeps the current name.
func TestChangeAgainstSignUp(t *testing.T) {
	t.Parallel()
	// The sign-up is faster.
	w := site(t, alone)
	b := w.signUp(ada, good)
	w.store.before("CreateRecord username", func() { w.signUpAlone("the.one", better) })
	if got := b.choose("the.one"); got != "username_taken" {
		t.Errorf("the change is answered %s", got)
	}
	if w.entersAs("the.one", better) != "the.one" || w.signIn(ada, good) != ada || w.signIn("the.one", good) != "" {
		t.Error("the name does not belong to the sign-up")
	}
	if got := b.choose("another"); got != "another" {
		t.Errorf("another name: %s", got)
	}
	// The change is faster.
	for _, tx := range []bool{true, false} {
		w := site(t, alone, transactions(tx))
		b := w.signUp(ada, good)
		call := map[bool]string{true: "InTransaction", false: "CreateRecord username"}[tx]
		w.store.before(call, func() {
			if got := b.choose("the.one"); got != "the.one" {
				t.Errorf("the change is answered %s", got)
			}
		})
		says(t, w.visit().post("password/sign-up", "username", "the.one", "password", better), 409, "username_taken")
		if w.signIn("the.one", good) != ada || w.entersAs("the.one", better) != "" {
			t.Errorf("transactions %t: the name does not belong to the user who changed it", tx)
		}
	}
	// A sign-up with an address confirms while the name is chosen.
	w = site(t, alone)
	b = w.signUp(ada, good)
	eve := w.visit()
	eve.post("password/sign-up", "email", "eve@example.com", "password", good, "username", "the.one")
	link := token(t, w.newestEmail("eve@example.com", mailkind.Verify))
	w.store.before("CreateRecord username", func() { b.choose("the.one") })
	eve.post("password/confirm", "token", link)
	if eve.session() != "eve@example.com" || w.signIn("the.one", good) != ada {
		t.Errorf("session of %q, the name signs in %q", eve.session(), w.signIn("the.one", good))
	}
}

// TestCooldownAgainstChange: two tabs of one user change the name at the same time. One change counts, the other one is
// refused as too soon, and its name is free after ten minutes.
func TestCooldownAgainstChange(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"CreateRecord user-name", "UpdateRecord user-name"} {
		w := site(t, withNames)
		b, eve := w.signUp(ada, good), w.signUp("eve@example.com", evil)
		if call == "UpdateRecord user-name" {
			b.choose("first")
			w.advance(month)
			b.post("callback/password", "email", ada, "password", good)
			eve.post("callback/password", "email", "eve@example.com", "password", evil)
		}
		tab := w.copyOf(b)
		w.store.before(call, func() {
			if got := tab.choose("tab"); got != "tab" {
				t.Errorf("%s: the other tab chooses %s", call, got)
			}
		})
		if got := b.choose("slow"); got != "username_too_soon" {
			t.Errorf("%s: the slower tab is answered %s", call, got)
		}
		if w.signIn("slow", good) != "" || w.signIn("tab", good) != ada {
			t.Errorf("%s: the wrong name signs in", call)
		}
		if got := eve.choose("slow"); got != "username_taken" {
			t.Errorf("%s: the claim of the slower tab: %s", call, got)
		}
		w.advance(11 * time.Minute)
		if got := eve.choose("slow"); got != "slow" {
			t.Errorf("%s: the name of the slower tab stays taken: %s", call, got)
		}
	}
}

// copyOf returns another tab of a browser.
func (w *world) copyOf(b *browser) *browser {
	tab := w.visit()
	for name, value := range b.cookies {
		tab.cookies[name] = value
	}
	return tab
}

// TestTakeoverAgainstReturn: a user chooses a name again that they gave up, while another user takes it over. After the
// user has claimed it, the other one is refused; otherwise the user is refused and keeps the current name.
func TestTakeoverAgainstReturn(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		call   string // before which the other user chooses the name
		theirs string // the response to the other user
		ours   string // the response to the user
	}{
		{"CreateRecord username", "first", "username_taken"},
		{"UpdateRecord username", "first", "username_taken"},
		{"UpdateRecord user-name", "username_taken", "first"},
	} {
		w, b := cooled(t)
		eve := w.signUp("eve@example.com", evil)
		w.store.before(row.call, func() {
			if got := eve.choose("first"); got != row.theirs {
				t.Errorf("%s: the other user is answered %s", row.call, got)
			}
		})
		if got := b.choose("first"); got != row.ours {
			t.Errorf("%s: the user is answered %s", row.call, got)
		}
		name := map[string]string{"first": "first", "username_taken": "second"}[row.ours]
		if w.signIn(name, good) != ada {
			t.Errorf("%s: %s does not sign in its user", row.call, name)
		}
		if row.theirs == "first" && w.signIn("first", evil) != "eve@example.com" {
			t.Errorf("%s: the name does not sign in the other user", row.call)
		}
	}
}

// TestSignUpTakesOver: a sign-up gets a name that was given up, after the cooldown only. Of two sign-ups that take it
// over at the same time, one gets it.
func TestSignUpTakesOver(t *testing.T) {
	t.Parallel()
	w := site(t, alone)
	w.signUp(ada, good).choose("first")
	w.advance(month)
	b := w.visit()
	b.post("callback/password", "email", ada, "password", good)
	b.choose("second")
	says(t, w.visit().post("password/sign-up", "username", "first", "password", better), 409, "username_taken")
	w.advance(month)
	w.store.before("UpdateRecord username", func() { w.signUpAlone("first", better) })
	says(t, w.visit().post("password/sign-up", "username", "first", "password", evil), 409, "username_taken")
	if w.entersAs("first", better) != "first" || w.entersAs("first", evil) != "" || w.signIn("first", good) != "" {
		t.Error("the name signs in the wrong user")
	}
}
