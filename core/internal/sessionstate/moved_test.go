package sessionstate_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
)

// TestMovedAddresses checks when a changed address is verified in a token: only if a verification alone changed it.
func TestMovedAddresses(t *testing.T) {
	t.Parallel()
	old, other := &store.User{Email: "old@app.example"}, &store.User{Email: "other@app.example"}
	now := &store.User{Email: "new@app.example"}
	for name, row := range map[string]struct {
		m        sessionstate.Moved
		email    string
		unproved bool
	}{
		"not moved":     {sessionstate.Moved{}, "old@app.example", true},
		"not proved":    {sessionstate.Moved{old, now, false}, "new@app.example", true},
		"proved":        {sessionstate.Moved{old, now, true}, "new@app.example", false},
		"another's was": {sessionstate.Moved{other, now, false}, "old@app.example", true},
	} {
		got := &token.Token{Email: "old@app.example", Null: store.NullEmail}
		if err := got.Extra.Set(sessionstate.EmailUnproved, true); err != nil {
			t.Fatal(err)
		}
		row.m.Write(got)
		if _, unproved := got.Extra[sessionstate.EmailUnproved]; got.Email != row.email || unproved != row.unproved {
			t.Errorf("%s: %q, unproved %t", name, got.Email, unproved)
		}
	}
}

// TestBetween checks which changes of a user change a token.
func TestBetween(t *testing.T) {
	t.Parallel()
	before := store.User{Name: "Ada", Email: "ada@app.example", Image: "/a.png"}
	for name, change := range map[string]func(u *store.User){
		"name": func(u *store.User) { u.Name = "" }, "address": func(u *store.User) { u.Email = "b@app.example" },
		"picture": func(u *store.User) { u.Image = "" }, "verification": func(u *store.User) { u.EmailVerified = now },
	} {
		after := before
		change(&after)
		moved := sessionstate.Between(&before, &after)
		if moved.From != &before || moved.To != &after || moved.Verified != (name == "verification") {
			t.Errorf("%s: %+v", name, moved)
		}
	}
	if same := before; sessionstate.Between(&before, &same) != (sessionstate.Moved{}) {
		t.Error("an unchanged user")
	}
	got := &token.Token{Name: "Ada", Email: "ada@app.example", Picture: "/a.png"}
	sessionstate.Moved{From: &before, To: &store.User{Name: "Eva", Email: before.Email}}.Write(got)
	if got.Name != "Eva" || got.Picture != "" || got.Null != store.NullImage || got.Email != before.Email {
		t.Errorf("%+v", got)
	}
}
