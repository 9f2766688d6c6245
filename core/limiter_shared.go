package core

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// sharedLimiter counts attempts in the store, behind the Limiter of this process: what that one refuses costs the store
// nothing, and what the store refuses is refused here until it is due.
type sharedLimiter struct {
	*Limiter
	records store.RecordStore
	secret  string
	log     *slog.Logger
}

// budgetKind is the kind of the records. The key is a keyed hash of what is counted, the value when the bucket is full
// again, in Unix nanoseconds; the record expires then.
const budgetKind = "budget"

// budgetTries is how often a write is tried while other processes write the same record; then the attempt waits.
const (
	budgetTries = 5
	lostRace    = time.Second
)

// Limit has the type of [Callbacks].Limit.
func (s *sharedLimiter) Limit(ctx context.Context, p LimitParams) (time.Duration, error) {
	buckets, n := s.buckets(p)
	all, records := buckets[:n], make([]*store.Record, n)
	if p.Attempt == AttemptInARow { // what takes it back may be asked of another process, and must hold here at once
		return s.takeAll(ctx, p.Attempt, all, records)
	}
	if wait, err := s.Limiter.Limit(ctx, p); wait > 0 || err != nil {
		return wait, err
	}
	wait, err := s.takeAll(ctx, p.Attempt, all, records)
	if wait > 0 || err != nil {
		s.giveBack(p, false) // it did not go on
		s.learn(p.Attempt, all, records)
	}
	return wait, err
}

// learn notes in this process which buckets make attempts wait: the next ones do not ask the store.
func (s *sharedLimiter) learn(a Attempt, all []counted, records []*store.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for i := range all {
		if r := records[i]; r != nil && all[i].patience(all[i].debtOf(fullAt(r), now)) > 0 {
			s.pool(a, &all[i]).set(&all[i], fullAt(r), now)
		}
	}
}

// takeAll counts an attempt in all its buckets or, where one of them is empty, in none. records are what was read of
// them last.
func (s *sharedLimiter) takeAll(
	ctx context.Context, a Attempt, all []counted, records []*store.Record,
) (wait time.Duration, err error) {
	for i := range all {
		if records[i], err = s.read(ctx, a, &all[i]); err != nil {
			return 0, err
		}
		wait = max(wait, s.patienceOf(&all[i], records[i]))
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

// take counts an attempt in one bucket. Another process may write the record in between: then it is read again.
func (s *sharedLimiter) take(ctx context.Context, b *counted, r **store.Record) (wait time.Duration, err error) {
	for range budgetTries {
		if wait := s.patienceOf(b, *r); wait > 0 {
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
	return lostRace, nil
}

// restore gives so much back to a bucket. Where that fails it counts on: the visitor waits a little longer.
func (s *sharedLimiter) restore(ctx context.Context, a Attempt, b *counted, much time.Duration) {
	r, err := s.read(ctx, a, b)
	for range budgetTries {
		if err != nil || r.Version == 0 { // it has become full by itself
			break
		}
		var done bool
		if done, err = s.write(ctx, b, r, -much); done || err != nil {
			break
		}
		r, err = s.again(ctx, r.Key)
	}
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "auth: an attempt that was right could not be taken out of the count",
			slog.String("attempt", string(a)), slog.Any("error", err))
	}
}

// Forgive has the type of [Callbacks].Forgive.
func (s *sharedLimiter) Forgive(ctx context.Context, p LimitParams) {
	s.Limiter.Forgive(ctx, p)
	all, n := s.buckets(p)
	for i := range all[:n] {
		s.restore(ctx, p.Attempt, &all[i], all[i].share(p.Attempt == AttemptInARow))
	}
}

// read returns the record of a bucket, one of version 0 where there is none.
func (s *sharedLimiter) read(ctx context.Context, a Attempt, b *counted) (*store.Record, error) {
	path := b.path(a)
	return s.again(ctx, digest(s.secret, "budget", strings.Join(path[:], "\x00")))
}

func (s *sharedLimiter) again(ctx context.Context, key string) (*store.Record, error) {
	r, err := present(s.records.Record(ctx, budgetKind, key))
	if errors.Is(err, ErrNotFound) {
		return &store.Record{Kind: budgetKind, Key: key}, nil
	}
	return r, err
}

// patienceOf is how long an attempt has to wait for a bucket.
func (s *sharedLimiter) patienceOf(b *counted, r *store.Record) time.Duration {
	return b.patience(b.debtOf(fullAt(r), s.now()))
}

// write changes the debt of a bucket. done is false where another process wrote the record since r was read.
func (s *sharedLimiter) write(
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
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// fullAt reads a record: when the bucket is full again, in Unix nanoseconds. One that cannot be read is full.
func fullAt(r *store.Record) int64 {
	at, err := strconv.ParseInt(string(r.Value), 10, 64)
	if err != nil {
		return 0
	}
	return at
}
