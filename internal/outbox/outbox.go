// Package outbox is a queue of jobs that run in the background, are tried again if they fail, and survive the end of
// the process if the store can list records.
//
// A job is stored in a record before it runs. A record belongs to one process at a time: the one that wrote it, or the
// one that has claimed it since by compare-and-set. A claim ends after [ClaimFor]. Then any process claims the job when
// it looks for jobs that are due, and so do the jobs of a process that was killed. A process that is killed after a job
// has succeeded, and before its record is deleted, runs the job twice, with the same key.
//
// A job that announces a change is stored before the change, as planned, and confirmed after it. If the process ends in
// between, another one asks whether the change was made.
package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/internal/recordstore"
)

const (
	// ClaimFor is the duration of a claim.
	ClaimFor = 2 * time.Minute
	pageSize = 100
	// timerFor is the longest wait that ends with a timer if [Config].Release is set. Longer waits end with
	// [Queue.Collect].
	timerFor = 330 * time.Second
)

// Config configures a queue.
type Config struct {
	// Kind is the kind of the records.
	Kind string
	// Records and List are the store. If one of them is nil, jobs are in memory only.
	Records Records
	List    List
	Now     func() time.Time
	// Lifetime is that of a record. Slack is the minimum remaining time of a claim when an attempt begins.
	Lifetime, Slack time.Duration
	// Retries are the waits between the attempts. A random tenth is added.
	Retries []time.Duration
	// Release makes stored jobs leave the memory, and their lane, while they wait for another attempt.
	Release bool
	// Lane returns the lane of a key: a prefix of the key, or "" if the key is malformed. Each lane has its own senders,
	// so that it cannot delay the others.
	Lane func(key string) (prefix string, limits Limits)
}

// Records are the methods of store.RecordStore that a queue calls.
type Records interface {
	CreateRecord(ctx context.Context, r *recordstore.Record) error
	Record(ctx context.Context, kind, key string) (*recordstore.Record, error)
	UpdateRecord(ctx context.Context, r *recordstore.Record) error
	DeleteRecord(ctx context.Context, kind, key string) (*recordstore.Record, error)
}

// List lists the records of a kind, as store.RecordLister does.
type List = func(ctx context.Context, kind, prefix, cursor string, limit int) (
	list []*recordstore.Record, next string, err error)

// Limits are those of a lane: of concurrent attempts, and of jobs in memory.
type Limits struct{ Senders, Capacity int }

// Quota is the maximum number of jobs with one key in a lane.
type Quota struct {
	Key  string
	Most int
}

// Handler runs the jobs of a queue. Its methods are called concurrently.
type Handler[T any] interface {
	// Encode returns the JSON to store for a job, and Decode its inverse.
	Encode(value T) (json.RawMessage, error)
	Decode(key string, data json.RawMessage) (T, error)
	// Send makes one attempt. An error of [Final] is not tried again. An error of [Later] is no attempt.
	Send(j *Job[T]) error
	// Retrying logs that an attempt failed. Send is called again after wait.
	Retrying(j *Job[T], err error, wait time.Duration)
	// GiveUp is called after the last attempt. It calls [Queue.Remove].
	GiveUp(j *Job[T], err error)
	// Made reports whether the change of a planned job was made.
	Made(j *Job[T]) (bool, error)
	// Warn logs that the record of a job was not updated, and Fail that a stored job cannot be used.
	Warn(j *Job[T], err error)
	Fail(ctx context.Context, err error)
}

// Job is a job of a queue. Its exported fields must not change after it was added, except Attempts.
type Job[T any] struct {
	// Key is unique: the prefix of its lane, and an ID.
	Key   string
	Value T
	// Context is that of its attempts. It has no deadline.
	Context context.Context
	// Attempts is the number of failed attempts.
	Attempts int
	// Checkable reports that [Handler].Made can report whether the planned change was made.
	Checkable bool

	lane    *lane[T]
	quotas  []Quota
	record  *recordstore.Record // nil if the job is in memory only
	stored  stored
	claimed time.Time // end of the claim
}

// Stored reports whether the job is in the store, and when its record expires.
func (j *Job[T]) Stored() (expires time.Time, ok bool) {
	if j.record == nil {
		return time.Time{}, false
	}
	return j.record.Expires, true
}

// stored is the value of a record.
type stored struct {
	// Due is when the next attempt may begin, or when the current claim ends, in Unix milliseconds.
	Due      int64           `json:"due"`
	Attempts int             `json:"attempts,omitempty"`
	Data     json.RawMessage `json:"data"`
	// Planned reports that the change that the job announces has not been made yet.
	Planned bool `json:"planned,omitempty"`
}

