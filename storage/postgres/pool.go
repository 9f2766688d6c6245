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

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// owned is the connector of a pool that closing the handle closes too.
type owned struct {
	driver.Connector
	pool *pgxpool.Pool
}

// Close implements [io.Closer] for [sql.DB.Close].
func (o owned) Close() error {
	o.pool.Close()
	return nil
}

// handleOf is a handle on the connections of a pool, which keeps none for itself.
func handleOf(connector driver.Connector) *sql.DB {
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(0)
	return db
}

// onPool is a store whose transactions and writes go through a handle on the pool's connections. Look-ups go to the
// pool itself: around each of them database/sql allocates as much again as the driver.
func onPool(pool *pgxpool.Pool, connector driver.Connector, layout []Layout) (*Store, error) {
	d := dialect()
	d.Read = func(ctx context.Context, query string, args []any) (sqlstore.Rows, error) {
		found, err := pool.Query(ctx, query, args...) // on a connection that the pool has looked at
		if err != nil {
			return nil, err
		}
		return &rows{Rows: found}, nil
	}
	if config := pool.Config(); !perRequest(config) {
		d.LookUps = max(1, int(config.MaxConns*3/4)) // the other connections are for what writes
	}
	return sqlstore.NewOwner(handleOf(connector), d, layout...)
}

// perRequest reports whether a connection is prepared for whoever acquires it, to show each request other rows: there
// nobody asks for another.
func perRequest(c *pgxpool.Config) bool {
	//lint:ignore SA1019 pools still have BeforeAcquire
	return c.PrepareConn != nil || c.BeforeAcquire != nil //nolint:staticcheck // as above, for golangci-lint
}

// rows are those of pgx, as [sqlstore.Rows] wants them.
type rows struct {
	pgx.Rows
	at pgtype.Timestamptz // the time that was read last
}

// timePlan reads times as the server sends them to all who do not ask for texts. Plans hold nothing of a connection.
var timePlan = (&pgtype.TimestamptzCodec{}).PlanScan(
	nil, pgtype.TimestamptzOID, pgtype.BinaryFormatCode, &pgtype.Timestamptz{},
)

// Scan implements [sqlstore.Rows].
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

// direct hands texts and times, which is what most columns are, to their destinations. For each of them pgx would
// allocate a plan and an interface that holds it, and for a time two values more. It reports whether it could.
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

// Close implements [sqlstore.Rows].
func (r *rows) Close() error {
	r.Rows.Close()
	return r.Err()
}
