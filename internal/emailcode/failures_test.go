package emailcode

import (
	"context"
	"errors"
	"testing"

	"github.com/latchkey-go/latchkey/internal/recordstore"
)

var errDown = errors.New("the store is down")

// fullShelf cannot write budgets while down is set.
type fullShelf struct {
	*shelf
	down bool
}

func (s *fullShelf) UpdateRecord(ctx context.Context, r *recordstore.Record) error {
	if s.down && r.Kind == budgetKind {
		return errDown
	}
	return s.shelf.UpdateRecord(ctx, r)
}

// TestCodeAfterFailures: a right code is not used up if its try cannot be given back. A code that was restored works
// again, with the number of tries that it had before.
func TestCodeAfterFailures(t *testing.T) {
	d := newDesk(t)
	s := &fullShelf{shelf: d.shelf}
	d.Records = s
	code, key := d.issue(adas)
	s.down = true
	if _, err := d.Check(t.Context(), "sign-in", key, code); !errors.Is(err, errDown) {
		t.Errorf("error %v", err)
	}
	s.down = false
	for range tries + 1 {
		found, err := d.Check(t.Context(), "sign-in", key, code)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Restore(t.Context(), found); err != nil {
			t.Fatal(err)
		}
	}
	d.want("sign-in", key, code, "right")
	d.want("sign-in", key, code, "expired")
}
