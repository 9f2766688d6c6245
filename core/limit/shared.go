package limit

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Shared counts attempts in the store, after the Limiter of this process. If the Limiter refuses an attempt, the store
// is not called. If the store refuses one, the Limiter learns it and refuses further attempts until the wait is over.
// It is safe for concurrent use. Create it with [NewShared].
type Shared struct {
	*Limiter
	records store.RecordStore
	key     func(bucket string) string
	log     *slog.Logger
	leases  leases
}

// NewShared returns a Shared that counts in l and in records of kind "budget". key returns the key of a bucket's
// record: a keyed hash, so that the store contains no names or addresses. log receives a warning if a correct attempt
// could not be removed from the count.
func NewShared(l *Limiter, records store.RecordStore, key func(bucket string) string, log *slog.Logger) *Shared {
	return &Shared{Limiter: l, records: records, key: key, log: log}
}

// budgetKind is the kind of the records. The key is a keyed hash of the bucket's path. The value is the time when the
// bucket becomes full, in Unix nanoseconds, which is also when the record expires.
const budgetKind = "budget"

// budgetTries is the maximum number of writes of a record that other processes write at the same time. If all conflict,
// the attempt waits for conflictWait.
const (
	budgetTries  = 5
	conflictWait = time.Second
)

// Limit counts an attempt and returns 0, or returns the time until the attempt is allowed. An error is the store's.
func (s *Shared) Limit(ctx context.Context, p Params) (time.Duration, error) {
	buckets, n := s.buckets(p)
	if p.Attempt == AttemptKeyUse {
		return s.spend(ctx, p.Attempt, buckets[:n])
	}
	all, records := buckets[:n], make([]*store.Record, n)
	if p.Attempt == AttemptInARow { // a reset by another process must take effect here immediately
		return s.takeAll(ctx, p.Attempt, all, records)
	}
	if wait, err := s.Limiter.Limit(ctx, p); wait > 0 || err != nil {
		return wait, err
	}
	wait, err := s.takeAll(ctx, p.Attempt, all, records)
	if wait > 0 || err != nil {
		s.giveBack(p, false) // the attempt was refused
		s.learn(p.Attempt, all, records)
	}
	return wait, err
}

// learn copies the buckets that make attempts wait into the Limiter of this process, so that the next attempts do not
// call the store.
func (s *Shared) learn(a Attempt, all []counted, records []*store.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for i := range all {
		if r := records[i]; r != nil && all[i].waitTime(all[i].debtOf(fullAt(r), now)) > 0 {
			s.pool(a, &all[i]).set(&all[i], fullAt(r), now)
		}
	}
}

// takeAll counts an attempt in all its buckets or, if one of them is empty, in none. records receives the most recently
// read record of each bucket.
func (s *Shared) takeAll(
	ctx context.Context, a Attempt, all []counted, records []*store.Record,
) (wait time.Duration, err error) {
	for i := range all {
		if records[i], err = s.read(ctx, a, &all[i]); err != nil {
			return 0, err
		}
		wait = max(wait, s.recordWait(&all[i], records[i]))
	}
	if wait > 0 {
		return wait, nil
	}
	for i := range all {
		if wait, err = s.take(ctx, &all[i], &records[i]); wait == 0 && err == nil {
			continue
		}
		for _, taken := range all[:i] {
			s.restore(context.WithoutCancel(ctx), a, &taken, taken.Every)
		}
		return wait, err
	}
	return 0, nil
}

// take counts an attempt in one bucket. After a write conflict with another process, it reads the record again.
func (s *Shared) take(ctx context.Context, b *counted, r **store.Record) (wait time.Duration, err error) {
	for range budgetTries {
		if wait := s.recordWait(b, *r); wait > 0 {
			return wait, nil
		}
		done, err := s.write(ctx, b, *r, b.Every)
		if done || err != nil {
			return 0, err
		}
		if *r, err = s.again(ctx, (*r).Key); err != nil {
			return 0, err
		}
	}
	return conflictWait, nil
}

// restore returns a part of a bucket to it. If that fails, the attempt still counts, and the client waits a little
// longer.
func (s *Shared) restore(ctx context.Context, a Attempt, b *counted, much time.Duration) {
	r, err := s.read(ctx, a, b)
	for range budgetTries {
		if err != nil || r.Version == 0 { // no record means that the bucket is full
			break
		}
		var done bool
		if done, err = s.write(ctx, b, r, -much); done || err != nil {
			break
		}
		r, err = s.again(ctx, r.Key)
	}
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "auth: could not remove a correct attempt from the count",
			slog.String("attempt", string(a)), slog.Any("error", err))
	}
}

// Forgive removes a correct attempt from the counts, here and in the store.
func (s *Shared) Forgive(ctx context.Context, p Params) {
	s.Limiter.Forgive(ctx, p)
	all, n := s.buckets(p)
	for i := range all[:n] {
		s.restore(ctx, p.Attempt, &all[i], all[i].share(p.Attempt == AttemptInARow))
	}
}

// read returns the record of a bucket. If there is none, it returns a new record with version 0.
func (s *Shared) read(ctx context.Context, a Attempt, b *counted) (*store.Record, error) {
	path := b.path(a)
	return s.again(ctx, s.key(strings.Join(path[:], "\x00")))
}

func (s *Shared) again(ctx context.Context, key string) (*store.Record, error) {
	r, err := s.records.Record(ctx, budgetKind, key)
	if errors.Is(err, store.ErrNotFound) {
		return &store.Record{Kind: budgetKind, Key: key}, nil
	}
	return r, err
}

// recordWait returns the time that an attempt must wait for a bucket.
func (s *Shared) recordWait(b *counted, r *store.Record) time.Duration {
	return b.waitTime(b.debtOf(fullAt(r), s.now()))
}

// write changes the time until a bucket is full. done is false if another process wrote the record after r was read.
func (s *Shared) write(
	ctx context.Context, b *counted, r *store.Record, by time.Duration,
) (done bool, err error) {
	now := s.now()
	debt := max(0, b.debtOf(fullAt(r), now)+by)
	r.Expires = now.Add(debt)
	r.Value = strconv.AppendInt(nil, r.Expires.UnixNano(), 10)
	if r.Version == 0 {
		err = s.records.CreateRecord(ctx, r)
	} else {
		err = s.records.UpdateRecord(ctx, r)
	}
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// fullAt returns the time when the bucket becomes full, in Unix nanoseconds. A malformed record counts as full.
func fullAt(r *store.Record) int64 {
	at, err := strconv.ParseInt(string(r.Value), 10, 64)
	if err != nil {
		return 0
	}
	return at
}
