// Package cleanup deletes expired rows from a store, and runs periodic tasks, in the background of requests. Processes
// that share a store take turns.
package cleanup

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// The schedule. A slot is an interval of the clock that is the same in all processes, and only one process runs in a
// slot. A run takes at most a tenth of its slot. Expired rows are deleted after margin, because the clocks of processes
// differ.
const (
	slotLength = 10 * time.Minute
	runTime    = time.Minute
	margin     = time.Hour
)

// lease is the identifier of the verification tokens that mark slots as taken. It is not an email address, so no link
// can use them. They are deleted like other tokens.
const lease = "latchkey:clean-up"

// Task is periodic work. It must be idempotent, because it can be called twice, or be interrupted.
type Task func(ctx context.Context) error

// Report is the result of a run or a task.
type Report struct {
	// Err is the failure. If it is nil, rows were deleted.
	Err error
	// Partly means that the time of the run was not enough for all rows.
	Partly bool
	// Attrs have the numbers of rows.
	Attrs []slog.Attr
}

// Schedule starts runs. A request that writes a session, a token or an expiring record starts one in the background if
// it is due, and so does every visit if there are tasks. So an application without requests has no goroutine, and none
// needs to be stopped. A nil *Schedule does nothing.
type Schedule struct {
	cleaner store.Cleaner // nil: no rows are deleted
	tasks   []Task
	leases  store.VerificationTokenStore // nil if each process runs on its own
	now     func() time.Time
	report  func(ctx context.Context, r Report)
	due     atomic.Int64 // when the next run may start, in Unix seconds
	running atomic.Bool
}

// New returns a schedule, or nil if there is nothing to do. cleaner and leases may be nil.
func New(
	cleaner store.Cleaner, tasks []Task, leases store.VerificationTokenStore, now func() time.Time,
	report func(ctx context.Context, r Report),
) *Schedule {
	if cleaner == nil && len(tasks) == 0 {
		return nil
	}
	s := &Schedule{cleaner: cleaner, tasks: tasks, leases: leases, now: now, report: report}
	s.due.Store(now().Unix() + randomOffset())
	return s
}

// randomOffset returns a random offset within a slot, in seconds, so that processes that start together do not run
// together. It is never zero, because a process that has just started has other work to do.
func randomOffset() int64 { return 1 + rand.Int64N(int64(slotLength/time.Second)) } //nolint:gosec // no secret

// slotOf returns the number of the slot that contains a time.
func slotOf(at time.Time) int64 { return at.Unix() / int64(slotLength/time.Second) }

// Perhaps starts a run in the background if one is due and none is in progress.
func (s *Schedule) Perhaps() {
	if s == nil {
		return
	}
	now := s.now()
	due := s.due.Load()
	if now.Unix() < due || !s.due.CompareAndSwap(due, (slotOf(now)+1)*int64(slotLength/time.Second)+randomOffset()) {
		return
	}
	if s.running.CompareAndSwap(false, true) {
		go s.run(now)
	}
}

// Visited starts a run if there are tasks and one is due.
func (s *Schedule) Visited() {
	if s != nil && len(s.tasks) > 0 {
		s.Perhaps()
	}
}

// run calls DeleteExpired and the tasks once, unless another process has the slot.
func (s *Schedule) run(now time.Time) {
	defer s.running.Store(false)
	err := s.takeSlot(context.Background(), now)
	switch {
	case errors.Is(err, store.ErrConflict):
		return
	case err != nil:
		s.report(context.Background(), Report{Err: &runError{"start a clean-up: ", err}})
		return
	}
	if s.cleaner != nil {
		s.deleteExpired(now)
	}
	for _, task := range s.tasks {
		s.call(task)
	}
}

// runError adds to an error what failed.
type runError struct {
	what string
	err  error
}

func (e *runError) Error() string { return e.what + e.err.Error() }
func (e *runError) Unwrap() error { return e.err }

func (s *Schedule) call(task Task) {
	ctx, end := context.WithTimeout(context.Background(), runTime)
	defer end()
	if err := task(ctx); err != nil {
		s.report(ctx, Report{Err: err})
	}
}

// deleteExpired calls DeleteExpired. If its time runs out, the next run deletes the rest.
func (s *Schedule) deleteExpired(now time.Time) {
	ctx, end := context.WithTimeout(context.Background(), runTime)
	defer end()
	n, err := s.cleaner.DeleteExpired(ctx, now.Add(-margin))
	r := Report{Attrs: []slog.Attr{slog.Int("rows", n)}}
	switch {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil && n > 0:
		r.Partly, r.Attrs = true, append(r.Attrs, leftBy(err))
	default:
		r.Err = &runError{"delete expired sessions and tokens (Config.CleanUp): ", err}
	}
	s.report(ctx, r)
}

// leftBy returns the number of rows that a run did not delete, as far as the store has counted them.
func leftBy(err error) slog.Attr {
	var left *store.LeftError
	switch {
	case !errors.As(err, &left):
		return slog.String("left", "unknown")
	case left.More:
		return slog.String("left", "at least "+strconv.Itoa(left.Rows))
	}
	return slog.Int("left", left.Rows)
}

// takeSlot takes the slot for this process. The error is store.ErrConflict if another process has it.
func (s *Schedule) takeSlot(ctx context.Context, now time.Time) error {
	if s.leases == nil {
		return nil
	}
	slot := slotOf(now)
	return s.leases.CreateVerificationToken(ctx, &store.VerificationToken{
		Identifier: lease, Token: lease + ":" + strconv.FormatInt(slot, 10),
		Expires: time.Unix((slot+1)*int64(slotLength/time.Second), 0).UTC(),
	})
}

// Records also starts runs after writes of records, because an application may store nothing else that expires.
type Records struct {
	store.RecordStore
	// Schedule must be set before the first write.
	Schedule *Schedule
}

// CreateRecord implements [store.RecordStore].
func (r *Records) CreateRecord(ctx context.Context, record *store.Record) error {
	err := r.RecordStore.CreateRecord(ctx, record)
	r.wrote(record, err)
	return err
}

// UpdateRecord implements [store.RecordStore].
func (r *Records) UpdateRecord(ctx context.Context, record *store.Record) error {
	err := r.RecordStore.UpdateRecord(ctx, record)
	r.wrote(record, err)
	return err
}

func (r *Records) wrote(record *store.Record, err error) {
	if err == nil && !record.Expires.IsZero() {
		r.Schedule.Perhaps()
	}
}
