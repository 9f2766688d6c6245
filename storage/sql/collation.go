package sqlstore

import (
	"context"
	"errors"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/store"
)

// EmailCollation reports a collation of the email column that ignores case or accents, as in tables that an Auth.js
// adapter created on MySQL. The unique index then rejects ada@example.com if a user has áda@example.com: creating the
// user fails with [store.ErrConflict]. Lookups are exact under every collation.
//
// found names the table, column and collation. fix is the ALTER TABLE statement that changes the collation. It
// preserves the type and the character set of the column, but not its default value and its comment. Both results are
// empty if the collation is exact, if the table or column is missing, and on other databases than MySQL and MariaDB.
func (s *Store) EmailCollation(ctx context.Context) (found, fix string, err error) {
	defer func() { err = store.OpError(ctx, s.dialect.Name, "read collation", err) }()
	if s.tx != nil {
		return "", "", errors.New("not within a transaction")
	}
	if s.dialect.Collation == nil {
		return "", "", nil
	}
	if err := s.enter(ctx, reads); err != nil {
		return "", "", err
	}
	defer s.leave(reads)
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	table, column := s.emailColumn()
	name, fix, err := s.dialect.Collation(ctx, conn, table, column)
	if err != nil || name == "" {
		return "", "", err
	}
	return "table " + table + ", column " + column + ": collation " + name, fix, nil
}

func (e *engine) emailColumn() (table, column string) {
	return e.layout.Users, e.layout.column(users, "email")
}

// warnOfCollation logs a collation of the email column that ignores case or accents. Each Store checks it once.
func (m *migration) warnOfCollation(ctx context.Context) error {
	if m.dialect.Collation == nil || m.collated.Load() {
		return nil
	}
	table, column := m.emailColumn()
	name, fix, err := m.dialect.Collation(ctx, m.conn, table, column)
	if err != nil || m.collated.Swap(true) || name == "" {
		return err
	}
	//nolint:sloglint // a store has no own logger
	slog.WarnContext(ctx, "latchkey: the collation of the email column ignores case or accents: "+
		"a user with a similar address prevents a sign-up", "table", table, "column", column, "collation", name, "fix", fix)
	return nil
}