// until sets Due and returns the value of the record.
func (s *stored) until(due time.Time) (json.RawMessage, error) {
	s.Due = due.UnixMilli()
	return json.Marshal(s)
}

type final struct{ error }

func (e final) Unwrap() error { return e.error }

// Final marks an error of [Handler].Send, after which a job is given up.
func Final(err error) error { return final{err} }

type later struct{ error }

func (e later) Unwrap() error { return e.error }

// Later marks an error of [Handler].Send that says nothing about the job, for example one of the store. The job is run
// again when its claim has ended. It must be stored.
func Later(err error) error { return later{err} }

var (
	errClaimed = errors.New("another process has claimed the job")
	errFull    = errors.New("the lane is full")
)

// Queue is a queue. Its goroutines end when no job waits.
type Queue[T any] struct {
	config  Config
	handler Handler[T]

	mu       sync.Mutex
	lanes    map[string]*lane[T] // those with jobs, by prefix
	held     map[string]bool     // keys of the stored jobs in memory
	total    int                 // jobs that are not finished
	idle     chan struct{}       // closed while total is zero
	flushing int
	hurry    chan struct{} // closed while a flush is in progress
}

// lane is a queue with its own senders. Queue.mu guards it.
type lane[T any] struct {
	Limits
	prefix        string
	ready         []*Job[T]
	working, held int // held is the number of jobs that wait, run, or wait for another attempt
	counts        map[string]int
}

// New returns a queue.
func New[T any](c Config, h Handler[T]) *Queue[T] {
	if c.List == nil {
		c.Records = nil
	}
	q := &Queue[T]{
		config: c, handler: h, lanes: map[string]*lane[T]{}, held: map[string]bool{}, idle: make(chan struct{}),
		hurry: make(chan struct{}),
	}
	close(q.idle)
	return q
}

// Persistent reports whether jobs are stored.
func (q *Queue[T]) Persistent() bool { return q.config.Records != nil }

