package optimistic_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/keyvalue/optimistic"
)

// numbers is a database with one version for all its rows. meanwhile, if not nil, runs once before the next commit,
// like a concurrent call.
type numbers struct {
	rows      map[string]int
	version   int
	meanwhile func()
	commits   int
}

type view struct {
	rows    map[string]int // with the pending writes
	version int
}

var (
	errStale = errors.New("stale")
	errMany  = errors.New("too many attempts")
)

func (db *numbers) View() *view { return &view{maps.Clone(db.rows), db.version} }

func (db *numbers) Commit(_ context.Context, v *view) error {
	db.commits++
	if db.meanwhile != nil {
		change := db.meanwhile
		db.meanwhile = nil
		change()
	}
	if v.version != db.version {
		return errStale
	}
	db.rows = v.rows
	db.version++
	return nil
}

func (db *numbers) Again(_ context.Context, n int, err error) error {
	if errors.Is(err, errStale) && n >= 3 {
		return errMany
	}
	if errors.Is(err, errStale) {
		return nil
	}
	return err
}

func (db *numbers) Wait(ctx context.Context, _ int) error { return ctx.Err() }

func (db *numbers) Save(v *view) (restore func(*view)) {
	before := maps.Clone(v.rows)
	return func(v *view) { v.rows = before }
}

func (db *numbers) Same(a, b int) bool { return a == b }

func (db *numbers) Failed(_ context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", operation, err)
}

func (db *numbers) set(name string, n int) { db.rows[name] = n; db.version++ }

// add increases a row and returns its new value.
func add(name string) optimistic.Step[*view, int] {
	return func(_ context.Context, v *view) (int, error) {
		v.rows[name]++
		return v.rows[name], nil
	}
}

func newNumbers() *numbers { return &numbers{rows: map[string]int{}} }

func TestRun(t *testing.T) {
	db := newNumbers()
	db.meanwhile = func() { db.set("a", 41) }
	if n, err := optimistic.Run(t.Context(), db, add("a")); err != nil || n != 42 || db.rows["a"] != 42 {
		t.Errorf("after a conflict: %d, %v, %v", n, err, db.rows)
	}
	var always func()
	always = func() { db.set("b", 0); db.meanwhile = always }
	db.meanwhile = always
	if _, err := optimistic.Run(t.Context(), db, add("a")); !errors.Is(err, errMany) {
		t.Errorf("error %v, want the reason of Again", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	db.commits = 0
	if _, err := optimistic.Run(ended, db, add("a")); !errors.Is(err, context.Canceled) || db.commits != 0 {
		t.Errorf("an ended context: %v, %d commits", err, db.commits)
	}
}

// TestConflicts checks that a replay with the same results is not visible to the caller of a transaction, and that
// otherwise the caller runs again.
func TestConflicts(t *testing.T) {
	for name, c := range map[string]struct {
		changed string
		runs    int
		want    int
	}{
		"another row": {"other", 1, 1},
		"the row":     {"a", 2, 42},
	} {
		t.Run(name, func(t *testing.T) {
			db, runs := newNumbers(), 0
			db.meanwhile = func() { db.set(c.changed, 41) }
			err := optimistic.InTransaction(t.Context(), db, 5, func(tx *optimistic.Transaction[*view, int]) error {
				runs++
				_, err := tx.Run(t.Context(), add("a"))
				return err
			})
			if err != nil || runs != c.runs || db.rows["a"] != c.want || db.rows["other"]+db.rows["a"] < 42 {
				t.Errorf("%d runs, %v, %v", runs, db.rows, err)
			}
		})
	}
	db, runs := newNumbers(), 0
	err := optimistic.InTransaction(t.Context(), db, 5, func(tx *optimistic.Transaction[*view, int]) error {
		runs++
		db.meanwhile = func() { db.set("a", 10*runs) }
		_, err := tx.Run(t.Context(), add("a"))
		return err
	})
	if err == nil || runs != 5 {
		t.Errorf("%d runs, error %v: want 5 attempts", runs, err)
	}
}

func TestErrors(t *testing.T) {
	db, runs := newNumbers(), 0
	mine := errors.New("of the caller")
	var ended *optimistic.Transaction[*view, int]
	err := optimistic.InTransaction(t.Context(), db, 5, func(tx *optimistic.Transaction[*view, int]) error {
		runs++
		ended = tx
		_, err := tx.Run(t.Context(), add("a"))
		return errors.Join(err, mine)
	})
	if !errors.Is(err, mine) || runs != 1 || db.commits != 0 {
		t.Errorf("error %v, %d runs, %d commits", err, runs, db.commits)
	}
	if _, err := ended.Run(t.Context(), add("a")); err == nil {
		t.Error("a transaction that has ended runs a step")
	}
	if err := ended.Nested(t.Context(), func() error { return nil }); err == nil {
		t.Error("a transaction that has ended runs a nested one")
	}
}

// TestNested checks that a nested transaction that fails or panics undoes only its own writes, also after a conflict.
func TestNested(t *testing.T) {
	db := newNumbers()
	fails := func(context.Context, *view) (int, error) { return 0, store.ErrNotFound }
	err := optimistic.InTransaction(t.Context(), db, 5, func(tx *optimistic.Transaction[*view, int]) error {
		step := func(name string) error { _, err := tx.Run(t.Context(), add(name)); return err }
		err := step("outer")
		for _, end := range []func() error{
			func() error { _, err := tx.Run(t.Context(), fails); return err },
			func() error { panic("of the caller") },
		} {
			func() {
				defer func() { _ = recover() }()
				_ = tx.Nested(t.Context(), func() error { return errors.Join(step("undone"), end()) })
			}()
		}
		if n, err := tx.Run(t.Context(), add("undone")); n != 1 || err != nil {
			t.Errorf("the row of a failed transaction is %d, %v", n, err)
		}
		kept := tx.Nested(t.Context(), func() error { return step("kept") })
		db.meanwhile = func() { db.set("other", 1) }
		return errors.Join(err, kept)
	})
	if want := map[string]int{"outer": 1, "undone": 1, "kept": 1, "other": 1}; err != nil || !maps.Equal(db.rows, want) {
		t.Errorf("%v, want %v; error %v", db.rows, want, err)
	}
}
