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
		// The types stay within the 3072 bytes of an index. Keys are bytes: as texts, two keys that differ only in trailing
		// spaces would be equal. TEXT is limited to 65,535 bytes.
		Types: sqlstore.Types{
			Text: "MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", Name: "VARCHAR(320)", Key: "VARBINARY(1536)",
			Integer: "BIGINT", Boolean: "BOOLEAN", Time: "DATETIME(6)", TextTime: "VARCHAR(32)", UUID: "CHAR(36)",
			Counter: "BIGINT AUTO_INCREMENT PRIMARY KEY",
		},
		TableSuffix: " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
		// Collations may ignore case, accents or trailing spaces. The index finds rows for column = value; this condition
		// excludes those that are not equal.
		Exact: func(column, value string) string {
			return "CAST(CONVERT(" + column + " USING utf8mb4) AS BINARY) = CAST(" + value + " AS BINARY)"
		},
		// In a collation that ignores case, a comes before B.
		Bytewise: func(table, column string) string {
			return "SELECT COALESCE((SELECT " + column + " FROM " + table + " WHERE FALSE), 'a') > 'B'"
		},
		// As text in both directions: otherwise the driver would apply the handle's time zone.
		EncodeTime: func(t time.Time) (any, error) { return t.UTC().Format("2006-01-02 15:04:05.000000"), nil },
		DecodeTime: decodeTime,
		ReadTime:   func(column string) string { return "CAST(" + column + " AS CHAR)" },
		Now:        "UTC_TIMESTAMP(3)",

		ChangedRows: true, // unless the handle has clientFoundRows, as the handle of Open does

		// MySQL's server error reference: duplicate keys, missing parents, deadlocks and lock timeouts, unknown tables and
		// columns.
		Conflict: func(err error) bool { return numbered(err, 1062, 1586) },
		NoParent: func(err error) bool { return numbered(err, 1216, 1452) },
		Retry:    func(err error) bool { return numbered(err, 1205, 1213) },
		Missing:  func(err error) bool { return numbered(err, 1146, 1054) },
		// Too many connections, a server shutdown, and a closed connection.
		Unavailable: func(err error) bool {
			return numbered(err, 1040, 1053, 1203) || errors.Is(err, mysql.ErrInvalidConn)
		},
		Incomparable: func(err error) bool { return numbered(err, 1267) },                         // not Unicode
		Repeats:      func(err error) bool { return numbered(err, 1292, 1366, 1411, 1525, 3140) }, // invalid values

		Migrating: migrating,
		// Whether names are case-sensitive is a setting of the server.
		Schema: `WITH wanted AS (%s), there AS (
				SELECT w.name, t.table_name AS own FROM wanted w JOIN information_schema.tables t
				ON t.table_schema = DATABASE() AND t.table_type = 'BASE TABLE'
				AND IF(@@lower_case_table_names = 0, BINARY t.table_name = BINARY w.name, LOWER(t.table_name) = LOWER(w.name)))
			SELECT t.name, '' AS of_index, 0, c.column_name, c.ordinal_position AS place
			FROM there t JOIN information_schema.columns c ON c.table_schema = DATABASE() AND BINARY c.table_name = BINARY t.own
			UNION ALL SELECT t.name, i.index_name,
				MAX(i.non_unique) OVER (PARTITION BY t.name, i.index_name) = 0
				AND MAX(i.sub_part) OVER (PARTITION BY t.name, i.index_name) IS NULL,
				COALESCE(i.column_name, ''), i.seq_in_index
			FROM there t JOIN information_schema.statistics i
			ON i.table_schema = DATABASE() AND BINARY i.table_name = BINARY t.own
			ORDER BY 1, 2, 5`,
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

func decodeTime(value any) (time.Time, error) {
	switch v := value.(type) {
	case []byte:
		return time.Parse(time.DateTime, string(v))
	case string:
		return time.Parse(time.DateTime, v)
	}
	return time.Time{}, fmt.Errorf("a time column contains a %T: check Layout.Times", value)
}

// lockWait is the maximum time that a migration waits for another, in seconds.
const lockWait = 60

// migrating holds a server lock while do runs, because on MySQL DDL commits every transaction. A later migration
// continues after one that failed.
func migrating(ctx context.Context, conn *sql.Conn, do func() error) (err error) {
	var mode, database string
	if err := conn.QueryRowContext(ctx, "SELECT @@sql_mode, COALESCE(DATABASE(), '')").Scan(&mode, &database); err != nil {
		return err
	}
	if database == "" {
		return errors.New("the connection has no database: name it in the data source name")
	}
	if !strings.Contains(mode, "STRICT_TRANS_TABLES") && !strings.Contains(mode, "STRICT_ALL_TABLES") {
		return errors.New("the SQL mode is not strict, so long tokens would be truncated: " +
			"add sql_mode=%27TRADITIONAL%27 to the data source name")
	}
	var got sql.NullInt64
	lock := conn.QueryRowContext(ctx, "SELECT GET_LOCK(CONCAT('latchkey ', MD5(DATABASE())), ?)", lockWait)
	if err := lock.Scan(&got); err != nil {
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