// reserve counts a job in its lane. It reports false if the lane or one of the job's quotas is full, or if the job is
// in memory already.
func (q *Queue[T]) reserve(j *Job[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	prefix, limits := q.config.Lane(j.Key)
	l := q.lanes[prefix]
	if l == nil {
		l = &lane[T]{Limits: limits, prefix: prefix, counts: map[string]int{}}
	}
	if l.held >= l.Capacity || q.held[j.Key] {
		return false
	}
	for _, quota := range j.quotas {
		if l.counts[quota.Key] >= quota.Most {
			return false
		}
	}
	for _, quota := range j.quotas {
		l.counts[quota.Key]++
	}
	if q.total == 0 {
		q.idle = make(chan struct{})
	}
	q.total++
	l.held++
	j.lane, q.lanes[prefix], q.held[j.Key] = l, l, true
	return true
}

// finish removes a job from the counts of its lane.
func (q *Queue[T]) finish(j *Job[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := j.lane
	delete(q.held, j.Key)
	for _, quota := range j.quotas {
		if l.counts[quota.Key]--; l.counts[quota.Key] <= 0 {
			delete(l.counts, quota.Key)
		}
	}
	if l.held--; l.held == 0 {
		delete(q.lanes, l.prefix)
	}
	if q.total--; q.total == 0 {
		close(q.idle)
	}
}

// Add stores a job and queues it. It reports false if its lane or one of the quotas is full. If the job cannot be
// stored, it is in memory only.
func (q *Queue[T]) Add(j *Job[T], quotas ...Quota) bool {
	j.quotas = quotas
	if !q.reserve(j) {
		return false
	}
	if j.record == nil {
		if err := q.put(j.Context, q.config.Records, j, q.claimEnd()); err != nil {
			q.handler.Warn(j, err)
		}
	}
	q.ready(j)
	return true
}

// AddOrSend is [Queue.Add], but a job that does not fit in the queue runs before AddOrSend returns.
func (q *Queue[T]) AddOrSend(j *Job[T], quotas ...Quota) {
	if q.Add(j, quotas...) {
		return
	}
	if err := q.handler.Send(j); err != nil {
		q.handler.GiveUp(j, err)
		return
	}
	q.Remove(j)
}

// AddStored stores a job and queues it. A job that does not fit in the queue stays in the store until [Queue.Collect].
// AddStored does nothing if a job with this key is in the store.
func (q *Queue[T]) AddStored(j *Job[T]) error {
	due, fits := q.config.Now(), q.reserve(j)
	if fits {
		due = q.claimEnd()
	}
	err := q.put(j.Context, q.config.Records, j, due)
	switch {
	case err == nil && fits:
		q.ready(j)
		return nil
	case errors.Is(err, recordstore.ErrConflict):
		err = nil
	}
	if fits {
		q.finish(j)
	}
	return err
}

// ready makes a job available to the senders of its lane.
func (q *Queue[T]) ready(j *Job[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.lane.ready = append(j.lane.ready, j)
	if j.lane.working < j.lane.Senders {
		j.lane.working++
		go q.work(j.lane)
	}
}

// work runs jobs until none is ready.
func (q *Queue[T]) work(l *lane[T]) {
	for {
		q.mu.Lock()
		if len(l.ready) == 0 {
			l.working--
			l.ready = nil
			q.mu.Unlock()
			return
		}
		next := l.ready[0]
		l.ready[0] = nil
		l.ready = l.ready[1:]
		q.mu.Unlock()
		q.attempt(next)
	}
}

// attempt runs a job, and on failure schedules the next attempt or gives up.
func (q *Queue[T]) attempt(j *Job[T]) {
	err := q.claim(j)
	if errors.Is(err, errClaimed) {
		q.finish(j)
		return
	}
	if err == nil {
		err = q.handler.Send(j)
	}
	switch {
	case err == nil:
		q.Remove(j)
		q.finish(j)
		return
	case errors.As(err, new(later)):
		q.handler.Warn(j, err)
		q.finish(j)
		return
	case j.Attempts >= len(q.config.Retries), errors.As(err, new(final)):
		q.handler.GiveUp(j, err)
		q.finish(j)
		return
	}
	wait := q.config.Retries[j.Attempts]
	wait += time.Duration(rand.Int64N(int64(wait)/10 + 1)) //nolint:gosec // no secret
	q.handler.Retrying(j, err, wait)
	j.Attempts++
	q.postpone(j, wait)
	if !q.config.Release || j.record == nil {
		go q.retry(j, wait)
		return
	}
	q.finish(j)
	if wait <= timerFor {
		time.AfterFunc(wait, func() { q.collectOne(j.Context, j.Key) })
	}
}

// retry makes a job available again after a wait. A flush ends the wait. It leaves a stored job to the next process, so
// that a shutdown does not wait for a server that does not respond.
func (q *Queue[T]) retry(j *Job[T], wait time.Duration) {
	q.mu.Lock()
	hurry := q.hurry
	q.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-hurry:
		if j.record != nil && wait > 0 {
			q.postpone(j, 0)
			q.finish(j)
			return
		}
	}
	q.ready(j)
}

// Flush waits until no job waits or runs.
func (q *Queue[T]) Flush(ctx context.Context) error {
	q.mu.Lock()
	if q.flushing++; q.flushing == 1 {
		close(q.hurry)
	}
	idle := q.idle
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.flushing--; q.flushing == 0 {
			q.hurry = make(chan struct{})
		}
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Plan stores a job before its change. records is the store of a transaction that makes the change, or nil. If jobs are
// in memory only, Plan does nothing.
func (q *Queue[T]) Plan(ctx context.Context, records Records, j *Job[T]) error {
	if !q.Persistent() {
		return nil
	}
	if records == nil {
		records = q.config.Records
	}
	j.stored.Planned = true
	return q.put(ctx, records, j, q.claimEnd())
}

// Cancel deletes a planned job, because its change was not made. If unknown is true and [Job].Checkable is set, the job
// stays: a process that looks for jobs that are due decides.
func (q *Queue[T]) Cancel(j *Job[T], unknown bool) {
	if j.record != nil && (!unknown || !j.Checkable) {
		q.Remove(j)
	}
}

// Confirm queues a planned job whose change was made, as [Queue.AddOrSend] does. If the change took so long that
// another process may have judged the job, it is stored again.
func (q *Queue[T]) Confirm(j *Job[T], quotas ...Quota) {
	j.stored.Planned = false
	if j.record != nil && !q.config.Now().Before(j.claimed) {
		j.record = nil
	}
	q.AddOrSend(j, quotas...)
}

func (q *Queue[T]) claimEnd() time.Time { return q.config.Now().Add(ClaimFor) }

// put stores a job that this process has claimed until due. It does nothing if jobs are in memory only.
func (q *Queue[T]) put(ctx context.Context, records Records, j *Job[T], due time.Time) (err error) {
	if !q.Persistent() {
		return nil
	}
	if j.stored.Data, err = q.handler.Encode(j.Value); err != nil {
		return err
	}
	r := &recordstore.Record{Kind: q.config.Kind, Key: j.Key, Expires: q.config.Now().Add(q.config.Lifetime)}
	if r.Value, err = j.stored.until(due); err != nil {
		return err
	}
	if err := records.CreateRecord(ctx, r); err != nil {
		return err
	}
	j.record, j.claimed = r, due
	return nil
}

// claim makes sure that no other process runs the job during one attempt. It returns errClaimed if another one may.
func (q *Queue[T]) claim(j *Job[T]) error {
	if j.record == nil || q.config.Now().Add(q.config.Slack).Before(j.claimed) {
		return nil
	}
	return q.write(j, q.claimEnd())
}

// postpone ends the claim. The next attempt begins after the wait, in any process.
func (q *Queue[T]) postpone(j *Job[T], wait time.Duration) {
	if j.record == nil {
		return
	}
	j.stored.Attempts = j.Attempts
	if err := q.write(j, q.config.Now().Add(wait)); err != nil && !errors.Is(err, errClaimed) {
		q.handler.Warn(j, err)
	}
	j.claimed = time.Time{}
}

func (q *Queue[T]) write(j *Job[T], due time.Time) (err error) {
	if j.record.Value, err = j.stored.until(due); err != nil {
		return err
	}
	switch err := q.config.Records.UpdateRecord(j.Context, j.record); {
	case errors.Is(err, recordstore.ErrConflict), errors.Is(err, recordstore.ErrNotFound):
		return errClaimed
	case err != nil:
		return fmt.Errorf("claim: %w", err)
	}
	j.claimed = due
	return nil
}

// Remove deletes the record of a job that has succeeded or was given up.
func (q *Queue[T]) Remove(j *Job[T]) {
	if j.record == nil {
		return
	}
	_, err := q.config.Records.DeleteRecord(j.Context, q.config.Kind, j.Key)
	if err != nil && !errors.Is(err, recordstore.ErrNotFound) {
		q.handler.Warn(j, err)
	}
}

// Collect claims the stored jobs that are due, of keys with a prefix, and adds them to their lanes. If a lane is full,
// its jobs stay in the store.
func (q *Queue[T]) Collect(ctx context.Context, prefix string) error {
	for cursor := ""; q.Persistent(); {
		list, next, err := q.config.List(ctx, q.config.Kind, prefix, cursor, pageSize)
		if err != nil {
			return err
		}
		for _, r := range list {
			switch err := q.adopt(ctx, r); {
			case errors.Is(err, errFull):
				if lane, _ := q.config.Lane(r.Key); lane == prefix { // the others do not fit either
					return nil
				}
			case err != nil && !errors.Is(err, errClaimed):
				q.handler.Fail(ctx, err)
			}
		}
		if next == "" { // a page can have fewer records than the limit although another one follows
			return nil
		}
		cursor = next
	}
	return nil
}

// collectOne is Collect for one job.
func (q *Queue[T]) collectOne(ctx context.Context, key string) {
	r, err := q.config.Records.Record(ctx, q.config.Kind, key)
	if err == nil {
		err = q.adopt(ctx, r)
	}
	for _, expected := range []error{recordstore.ErrNotFound, errFull, errClaimed} {
		if errors.Is(err, expected) {
			return
		}
	}
	if err != nil {
		q.handler.Fail(ctx, err)
	}
}

// adopt claims the job of a record, if it is due, and adds it to its lane.
func (q *Queue[T]) adopt(ctx context.Context, r *recordstore.Record) error {
	q.mu.Lock()
	held := q.held[r.Key]
	q.mu.Unlock()
	j := &Job[T]{Key: r.Key, Context: context.WithoutCancel(ctx), record: r} // it runs after Collect has returned
	prefix, _ := q.config.Lane(r.Key)
	now := q.config.Now()
	if prefix == "" || held || json.Unmarshal(r.Value, &j.stored) != nil || j.stored.Due > now.UnixMilli() ||
		!r.Expires.After(now) {
		return nil
	}
	value, err := q.handler.Decode(r.Key, j.stored.Data)
	if err != nil {
		return err
	}
	j.Value, j.Attempts = value, j.stored.Attempts
	if !q.reserve(j) {
		return errFull
	}
	if err := q.write(j, q.claimEnd()); err != nil {
		q.finish(j)
		return err
	}
	if j.stored.Planned { // its process has ended, or the result of its change was unknown
		if made, err := q.handler.Made(j); err != nil || !made {
			if err == nil {
				q.Remove(j)
			}
			q.finish(j)
			return err
		}
		j.stored.Planned = false
	}
	q.ready(j)
	return nil
}
