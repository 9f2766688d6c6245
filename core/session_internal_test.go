package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestMovedAddresses checks when a changed address is verified in a token: only if a verification alone changed it.
func TestMovedAddresses(t *testing.T) {
	t.Parallel()
	old, other := &User{Email: "old@app.example"}, &User{Email: "other@app.example"}
	now := &User{Email: "new@app.example"}
	for name, row := range map[string]struct {
		m        movedAddress
		email    string
		unproved bool
	}{
		"not moved":     {movedAddress{}, "old@app.example", true},
		"not proved":    {movedAddress{true, old, now, false}, "new@app.example", true},
		"proved":        {movedAddress{true, old, now, true}, "new@app.example", false},
		"another's was": {movedAddress{true, other, now, false}, "old@app.example", true},
	} {
		token := &Token{Email: "old@app.example", Null: store.NullEmail}
		if err := token.Extra.Set(sessionstate.EmailUnproved, true); err != nil {
			t.Fatal(err)
		}
		row.m.write(token)
		if _, unproved := token.Extra[sessionstate.EmailUnproved]; token.Email != row.email || unproved != row.unproved {
			t.Errorf("%s: %q, unproved %t", name, token.Email, unproved)
		}
	}
}

// TestSIDsAreBounded checks that only the newest provider sessions are stored, and the newest local sessions of each.
func TestSIDsAreBounded(t *testing.T) {
	t.Parallel()
	s := newProviderSessions(time.Now)
	for i := range 2*maxProviderSessions + 5 {
		s.add("op", fmt.Sprint(i), "token")
	}
	const most = maxProviderSessions
	for sid, there := range map[int]bool{0: false, most + 4: false, most + 5: true, 2*most + 4: true} {
		if got := s.of("op", fmt.Sprint(sid)) != nil; got != there {
			t.Errorf("sid %d is stored: %t", sid, got)
		}
	}
	for i := range 10 {
		s.add("op", "same", fmt.Sprint(i))
		s.add("op", "same", fmt.Sprint(i))
	}
	if got := fmt.Sprint(s.of("op", "same")); got != "[6 7 8 9]" {
		t.Errorf("stored sessions of one sid: %s", got)
	}
	if s.of("other", "same") != nil {
		t.Error("a sid is accepted from another provider")
	}
}

// TestSIDsFollowASession checks that a session is found under its new token, and that others stay unchanged.
func TestSIDsFollowASession(t *testing.T) {
	t.Parallel()
	s := newProviderSessions(time.Now)
	s.add("op", "sid", "first")
	s.add("op", "sid", "other")
	s.move("first", "second")
	s.move("second", "third")
	s.move("", "nobody's")
	if got := fmt.Sprint(s.of("op", "sid")); got != "[third other]" {
		t.Errorf("sessions of the sid: %s", got)
	}
}
