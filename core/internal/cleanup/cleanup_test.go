package cleanup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// table is a store with leases that other processes share.
type table struct {
	store.VerificationTokenStore
	taken map[string]bool
	rows  int
	slow  bool  // DeleteExpired lasts until its deadline
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

func (s *table) DeleteExpired(ctx context.Context, before time.Time) (int, error) {
	if want := start.Add(-time.Hour); before.Before(want) || before.After(want.Add(time.Hour)) {
		return 0, errors.New("another time")
	}
	if s.slow {
		<-ctx.Done()
		return s.rows, ctx.Err()
	}
	return s.rows, s.err
}

// lines has the reports of runs as text.
type lines []string

func (l *lines) report(_ context.Context, r Report) {
	line := ""
	switch {
	case r.Err != nil:
		line = "failed: " + r.Err.Error()
	case r.Partly:
		line = fmt.Sprint("partly ", r.Attrs)
	default:
		line = fmt.Sprint(r.Attrs)
	}
	*l = append(*l, line)
}

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// TestRunIsSlow checks the report of a run that has no more time: it has deleted a part of the rows, or none.
func TestRunIsSlow(t *testing.T) {
	t.Parallel()
	for rows, want := range map[int]string{
		2: "partly [rows=2 left=unknown]",
		0: "failed: delete expired sessions and tokens (Config.CleanUp): context deadline exceeded",
	} {
		synctest.Test(t, func(t *testing.T) {
			var log lines
			s := New(&table{rows: rows, slow: true}, nil, nil, func() time.Time { return start }, log.report)
			s.run(start)
			if got := strings.Join(log, "|"); got != want {
				t.Errorf("%d rows: %q, want %q", rows, got, want)
			}
		})
	}
}

// TestRun checks what a run does and reports.
func TestRun(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, row := range map[string]struct {
		table table
		task  error
		want  string
	}{
		"deletes":       {table{rows: 3}, nil, "[rows=3]"},
		"fails":         {table{err: failed}, nil, "failed: delete expired sessions and tokens (Config.CleanUp): failed"},
		"no lease":      {table{lease: failed}, nil, "failed: start a clean-up: failed"},
		"another's":     {table{lease: store.ErrConflict}, nil, ""},
		"a failed task": {table{}, errors.New("task"), "[rows=0]|failed: task"},
	} {
		row.table.taken = map[string]bool{}
		log, ran := &lines{}, false
		s := New(&row.table, []Task{func(context.Context) error { ran = true; return row.task }}, &row.table,
			func() time.Time { return start }, log.report)
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
		New(nil, task, shared, func() time.Time { return start }, new(lines).report).run(start.Add(at))
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
