package postgres_test

import (
	"context"
	"database/sql"
	"log"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkey-go/latchkey/storage/postgres"
)

func ExampleOpen() {
	store, err := postgres.Open("postgres://app@localhost/app", postgres.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// The store shares the existing pool of an application, for example with sqlc's pgx/v5.
func ExampleNewFromPool() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://app@localhost/app")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	store, err := postgres.NewFromPool(pool, postgres.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
}

// gormDB represents a *gorm.DB, which returns its handle. In a *bun.DB it is the field DB. With sqlc it is the argument
// of its New.
type gormDB struct{ handle *sql.DB }

func (g gormDB) DB() (*sql.DB, error) { return g.handle, nil }

// The store shares the existing connections of an application.
func ExampleNew_gorm() {
	var application gormDB // gorm.Open(postgres.Open(dsn)) uses the driver pgx

	db, err := application.DB()
	if err != nil {
		log.Fatal(err)
	}
	store, err := postgres.New(db, postgres.Options{Layout: postgres.Layout{Prefix: "auth_"}})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// A database of Auth.js's PostgreSQL adapter can be used without changes.
func ExampleAuthJS() {
	store, err := postgres.Open("postgres://app@localhost/app", postgres.Options{Layout: postgres.AuthJS()})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}
