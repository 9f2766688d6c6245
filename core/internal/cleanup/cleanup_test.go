package cleanup

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// table is a store with leases that other processes share.
type table struct {
	store.VerificationTokenStore
	taken map[string]bool
	rows  int
	err   error // of DeleteExpired
	lease error
}

func (s *table) CreateVerificationToken(_ context.Context, token *store.VerificationToken) error {
	if s.lease != nil {
		return s.lease
	}
	if s.taken[token.Token] {
		return store.ErrConflict
	}
	s.taken[token.Token] = true
	return nil
}

func (s *table) DeleteExpired(_ context.Context, before time.Time) (int, error) {
	if want := start.Add(-time.Hour); before.Before(want) || before.After(want.Add(time.Hour)) {
		return 0, errors.New("another time")
	}
	return s.rows, s.err
}

// lines is a Log.
type lines []string

func (l *lines) Failed(_ context.Context, err error, _ ...slog.Attr) {
	*l = append(*l, "failed: "+err.Error())
}
func (l *lines) Deleted(_ context.Context, rows slog.Attr) { *l = append(*l, rows.String()) }
func (l *lines) DeletedPart(_ context.Context, rows, left slog.Attr) {
	*l = append(*l, rows.String()+" "+left.String())
}

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// TestRun checks what a run does and reports.
func TestRun(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, row := range map[string]struct {
		table table
		task  error
		want  string
	}{
		"deletes":       {table{rows: 3}, nil, "rows=3"},
		"fails":         {table{err: failed}, nil, "failed: delete expired sessions and tokens (Config.CleanUp): failed"},
		"no lease":      {table{lease: failed}, nil, "failed: start a clean-up: failed"},
		"another's":     {table{lease: store.ErrConflict}, nil, ""},
		"a failed task": {table{}, errors.New("task"), "rows=0|failed: task"},
	} {
		row.table.taken = map[string]bool{}
		log, ran := &lines{}, false
		s := New(&row.table, []Task{func(context.Context) error { ran = true; return row.task }}, &row.table,
			func() time.Time { return start }, log)
		s.run(start)
		if got := strings.Join(*log, "|"); got != row.want || ran != (row.table.lease == nil) {
			t.Errorf("%s: %q, task ran: %v", name, got, ran)
		}
	}
}

// TestSlots checks that one process runs in a slot, and that a later slot has its own run.
func TestSlots(t *testing.T) {
	t.Parallel()
	shared := &table{taken: map[string]bool{}}
	runs := 0
	task := []Task{func(context.Context) error { runs++; return nil }}
	for i, minutes := range []time.Duration{0, 1, 9, 10, 19, 20} {
		at := minutes * time.Minute
		New(nil, task, shared, func() time.Time { return start }, &lines{}).run(start.Add(at))
		if want := 1 + int(at/(10*time.Minute)); runs != want {
			t.Errorf("run %d: %d runs, want %d", i, runs, want)
		}
	}
}

// TestLeft checks what the log says about the rows that are left.
func TestLeft(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"left=unknown": errors.New("x"), "left=5": &store.LeftError{Rows: 5},
		"left=at least 5": &store.LeftError{Rows: 5, More: true},
	} {
		if got := leftBy(err).String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestNothingToDo checks that there is no schedule without work.
func TestNothingToDo(t *testing.T) {
	t.Parallel()
	s := New(nil, nil, nil, time.Now, nil)
	if s.Perhaps(); s != nil {
		t.Error("a schedule")
	}
	s.Visited()
}
