package secondfactor

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestFirstFactorOnce adds the app of a sign-in that requires enrollment after the owner has enrolled another one: the
// attacker's request has passed all earlier checks.
func TestFirstFactorOnce(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	f := New(Options{})
	if _, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: memory.New(),
		Now: func() time.Time { return now }, Logger: slog.New(slog.DiscardHandler),
		Getenv: func(string) string { return "" }, Plugins: []core.Plugin{f},
	}); err != nil {
		t.Fatal(err)
	}
	states := f.handlers.states
	owner, attacker := &totpKey{Secret: []byte("the owner's secret")}, &totpKey{Secret: []byte("another secret here")}
	add := func(k *totpKey, first bool) error {
		_, err := states.update(t.Context(), "ada", states.adding("ada", k, app{}, k.code(k.step(now)), first))
		return err
	}
	if err := add(owner, true); err != nil {
		t.Fatal(err)
	}
	if err := add(attacker, true); !errors.Is(err, errEnrolled) {
		t.Errorf("the attacker's app: %v", err)
	}
	if err := add(attacker, false); err != nil {
		t.Errorf("a second app of the owner: %v", err)
	}
}
