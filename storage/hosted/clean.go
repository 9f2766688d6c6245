package hosted

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// DeleteExpired implements [store.Cleaner]. One request reads at most 200 sessions, tokens or records, and another
// deletes 100. If ctx ends, the remaining rows are counted in the first page of 200 of each table.
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (int, error) {
	const operation = "delete expired sessions"
	at, err := encodeTime(now)
	if err != nil {
		return 0, s.failed(ctx, operation, err)
	}
	filter := map[string]any{"expires": map[string]any{"$lt": at}}
	n, err := s.deleteExpired(ctx, operation, filter)
	if s.tx == nil {
		err = store.WithLeft(ctx, err, func(ctx context.Context) (int, bool, error) { return s.left(ctx, filter) })
	}
	return n, err
}

// left counts expired rows in the first page of each table.
func (s *Store) left(ctx context.Context, filter map[string]any) (rows int, more bool, err error) {
	for _, table := range []string{s.tables.sessions, s.tables.tokens, s.tables.records} {
		list, next, err := s.db.View().page(ctx, table, filter, nil)
		if err != nil && (table != s.tables.records || !errors.Is(err, errNoTable)) {
			return rows, more, err
		}
		rows, more = rows+len(list), more || next != nil
	}
	return rows, more, nil
}

func (s *Store) deleteExpired(ctx context.Context, operation string, filter map[string]any) (int, error) {
	expired := func(table string) step {
		return func(ctx context.Context, v *view) ([]record, error) {
			if s.tx != nil { // a transaction sees its own deletions
				return v.query(ctx, table, filter)
			}
			list, _, err := v.page(ctx, table, filter, nil)
			return list, err
		}
	}
	find := expired(s.tables.sessions)
	sessions, err := s.removeAll(ctx, operation, find, func(ctx context.Context, v *view, r record) error {
		// A deletion cannot have a version condition, so an update with one precedes it: the session may be extended
		// meanwhile.
		v.overwrite(s.tables.sessions, r, record{"expires": r["expires"]})
		return s.removeSession(ctx, v, r)
	})
	if err != nil {
		return sessions, err
	}
	tokens, err := s.removeAll(ctx, operation, expired(s.tables.tokens), func(_ context.Context, v *view, r record) error {
		v.remove(s.tables.tokens, r.id())
		return nil
	})
	if err != nil {
		return sessions + tokens, err
	}
	records, err := s.removeAll(ctx, operation, orNone(expired(s.tables.records)), s.removeAsRead)
	return sessions + tokens + records, err
}
