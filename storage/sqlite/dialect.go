package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"time"

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// The extended result codes that mean something to the contract (sqlite.org/rescode.html).
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
		Type:        columnType,
		EncodeTime:  func(t time.Time) (any, error) { return t.UnixMicro(), nil },
		DecodeTime:  decodeTime,
		// An integer is less than any text here: compared without a look at what it is, integers would all look expired.
		TypeOf:    func(value string) string { return `typeof(` + value + `)` },
		TextTime:  func(column string) string { return `strftime('%Y-%m-%dT%H:%M:%f', ` + column + `)` },
		Now:       `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
		NowText:   `strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')`,
		Among:     func(keys, from string) string { return "(" + keys + ") IN (SELECT " + keys + " " + from + ")" },
		Returning: true,
		OneWriter: true,
		// Changes nothing and takes the lock, also on a handle whose transactions begin without it.
		Begin: `DELETE FROM %s WHERE 0`,
		Files: "SELECT file FROM pragma_database_list WHERE file <> ''",
		// A checkpoint delays no writer, but for the one who has to make it because the log has grown.
		AfterBatch: "PRAGMA wal_checkpoint(PASSIVE)",
		Conflict: func(err error) bool {
			return failedWith(err, "UNIQUE constraint failed", constraintUnique, constraintPrimaryKey, constraintRowID)
		},
		Busy: func(err error) bool { return failedWith(err, "database is locked", busy, busyRecovery, busySnapshot) },
		// They have no code of their own.
		Missing: func(err error) bool {
			text := err.Error()
			return strings.Contains(text, "no such table: ") || strings.Contains(text, "no such column: ") ||
				strings.Contains(text, " has no column named ")
		},
		NoParent:  func(err error) bool { return failedWith(err, "FOREIGN KEY constraint failed", constraintForeignKey) },
		Retry:     func(error) bool { return false },
		Migrating: sqlstore.Locked("BEGIN IMMEDIATE"),
		// A name means the same in capitals and small letters here.
		Schema: `WITH wanted AS (%s), there AS (
				SELECT w.name, m.name AS own FROM wanted w
				JOIN sqlite_master m ON m.type = 'table' AND m.name = w.name COLLATE NOCASE)
			SELECT t.name, '', 0, c.name, c.cid FROM there t JOIN pragma_table_info(t.own) c
			UNION ALL SELECT t.name, l.name, l."unique" AND NOT l.partial, COALESCE(i.name, ''), i.seqno
			FROM there t JOIN pragma_index_list(t.own) l JOIN pragma_index_info(l.name) i ORDER BY 1, 2, 5`,
	}
}

// failedWith looks at the extended result code of modernc.org/sqlite. Other drivers tell it in other ways, and SQLite's
// own text in the same one.
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

func columnType(k sqlstore.Kind) string {
	switch k {
	case sqlstore.Integer, sqlstore.Boolean, sqlstore.Time:
		return "INTEGER"
	case sqlstore.AnyTime:
		return "DATETIME" // which leaves a text a text and an integer an integer
	case sqlstore.Counted:
		return "INTEGER PRIMARY KEY AUTOINCREMENT" // so that an id is never given again
	default:
		return "TEXT"
	}
}

// decodeTime reads microseconds since 1970. They are not told from milliseconds by their size: Layout.Times says it.
func decodeTime(value any) (time.Time, error) {
	if n, ok := value.(int64); ok {
		return time.UnixMicro(n).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("a column of microseconds holds a %T: does Layout.Times fit the database?", value)
}
