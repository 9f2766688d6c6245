package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

func dialect() sqlstore.Dialect {
	return sqlstore.Dialect{
		Name:        "mysql",
		Placeholder: func(int) string { return "?" },
		Quote:       func(name string) string { return "`" + name + "`" },
		Type:        columnType,
		TableSuffix: " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
		// Collations ignore case, accents or spaces at the end. The index serves column = value; this drops what it found too much.
		Exact: func(column, value string) string {
			return "CAST(CONVERT(" + column + " USING utf8mb4) AS BINARY) = CAST(" + value + " AS BINARY)"
		},
		// As text in both directions: the driver would apply its time zone, which is the handle's owner's to choose.
		EncodeTime: func(t time.Time) (any, error) { return t.UTC().Format("2006-01-02 15:04:05.000000"), nil },
		DecodeTime: decodeTime,
		ReadTime:   func(column string) string { return "CAST(" + column + " AS CHAR)" },
		Now:        "UTC_TIMESTAMP(3)",

		ChangedRows: true, // unless the handle has clientFoundRows, as that of Open

		// The manual's server error reference: duplicate keys, missing parents, deadlocks.
		Conflict: func(err error) bool { return numbered(err, 1062, 1586) },
		NoParent: func(err error) bool { return numbered(err, 1216, 1452) },
		Retry:    func(err error) bool { return numbered(err, 1213) },
		Repeats:  func(err error) bool { return numbered(err, 1292, 1366, 1411, 1525, 3140) }, // wrong values

		Migrating:   migrating,
		TableExists: "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
		Indexes: `SELECT index_name, MAX(non_unique) OVER (PARTITION BY index_name) = 0 AND MAX(sub_part) OVER (PARTITION BY index_name) IS NULL,
			COALESCE(column_name, '') FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?
			ORDER BY index_name, seq_in_index`,
	}
}

func numbered(err error, numbers ...uint16) bool {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return false
	}
	for _, n := range numbers {
		if e.Number == n {
			return true
		}
	}
	return false
}

// columnType keeps within 3072 bytes for an index. Keys are bytes: as texts, two that differ in spaces at the end would be one.
func columnType(k sqlstore.Kind) string {
	switch k {
	case sqlstore.Name:
		return "VARCHAR(320)"
	case sqlstore.Key:
		return "VARBINARY(1536)"
	case sqlstore.Integer:
		return "BIGINT"
	case sqlstore.Counted:
		return "BIGINT AUTO_INCREMENT PRIMARY KEY"
	case sqlstore.UUID:
		return "CHAR(36)"
	case sqlstore.Boolean:
		return "BOOLEAN"
	case sqlstore.Time:
		return "DATETIME(6)"
	case sqlstore.ISOText:
		return "VARCHAR(32)"
	default:
		return "MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin" // TEXT ends one byte short of 64 KiB
	}
}

func decodeTime(value any) (time.Time, error) {
	switch v := value.(type) {
	case []byte:
		return sqlstore.ParseTime(string(v))
	case string:
		return sqlstore.ParseTime(v)
	}
	return time.Time{}, fmt.Errorf("a column of times holds a %T: does Layout.Times fit the database?", value)
}

// lockWait is how long a migration waits for another, in seconds.
const lockWait = 60

// migrating holds a lock of the server while do runs: DDL ends every transaction here. What a migration that failed has made is
// found by the next.
func migrating(ctx context.Context, conn *sql.Conn, do func() error) (err error) {
	var mode, database string
	if err := conn.QueryRowContext(ctx, "SELECT @@sql_mode, COALESCE(DATABASE(), '')").Scan(&mode, &database); err != nil {
		return err
	}
	if database == "" {
		return errors.New("the connection has no database: name it in the data source name")
	}
	if !strings.Contains(mode, "STRICT_TRANS_TABLES") && !strings.Contains(mode, "STRICT_ALL_TABLES") {
		return errors.New("the SQL mode is not strict, so that long tokens would be cut off: add sql_mode=%27TRADITIONAL%27 to the data source name")
	}
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(CONCAT('latchkey ', MD5(DATABASE())), ?)", lockWait).Scan(&got); err != nil {
		return err
	}
	if got.Int64 != 1 {
		return fmt.Errorf("another migration has held the lock for %d seconds", lockWait)
	}
	defer func() {
		_, release := conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK(CONCAT('latchkey ', MD5(DATABASE())))")
		err = errors.Join(err, release)
	}()
	return do()
}
