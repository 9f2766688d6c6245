package core

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

// The schedule of DeleteExpired (Config.CleanUp). A slot is an interval of the clock that is the same in all processes,
// and only one process runs in a slot. A run takes at most a tenth of its slot. Expired rows are deleted after
// cleanAfter, because the clocks of processes differ.
const (
	cleanSlot  = 10 * time.Minute
	cleanTime  = time.Minute
	cleanAfter = time.Hour
)

// cleanLease is the identifier of the verification tokens that mark slots as taken. It is not an email address, so no
// link can use them. They are deleted like other tokens.
const cleanLease = "latchkey:clean-up"

// cleaning deletes expired rows from the store, and runs the tasks of plugins. A request that writes a session, a token
// or an expiring record starts a run in the background if one is due, and so does every visit if there are tasks. So an
// Auth without requests has no goroutine, and none needs to be stopped. It is nil if Config.CleanUp is off and there
// are no tasks.
type cleaning struct {
	cleaner store.Cleaner // nil if Config.CleanUp is off
	tasks   []task
	leases  store.VerificationTokenStore // nil if each process runs on its own
	now     func() time.Time
	log     *reporter
	due     atomic.Int64 // when the next run may start, in Unix seconds
	running atomic.Bool
}

// task is periodic work of a plugin.
type task struct {
	plugin string
	run    func(ctx context.Context) error
}

// AddTask adds periodic work of the plugin, such as emails that are due. Core calls run in the background, about every
// ten minutes while the site has requests, and in one process at a time if the store stores verification tokens. run
// has a minute; it must be idempotent, because it can be called twice, or be interrupted. An error is logged.
func (h *PluginHost) AddTask(run func(ctx context.Context) error) {
	h.attaching("AddTask")
	h.plugins.tasks = append(h.plugins.tasks, task{h.plugin, run})
}

// endingRecords also starts runs after writes of records, because an application may store nothing else that expires.
type endingRecords struct {
	store.RecordStore
	cleaning *cleaning // set before the Auth is used
}

// cleanedBy sets the cleaning that writes of records start.
func (v stores) cleanedBy(c *cleaning) {
	if ending, ok := v.records.(*endingRecords); ok {
		ending.cleaning = c
	}
}

func (r *endingRecords) CreateRecord(ctx context.Context, record *store.Record) error {
	err := r.RecordStore.CreateRecord(ctx, record)
	r.wrote(record, err)
	return err
}

func (r *endingRecords) UpdateRecord(ctx context.Context, record *store.Record) error {
	err := r.RecordStore.UpdateRecord(ctx, record)
	r.wrote(record, err)
	return err
}

func (r *endingRecords) wrote(record *store.Record, err error) {
	if err == nil && !record.Expires.IsZero() {
		r.cleaning.perhaps()
	}
}

// randomOffset returns a random offset within a slot, in seconds, so that processes that start together do not run
// together. It is never zero, because a process that has just started has other work to do.
func randomOffset() int64 { return 1 + rand.Int64N(int64(cleanSlot/time.Second)) } //nolint:gosec // no secret

// slotOf returns the number of the slot that contains a time.
func slotOf(at time.Time) int64 { return at.Unix() / int64(cleanSlot/time.Second) }

// perhaps starts a run in the background if one is due and none is in progress.
func (c *cleaning) perhaps() {
	if c == nil {
		return
	}
	now := c.now()
	due := c.due.Load()
	if now.Unix() < due || !c.due.CompareAndSwap(due, (slotOf(now)+1)*int64(cleanSlot/time.Second)+randomOffset()) {
		return
	}
	if c.running.CompareAndSwap(false, true) {
		go c.run(now)
	}
}

// visited starts a run if there are tasks and one is due.
func (c *cleaning) visited() {
	if c != nil && len(c.tasks) > 0 {
		c.perhaps()
	}
}

// run calls DeleteExpired and the tasks once, unless another process has the slot.
func (c *cleaning) run(now time.Time) {
	defer c.running.Store(false)
	err := c.lease(context.Background(), now)
	switch {
	case errors.Is(err, errTaken):
		return
	case err != nil:
		c.log.failure(context.Background(), errorf(ErrStore, "start a clean-up: %w", err))
		return
	}
	if c.cleaner != nil {
		c.deleteExpired(now)
	}
	for _, t := range c.tasks {
		t.start(c.log)
	}
}

func (t task) start(log *reporter) {
	ctx, end := context.WithTimeout(context.Background(), cleanTime)
	defer end()
	if err := guard("task of "+t.plugin, func() error { return t.run(ctx) }); err != nil {
		log.failure(ctx, asError(err, ErrStore))
	}
}

// deleteExpired calls DeleteExpired. If its time runs out, the next run deletes the rest.
func (c *cleaning) deleteExpired(now time.Time) {
	ctx, end := context.WithTimeout(context.Background(), cleanTime)
	defer end()
	n, err := c.cleaner.DeleteExpired(ctx, now.Add(-cleanAfter))
	rows := slog.Int("rows", n)
	switch {
	case err == nil:
		c.log.debug(ctx, "expired sessions and tokens are deleted", rows)
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil && n > 0:
		c.log.info(ctx, "expired sessions and tokens are deleted in part, the rest in the next runs", rows, leftBy(err))
	default:
		c.log.failure(ctx, errorf(ErrStore, "delete expired sessions and tokens (Config.CleanUp): %w", err), rows)
	}
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

var errTaken = errors.New("another process cleans up in this slot")

// lease takes the slot for this process, or returns errTaken.
func (c *cleaning) lease(ctx context.Context, now time.Time) error {
	if c.leases == nil {
		return nil
	}
	slot := slotOf(now)
	err := c.leases.CreateVerificationToken(ctx, &store.VerificationToken{
		Identifier: cleanLease, Token: cleanLease + ":" + strconv.FormatInt(slot, 10),
		Expires: time.Unix((slot+1)*int64(cleanSlot/time.Second), 0).UTC(),
	})
	if errors.Is(err, ErrConflict) {
		return errTaken
	}
	return err
}
