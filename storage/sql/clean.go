package sqlstore

import (
	"context"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
)

// The number of rows in a batch of DeleteExpired, and the target duration. If a batch takes longer, the next one is
// half as large.
const (
	firstBatch   = 100
	leastBatch   = 25
	largestBatch = 500
	batchTime    = 10 * time.Millisecond
)

// DeleteExpired implements [store.Cleaner]. It deletes batches of at most 500 rows, found by the indexes on expires.
// Each batch has its own transaction and is small enough to take about 10 ms. After a batch, DeleteExpired waits as
// long as the batch took, so that others can write. Within a transaction it does not wait, and its locks last until the
// transaction ends.
//
// If it fails or ctx ends, deleted rows stay deleted, and n is their number. An interrupted batch is not counted,
// although the database may still complete it. The remaining rows are counted with the same indexes, except within a
// transaction, which has failed then.
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (n int, err error) {
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

// left counts the expired rows. more reports whether it stopped at store.MostLeft.
func (s *Store) left(ctx context.Context, before []any) (rows int, more bool, err error) {
	for _, count := range []*statement{s.expiredSessions, s.expiredTokens, s.expiredRecords} {
		most := int64(store.MostLeft - rows)
		n, err := queryOne(ctx, s, "count expired", count, func(row sqlpool.Rows) (n int, err error) {
			return n, row.Scan(&n)
		}, append([]any{most}, before...)...)
		rows += n
		if err != nil || rows >= store.MostLeft {
			return rows, true, err
		}
	}
	return rows, false, nil
}

// inBatches runs a statement built by expired until it deletes nothing.
func (s *Store) inBatches(ctx context.Context, operation string, st *statement, before []any) (n int, err error) {
	var from time.Time
	for size := int64(firstBatch); ; {
		began := time.Now()
		gone, err := s.batch(ctx, operation, st, append([]any{size}, before...), &from)
		n += gone
		if err == nil && gone == 0 && !from.IsZero() {
			from = time.Time{} // start at the beginning again: others may have added rows with an earlier expiry
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

// batch deletes one batch. With Dialect.Lingering, the batch starts at the expiry *from and sets *from to where it
// ended.
func (s *Store) batch(
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
	gone, err = s.queryEach(ctx, operation, st, append(args, begin), func(rows sqlpool.Rows) error {
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

// expiredBefore returns the values of the condition that ended writes.
func (e *engine) expiredBefore(now time.Time) ([]any, error) {
	at, err := e.encodeTime(now)
	if err != nil || !e.bothForms() {
		return []any{at}, err
	}
	now = time.UnixMilli(now.UnixMilli()).UTC()
	return []any{now.UnixMilli(), now.Format(offsetForm), now.Format(compareForm)}, nil
}

// lingering reports whether each batch of DeleteExpired starts where the previous one ended. This requires native
// times, because only those are ordered by the database.
func (e *engine) lingering() bool { return e.dialect.Lingering && e.layout.Times == NativeTimes }
