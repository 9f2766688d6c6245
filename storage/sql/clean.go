package sqlstore

import (
	"context"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// How many rows a batch of DeleteExpired has, and how long it should take at most: the next one is half as large when
// it took longer.
const (
	firstBatch   = 100
	leastBatch   = 25
	largestBatch = 500
	batchTime    = 10 * time.Millisecond
)

// cleaner is the part of a Store that deletes what has expired.
type cleaner struct{ runner }

// DeleteExpired implements [store.Cleaner]. It deletes batches of at most 500 rows, found by the indexes on expires,
// each in a transaction of its own and small enough to take some 10 ms; after each it waits as long as that took, so
// that others write. Within a transaction there is no waiting, and what others wait for lasts as long as the
// transaction.
//
// When it fails, or the context ends, what it has deleted stays deleted, and the error comes with the number of those
// rows. A batch that was interrupted is not counted: an engine may finish it. What is left is counted by the same
// indexes, unless it is within a transaction, which then is over.
func (s *cleaner) DeleteExpired(ctx context.Context, now time.Time) (n int, err error) {
	before, err := s.expiredBefore(now)
	if err != nil {
		return 0, s.failed(ctx, "delete expired", err, nil)
	}
	for _, of := range []struct {
		operation string
		delete    *statement
	}{
		{"delete expired sessions", s.deleteExpiredSessions},
		{"delete expired verification tokens", s.deleteExpiredTokens},
		{"delete expired records", s.deleteExpiredRecords},
	} {
		gone, err := s.inBatches(ctx, of.operation, of.delete, before)
		n += gone
		if err != nil && s.tx == nil {
			err = store.WithLeft(ctx, err, func(ctx context.Context) (int, bool, error) { return s.left(ctx, before) })
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// left counts what has expired, and says whether it stopped counting.
func (s *cleaner) left(ctx context.Context, before []any) (rows int, more bool, err error) {
	for _, count := range []*statement{s.expiredSessions, s.expiredTokens, s.expiredRecords} {
		most := int64(store.MostLeft - rows)
		n, err := one(ctx, &s.runner, "count expired", count, func(row Rows) (n int, err error) {
			return n, row.Scan(&n)
		}, append([]any{most}, before...)...)
		rows += n
		if err != nil || rows >= store.MostLeft {
			return rows, true, err
		}
	}
	return rows, false, nil
}

// inBatches runs a statement of expired until it finds nothing.
func (s *cleaner) inBatches(ctx context.Context, operation string, st *statement, before []any) (n int, err error) {
	var from time.Time
	for size := int64(firstBatch); ; {
		began := time.Now()
		gone, err := s.batch(ctx, operation, st, append([]any{size}, before...), &from)
		n += gone
		if err == nil && gone == 0 && !from.IsZero() {
			from = time.Time{} // once more from the beginning: others may have added what has ended before
			continue
		}
		if err != nil || gone == 0 {
			return n, err
		}
		took := time.Since(began)
		switch {
		case took > batchTime:
			size = max(size/2, leastBatch)
		case took < batchTime/4:
			size = min(2*size, largestBatch)
		}
		if s.tx != nil {
			continue
		}
		if s.dialect.AfterBatch != "" {
			_, _ = s.db.ExecContext(ctx, s.dialect.AfterBatch)
		}
		select {
		case <-ctx.Done():
			return n, s.failed(ctx, operation, ctx.Err(), nil)
		case <-time.After(took):
		}
	}
}

// batch deletes some rows. Where those that are gone linger, it begins with those that ended at from, and moves that to
// where it ended.
func (s *cleaner) batch(
	ctx context.Context, operation string, st *statement, args []any, from *time.Time,
) (gone int, err error) {
	if !s.lingering() {
		n, err := s.exec(ctx, operation, st, args...)
		return int(n), err
	}
	begin, err := s.encodeTime(*from)
	if err != nil {
		return 0, s.failed(ctx, operation, err, nil)
	}
	end, last := timeColumn{engine: s.engine}, *from
	gone, err = s.each(ctx, operation, st, append(args, begin), func(rows Rows) error {
		err := rows.Scan(&end)
		if end.at.After(last) {
			last = end.at
		}
		return err
	})
	if err == nil {
		*from = last
	}
	return gone, err
}

// expiredBefore are the values of ended.
func (e *engine) expiredBefore(now time.Time) ([]any, error) {
	at, err := e.encodeTime(now)
	if err != nil || !e.bothForms() {
		return []any{at}, err
	}
	now = time.UnixMilli(now.UnixMilli()).UTC()
	return []any{now.UnixMilli(), now.Format(offsetForm), now.Format(compareForm)}, nil
}

// lingering reports whether DeleteExpired begins each batch where the one before ended, which it can where times stand
// in the engine's own form, which it orders by.
func (e *engine) lingering() bool { return e.dialect.Lingering && e.layout.Times == NativeTimes }
