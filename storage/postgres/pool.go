package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
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
		return read(ctx, pool, query, args)
	}
	return sqlstore.NewOwner(handleOf(connector), d, layout...)
}

// read runs a query on a connection of the pool, which has looked whether it is good.
func read(ctx context.Context, pool *pgxpool.Pool, query string, args []any) (sqlstore.Rows, error) {
	found, err := pool.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return rows{found}, nil
}

// rows are those of pgx, as [sqlstore.Rows] wants them.
type rows struct{ pgx.Rows }

// Close implements [sqlstore.Rows].
func (r rows) Close() error {
	r.Rows.Close()
	return r.Err()
}
