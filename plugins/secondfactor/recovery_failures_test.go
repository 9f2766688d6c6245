package secondfactor_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/internal/flaky"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestRecoveryCodeAfterFailures: if the store fails after a recovery code was used up, the code works again in the next
// attempt.
func TestRecoveryCodeAfterFailures(t *testing.T) {
	for _, path := range []string{"second-factor", "second-factor/verify"} {
		t.Run(path, func(t *testing.T) {
			var calls []string
			failures := 0
			for n := -1; n < len(calls); n++ {
				f := &flaky.Failing{}
				s := newSite(t, setup{configure: func(c *core.Config) { f.Store = c.Store.(*memory.Store); c.Store = f }})
				b := s.as(ada)
				codes := b.enroll().codes
				if path == "second-factor" {
					b = s.browse()
					b.held(b.signIn(ada))
				}
				b.ask("csrf")
				f.Fail = flaky.After("DeleteRecord recovery", n, func(call string) {
					if n < 0 {
						calls = append(calls, call)
					}
				})
				r := b.call(path, "code", codes[0])
				f.Fail = nil
				if r.Status < 500 { // the call is not necessary
					b.fine(r, 200, nil)
					continue
				}
				failures++
				if again := b.call(path, "code", codes[0]); again.Status != 200 {
					t.Errorf("after a failing %s, the code is answered %d %s", calls[n], again.Status, again.Body)
				}
			}
			if failures == 0 {
				t.Errorf("no failure of %q", calls)
			}
		})
	}
}
