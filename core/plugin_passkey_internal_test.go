package core

import (
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/internal/passkeys"
)

// TestMayCreate: only the user who has just signed in with a password gets a passkey without a prompt. An administrator
// who acts as the user gets none, because the passkey would stay with the administrator.
func TestMayCreate(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	session := func(change func(*Session)) *Session {
		s := &Session{UserID: "ada", Methods: []amr.Method{amr.Password}, AuthTime: now.Add(-time.Minute)}
		change(s)
		return s
	}
	for name, row := range map[string]struct {
		session *Session
		off     bool
		want    bool
	}{
		"just signed in":   {session: session(func(*Session) {}), want: true},
		"turned off":       {session: session(func(*Session) {}), off: true},
		"no session":       {},
		"with a provider":  {session: session(func(s *Session) { s.Methods = []amr.Method{amr.Federated} })},
		"six minutes ago":  {session: session(func(s *Session) { s.AuthTime = now.Add(-6 * time.Minute) })},
		"an impersonation": {session: session(func(s *Session) { s.Actor = "root" })},
	} {
		ceremonies := passkeys.New(passkeys.Settings{}, func() time.Time { return now }, nil, func(string, ...any) {})
		f := &passkeyFlow{webAuthn: &webAuthn{ceremonies: ceremonies}, plugins: &plugins{}}
		if row.off {
			f.ConditionalCreate = False
		}
		if got := f.mayCreate(row.session); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}
