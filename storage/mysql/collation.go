package mysql

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
)

// EmailCollation reports a collation of the email column that ignores case or accents, as in tables that an Auth.js
// adapter created. The unique index then rejects ada@example.com if a user has áda@example.com: creating the user fails
// with [store.ErrConflict]. Lookups are exact under every collation.
//
// found names the table, column and collation. fix is the ALTER TABLE statement that changes the collation. It
// preserves the type and the character set of the column, but not its default value and its comment. Both results are
// empty if the collation is exact, and if the table or column is missing.
func (s *Store) EmailCollation(ctx context.Context) (found, fix string, err error) {
	name, fix, err := s.looseCollation(ctx)
	if err != nil || name == "" {
		return "", "", store.OpError(ctx, "mysql", "read collation", err)
	}
	return "table " + s.table + ", column " + s.column + ": collation " + name, fix, nil
}

// warnOfCollation logs a collation of the email column that ignores case or accents, once.
func (s *Store) warnOfCollation(ctx context.Context) error {
	if s.collated.Load() {
		return nil
	}
	name, fix, err := s.looseCollation(ctx)
	if err != nil || s.collated.Swap(true) || name == "" {
		return store.OpError(ctx, "mysql", "migrate", err)
	}
	//nolint:sloglint // a store has no own logger
	slog.WarnContext(ctx, "latchkey: the collation of the email column ignores case or accents: "+
		"a user with a similar address prevents a sign-up",
		"table", s.table, "column", s.column, "collation", name, "fix", fix)
	return nil
}

// looseCollation returns the collation of the email column if it ignores case or accents, and the statement that
// replaces it with the binary collation of the same character set.
func (s *Store) looseCollation(ctx context.Context) (name, fix string, err error) {
	if s.db == nil {
		return "", "", errors.New("not within a transaction")
	}
	var own, charset, kind, nullable string
	// lower_case_table_names reports whether table names are case-sensitive on this server.
	row := s.db.QueryRowContext(ctx, `SELECT table_name, collation_name, character_set_name, column_type, is_nullable
		FROM information_schema.columns
		WHERE table_schema = DATABASE() AND BINARY column_name = BINARY ? AND collation_name IS NOT NULL
		AND IF(@@lower_case_table_names = 0, BINARY table_name = BINARY ?, LOWER(table_name) = LOWER(?))`,
		s.column, s.table, s.table)
	err = row.Scan(&own, &name, &charset, &kind, &nullable)
	if errors.Is(err, sql.ErrNoRows) || err == nil && exact(name) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	fix = "ALTER TABLE " + quote(own) + " MODIFY " + quote(s.column) + " " + kind +
		" CHARACTER SET " + charset + " COLLATE " + charset + "_bin"
	if nullable == "NO" {
		fix += " NOT NULL"
	}
	return name, fix, nil
}

// exact reports whether a collation distinguishes case and accents. A name with _cs and without _ai does both: MySQL
// manual, section "Collation Naming Conventions". In the Czech collations _cs is the language, and they have a suffix
// too.
func exact(collation string) bool {
	suffixes := strings.Split(collation, "_")
	has := func(suffix string) bool { return slices.Contains(suffixes, suffix) }
	return has("bin") || has("binary") || has("cs") && !has("ai") && !has("ci")
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
