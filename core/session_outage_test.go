package core_test

import (
	"context"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// unwritable is a store of sessions that can be read and that panics on writes.
type unwritable struct{ *sessionRows }

func (unwritable) CreateSession(context.Context, *store.Session) error { panic("nil pointer") }

func (unwritable) UpdateSession(context.Context, string, time.Time) error { panic("nil pointer") }

func (unwritable) DeleteSession(context.Context, string) (*store.Session, error) {
	panic("nil pointer")
}

// TestStorePanicsOnWrite reads a session whose read writes to a store that panics. The result must be an error and not
// "no session", for the first and for later calls.
func TestStorePanicsOnWrite(t *testing.T) {
	t.Parallel()
	for name, expires := range map[string]time.Duration{
		"to extend a session":          time.Hour,
		"to remove an expired session": -time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			rows := newSessionRows()
			rows.rows["s1"] = store.Session{Token: "s1", UserID: "1", Expires: start.Add(expires)}
			b := visit(t, newApp(t, core.Config{Store: unwritable{rows}}))
			b.cookies[sessionCookie] = "s1"
			v := b.auth.Visit(t.Context(), b.request("GET", "/account", "", ""))
			for range 2 {
				if session, err := v.Session(); session != nil || err == nil {
					t.Errorf("the hook says %v, %v", session, err)
				}
			}
		})
	}
	t.Run("to begin one", func(t *testing.T) {
		a := newApp(t, core.Config{Store: unwritable{newSessionRows()}})
		r := visit(t, a).request("POST", "/register", "", "")
		if cookies, err := a.NewSession(t.Context(), r, &core.User{ID: "1"}); cookies != nil || err == nil {
			t.Errorf("NewSession returns %v, %v", cookies, err)
		}
	})
}
