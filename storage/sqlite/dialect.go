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
		// An integer is less than any text here: without the condition, integers would all look expired.
		IsText:    func(column string) string { return `typeof(` + column + `) = 'text'` },
		Now:       `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
		Returning: true,
		OneWriter: true,
		// Changes nothing and takes the lock, also on a handle whose transactions begin without it.
		Begin: `DELETE FROM %s WHERE 0`,
		Conflict: func(err error) bool {
			return failedWith(err, "UNIQUE constraint failed", constraintUnique, constraintPrimaryKey, constraintRowID)
		},
		Busy:        func(err error) bool { return failedWith(err, "database is locked", busy, busyRecovery, busySnapshot) },
		NoParent:    func(err error) bool { return failedWith(err, "FOREIGN KEY constraint failed", constraintForeignKey) },
		Retry:       func(error) bool { return false },
		Migrating:   sqlstore.Locked("BEGIN IMMEDIATE"),
		TableExists: `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?`,
		Indexes: `SELECT l.name, l."unique" AND NOT l.partial, COALESCE(i.name, '') FROM pragma_index_list(?) l, pragma_index_info(l.name) i
			ORDER BY l.name, i.seqno`,
	}
}

// failedWith looks at the extended result code of modernc.org/sqlite. Other drivers tell it in other ways, and SQLite's own text
// in the same one.
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
