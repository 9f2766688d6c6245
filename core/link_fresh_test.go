package core_test

import (
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// careful is a part that lets accounts be linked shortly after a proof alone.
type careful time.Duration

func (d careful) Attach(h *core.Host) error { h.FreshLinks(time.Duration(d)); return nil }

// TestFreshLinks: whoever comes upon an open session adds no account and no passkey of their own to its user, where a
// part asks for it. The owner proves again who they are, and then does.
func TestFreshLinks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		parts  []core.Part
		waits  time.Duration
		before string // an account that is used again first
		linked bool
	}{
		{"nobody asks", nil, time.Hour, "", true},
		{"at once", []core.Part{careful(time.Minute)}, 0, "", true},
		{"at the last moment", []core.Part{careful(time.Minute)}, time.Minute, "", true},
		{"later", []core.Part{careful(time.Minute)}, time.Minute + time.Second, "", false},
		{"the shortest time counts", []core.Part{careful(time.Hour), careful(time.Minute), careful(time.Hour)},
			2 * time.Minute, "", false},
		{"later, after a new proof", []core.Part{careful(time.Minute)}, time.Hour, "s1", true},
	} {
		for _, strategy := range bothStrategies {
			for _, passkey := range []bool{false, true} {
				name := map[bool]string{true: ", a passkey", false: ", an account"}[passkey]
				t.Run(row.name+", "+string(strategy)+name, func(t *testing.T) {
					t.Parallel()
					w := newTown(t, power{true, true, true, true}, strategy, func(c *core.Config) { c.Parts = row.parts },
						reauthenticating)
					b := w.browser()
					id := w.signedIn(b, w.through(b, "plain", "s1", victim, ""))
					w.app.clock.Advance(row.waits)
					if row.before != "" {
						w.through(b, "plain", row.before, victim, "")
					}
					if passkey {
						w.passkey(b, "action=register&email="+victim, "register", "key")
					} else {
						w.through(b, "vouching", "s2", stranger, vouched)
					}
					accounts := 0
					for _, a := range w.accounts {
						if a.UserID == id {
							accounts++
						}
					}
					if linked := accounts == 2; linked != row.linked || len(w.users) != 1 {
						t.Errorf("linked: %v, want %v; %d users", linked, row.linked, len(w.users))
					}
					if who := w.who(b); who != id {
						t.Errorf("the session is %q's afterwards, was %q's", who, id)
					}
				})
			}
		}
	}
}
