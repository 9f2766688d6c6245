package password_test

import (
	"context"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
)

// TestMovedDuringAReset: during a reset, while the password is checked and hashed, the owner of the link takes over
// another person's address in a profile that the application lets them edit. The link verifies only the address that it
// was sent to.
func TestMovedDuringAReset(t *testing.T) {
	t.Parallel()
	var w *world
	moved := false
	w = site(t, func(o *password.Options, _ *core.Config) {
		o.Breached = func(ctx context.Context, p core.Secret) (bool, error) {
			if string(p) != better {
				return false, nil
			}
			u := w.user(ada)
			u.Email, u.EmailVerified = "victim@example.com", time.Time{}
			_, err := w.store.UpdateUser(ctx, u)
			moved = err == nil
			return false, err
		}
	})
	w.signUp(ada, good)
	b := w.open(w.forgot(ada))
	says(t, b.post("password/reset", "newPassword", better), 400, "link_invalid")
	if u := w.user("victim@example.com"); !moved || u == nil || !u.EmailVerified.IsZero() {
		t.Errorf("moved %v; the user is %v", moved, u)
	}
	if w.signIn("victim@example.com", better) != "" {
		t.Error("the reset has set a password")
	}
}
