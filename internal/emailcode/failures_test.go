package emailcode

import (
	"context"
	"errors"
	"testing"

	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// fullShelf cannot write budgets while down is set.
type fullShelf struct {
	*shelf
	down bool
}

func (s *fullShelf) UpdateRecord(ctx context.Context, r *recordstore.Record) error {
	if s.down && r.Kind == budgetKind {
		return errors.New("the store is down")
	}
	return s.shelf.UpdateRecord(ctx, r)
}

// TestCodeAfterFailures: a right code is accepted if its try cannot be given back. A code that was restored works once
// more, with as many tries as before.
func TestCodeAfterFailures(t *testing.T) {
	d := newDesk(t)
	s := &fullShelf{shelf: d.shelf}
	d.Records = s
	code, key := d.issue(adas)
	d.shelf.before["delete "+kind] = func() { s.down = true }
	for range tries + 1 {
		found, err := d.Check(t.Context(), "sign-in", key, code)
		if err != nil {
			t.Fatal(err)
		}
		s.down = false
		if err := d.Restore(t.Context(), found); err != nil {
			t.Fatal(err)
		}
	}
	d.want("sign-in", key, code, "right")
	d.want("sign-in", key, code, "expired")
}
