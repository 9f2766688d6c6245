package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkey-go/latchkey/internal/sqlpool"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// owned is a connector that closes its pool when the handle is closed.
type owned struct {
	driver.Connector
	pool *pgxpool.Pool
}

// Close implements [io.Closer] for [sql.DB.Close].
func (o owned) Close() error {
	o.pool.Close()
	return nil
}

// handleOf returns a handle on the connections of a pool. It keeps no idle connections.
func handleOf(connector driver.Connector) *sql.DB {
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(0)
	return db
}

// onPool returns a store whose transactions and writes use a handle on the pool's connections. Lookups call the pool
// directly, because database/sql would double the allocations of a lookup.
func onPool(pool *pgxpool.Pool, connector driver.Connector, options Options) (*Store, error) {
	lookups := &sqlpool.Pool{Lateral: true}
	lookups.Query = func(ctx context.Context, query string, args []any) (sqlpool.Rows, error) {
		found, err := pool.Query(ctx, query, args...) // on a connection that the pool has checked
		if err != nil {
			return nil, err
		}
		return &rows{Rows: found}, nil
	}
	if config := pool.Config(); !perRequest(config) {
		lookups.Lookups = max(1, int(config.MaxConns*3/4)) // the other connections are for writes
	}
	return wrapped(sqlstore.NewOwner(handleOf(connector), dialect(), options.Layout, lookups))
}

// perRequest reports whether the pool prepares connections for each request, for example to restrict the visible rows.
// Then a query must not be shared between requests.
func perRequest(c *pgxpool.Config) bool {
	//lint:ignore SA1019 pools still have BeforeAcquire
	return c.PrepareConn != nil || c.BeforeAcquire != nil //nolint:staticcheck // as above, for golangci-lint
}

// rows adapts pgx.Rows to [sqlpool.Rows].
type rows struct {
	pgx.Rows
	at pgtype.Timestamptz // the last time that was read
}

// timePlan decodes times in the binary format, which the server sends by default. It contains no state of a connection.
var timePlan = (&pgtype.TimestamptzCodec{}).PlanScan(
	nil, pgtype.TimestamptzOID, pgtype.BinaryFormatCode, &pgtype.Timestamptz{},
)

// Scan implements [sqlpool.Rows].
func (r *rows) Scan(into ...any) error {
	values, fields := r.RawValues(), r.FieldDescriptions()
	if len(into) != len(values) {
		return fmt.Errorf("%d columns for %d destinations", len(values), len(into))
	}
	for i, to := range into {
		f := &fields[i]
		if r.direct(to, f, values[i]) {
			continue
		}
		if err := r.Conn().TypeMap().Scan(f.DataTypeOID, f.Format, values[i], to); err != nil {
			return fmt.Errorf("column %q: %w", f.Name, err)
		}
	}
	return nil
}

// direct passes texts and times, the types of most columns, to their destinations, and reports whether it could. pgx
// would allocate a plan and an interface for each of them, and two more values for a time.
func (r *rows) direct(to any, f *pgconn.FieldDescription, value []byte) bool {
	switch f.DataTypeOID {
	case pgtype.TextOID, pgtype.VarcharOID:
		text, takes := to.(interface{ ScanText(text []byte) })
		if takes {
			text.ScanText(value)
		}
		return takes
	case pgtype.TimestamptzOID:
		at, takes := to.(interface{ ScanTime(at time.Time) })
		if !takes || f.Format != pgtype.BinaryFormatCode || timePlan.Scan(value, &r.at) != nil ||
			r.at.InfinityModifier != pgtype.Finite {
			return false
		}
		at.ScanTime(r.at.Time)
		return true
	default:
		return false
	}
}

// Close implements [sqlpool.Rows].
func (r *rows) Close() error {
	r.Rows.Close()
	return r.Err()
}
