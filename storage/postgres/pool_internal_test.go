package postgres

import (
	"database/sql"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// TestPoolConfig checks that pool parameters in the address are used, and that Open sets the others.
func TestPoolConfig(t *testing.T) {
	for name, c := range map[string]struct {
		dsn                     string
		most                    int32
		idle                    time.Duration
		statements, description int
	}{
		"nothing said": {"postgres://app@localhost/app", maxConnections, idleFor, statements, statements},
		"connections":  {"postgres://app@localhost/app?pool_max_conns=3", 3, idleFor, statements, statements},
		"key=value": {
			"host=localhost user=app pool_max_conn_idle_time=7s", maxConnections, 7 * time.Second, statements, statements,
		},
		"statements": {
			"postgres://app@localhost/app?statement_cache_capacity=512&description_cache_capacity=9",
			maxConnections, idleFor, 512, 9,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := poolConfig(c.dsn)
			if err != nil {
				t.Fatal(err)
			}
			if got.MaxConns != c.most || got.MaxConnIdleTime != c.idle {
				t.Errorf("%d connections, idle for %v", got.MaxConns, got.MaxConnIdleTime)
			}
			if conn := got.ConnConfig; conn.StatementCacheCapacity != c.statements ||
				conn.DescriptionCacheCapacity != c.description {
				t.Errorf("room for %d statements and %d descriptions", conn.StatementCacheCapacity, conn.DescriptionCacheCapacity)
			}
		})
	}
}

// TestStatements checks that the statement cache of a connection has space for all statements of a store.
func TestStatements(t *testing.T) {
	store, err := New(&sql.DB{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(store.Queries()); n > statements {
		t.Errorf("%d statements, and room for %d", n, statements)
	}
}

// column is a destination that records which method received the value.
type column struct {
	text string
	at   time.Time
	came bool
}

func (c *column) ScanText(text []byte)  { c.text, c.came = string(text), true }
func (c *column) ScanTime(at time.Time) { c.at, c.came = at, true }

// TestDirect checks that texts and times in the server's formats need no plan. pgx handles all other values.
func TestDirect(t *testing.T) {
	const day = 24 * int64(time.Hour/time.Microsecond)
	of := func(microseconds int64) []byte {
		return binary.BigEndian.AppendUint64(nil, uint64(microseconds))
	}
	for name, c := range map[string]struct {
		oid    uint32
		format int16
		value  []byte
		to     any
		want   column
	}{
		"text": {
			pgtype.TextOID, pgtype.TextFormatCode, []byte("Ada"), &column{}, column{text: "Ada", came: true},
		},
		"varchar": {
			pgtype.VarcharOID, pgtype.BinaryFormatCode, []byte("Ada"), &column{}, column{text: "Ada", came: true},
		},
		"a text for another": {pgtype.TextOID, pgtype.TextFormatCode, []byte("Ada"), new(string), column{}},
		"time": {
			pgtype.TimestamptzOID, pgtype.BinaryFormatCode, of(day + 5), &column{},
			column{at: time.Date(2000, 1, 2, 0, 0, 0, 5000, time.UTC), came: true},
		},
		"no time":               {pgtype.TimestamptzOID, pgtype.BinaryFormatCode, nil, &column{}, column{came: true}},
		"never":                 {pgtype.TimestamptzOID, pgtype.BinaryFormatCode, of(math.MaxInt64), &column{}, column{}},
		"before all":            {pgtype.TimestamptzOID, pgtype.BinaryFormatCode, of(math.MinInt64), &column{}, column{}},
		"not a time":            {pgtype.TimestamptzOID, pgtype.BinaryFormatCode, []byte("Ada"), &column{}, column{}},
		"a time as text":        {pgtype.TimestamptzOID, pgtype.TextFormatCode, of(1), &column{}, column{}},
		"a time for another":    {pgtype.TimestamptzOID, pgtype.BinaryFormatCode, of(1), new(time.Time), column{}},
		"a time without a zone": {pgtype.TimestampOID, pgtype.BinaryFormatCode, of(1), &column{}, column{}},
		"a number":              {pgtype.Int8OID, pgtype.BinaryFormatCode, of(1), &column{}, column{}},
	} {
		t.Run(name, func(t *testing.T) {
			var r rows
			took := r.direct(c.to, &pgconn.FieldDescription{DataTypeOID: c.oid, Format: c.format}, c.value)
			got, ours := c.to.(*column)
			if took != c.want.came || ours && (got.text != c.want.text || !got.at.Equal(c.want.at) || got.came != c.want.came) {
				t.Errorf("%v, and it got %+v", took, got)
			}
		})
	}
}
