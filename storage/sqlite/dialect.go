package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"time"

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// The extended result codes that the store distinguishes (sqlite.org/rescode.html).
const (
	busy                 = 5
	busyRecovery         = 261
	busySnapshot         = 517
	constraintForeignKey = 787
	constraintPrimaryKey = 1555
	constraintUnique     = 2067
	constraintRowID      = 2579
)

func dialect() sqlstore.Dialect {
	return sqlstore.Dialect{
		Name:        "sqlite",
		Placeholder: func(int) string { return "?" },
		Quote:       func(name string) string { return `"` + name + `"` },
		Types: sqlstore.Types{
			Text: "TEXT", Integer: "INTEGER", Boolean: "INTEGER", Time: "INTEGER",
			AnyTime: "DATETIME",                          // preserves texts and integers
			Counter: "INTEGER PRIMARY KEY AUTOINCREMENT", // an ID is never reused
		},
		BinaryOrder: func(column string) string { return column + " COLLATE BINARY" },
		EncodeTime:  func(t time.Time) (any, error) { return t.UnixMicro(), nil },
		DecodeTime:  decodeTime,
		// SQLite sorts integers before texts: without a check of the type, all integers would look expired.
		TypeOf:    func(value string) string { return `typeof(` + value + `)` },
		TextTime:  func(column string) string { return `strftime('%Y-%m-%dT%H:%M:%f', ` + column + `)` },
		Now:       `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
		NowText:   `strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')`,
		Among:     func(keys, from string) string { return "(" + keys + ") IN (SELECT " + keys + " " + from + ")" },
		Returning: true,
		OneWriter: true,
		// Changes nothing and takes the write lock, even on a handle whose transactions begin without it.
		Begin: `DELETE FROM %s WHERE 0`,
		// This checkpoint delays no writer. Otherwise a writer would have to do it when the log has grown.
		AfterBatch: "PRAGMA wal_checkpoint(PASSIVE)",
		Conflict: func(err error) bool {
			return failedWith(err, "UNIQUE constraint failed", constraintUnique, constraintPrimaryKey, constraintRowID)
		},
		Busy: func(err error) bool { return failedWith(err, "database is locked", busy, busyRecovery, busySnapshot) },
		// SQLite has no specific codes for these errors.
		Missing: func(err error) bool {
			text := err.Error()
			return strings.Contains(text, "no such table: ") || strings.Contains(text, "no such column: ") ||
				strings.Contains(text, " has no column named ")
		},
		NoParent:  func(err error) bool { return failedWith(err, "FOREIGN KEY constraint failed", constraintForeignKey) },
		Retry:     func(error) bool { return false },
		Migrating: sqlstore.Locked("BEGIN IMMEDIATE"),
		// Names are case-insensitive here.
		Schema: `WITH wanted AS (%s), there AS (
				SELECT w.name, m.name AS own FROM wanted w
				JOIN sqlite_master m ON m.type = 'table' AND m.name = w.name COLLATE NOCASE)
			SELECT t.name, '', 0, c.name, c.cid FROM there t JOIN pragma_table_info(t.own) c
			UNION ALL SELECT t.name, l.name, l."unique" AND NOT l.partial, COALESCE(i.name, ''), i.seqno
			FROM there t JOIN pragma_index_list(t.own) l JOIN pragma_index_info(l.name) i ORDER BY 1, 2, 5`,
	}
}

// failedWith compares the extended result code of modernc.org/sqlite. For other drivers, which report the code
// differently, it compares SQLite's error text.
func failedWith(err error, text string, codes ...int) bool {
	var e interface{ Code() int }
	if !errors.As(err, &e) {
		return err != nil && strings.Contains(err.Error(), text)
	}
	for _, code := range codes {
		if e.Code() == code {
			return true
		}
	}
	return false
}

// decodeTime reads microseconds since 1970. It does not guess the unit from the size of the number: Layout.Times
// decides.
func decodeTime(value any) (time.Time, error) {
	if n, ok := value.(int64); ok {
		return time.UnixMicro(n).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("a column of microseconds contains a %T: check Layout.Times", value)
}
