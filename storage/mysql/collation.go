package mysql

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
)

// looseCollation returns the collation of a column that ignores case or accents, and the statement that replaces it
// with the binary collation of the same character set.
func looseCollation(ctx context.Context, conn *sql.Conn, table, column string) (name, fix string, err error) {
	var own, charset, kind, nullable string
	// lower_case_table_names reports whether table names are case-sensitive on this server.
	row := conn.QueryRowContext(ctx, `SELECT table_name, collation_name, character_set_name, column_type, is_nullable
		FROM information_schema.columns
		WHERE table_schema = DATABASE() AND BINARY column_name = BINARY ? AND collation_name IS NOT NULL
		AND IF(@@lower_case_table_names = 0, BINARY table_name = BINARY ?, LOWER(table_name) = LOWER(?))`,
		column, table, table)
	err = row.Scan(&own, &name, &charset, &kind, &nullable)
	if errors.Is(err, sql.ErrNoRows) || err == nil && exact(name) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	fix = "ALTER TABLE " + quote(own) + " MODIFY " + quote(column) + " " + kind +
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
