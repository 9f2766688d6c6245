package core

import (
	"testing"

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
