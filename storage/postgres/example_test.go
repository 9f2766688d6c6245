package postgres_test

import (
	"context"
	"database/sql"
	"log"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkey-go/latchkey/storage/postgres"
)

func ExampleOpen() {
	store, err := postgres.Open("postgres://app@localhost/app")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// The store shares the pool of an application that has one already, as with sqlc's pgx/v5.
func ExampleNewFromPool() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://app@localhost/app")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	store, err := postgres.NewFromPool(pool)
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
}

// gormDB stands for a *gorm.DB: it hands out the handle it works on. A *bun.DB has it in its field DB; with sqlc it is
// the one that was given to its New.
type gormDB struct{ handle *sql.DB }

func (g gormDB) DB() (*sql.DB, error) { return g.handle, nil }

// The store shares the connections of an application that has some already.
func ExampleNew_gorm() {
	var application gormDB // gorm.Open(postgres.Open(dsn)) uses the driver pgx

	db, err := application.DB()
	if err != nil {
		log.Fatal(err)
	}
	store, err := postgres.New(db, postgres.Layout{Prefix: "auth_"})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// A database of Auth.js's PostgreSQL adapter is gone on with.
func ExampleAuthJS() {
	store, err := postgres.Open("postgres://app@localhost/app", postgres.AuthJS())
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}
