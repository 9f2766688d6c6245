package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

func ExampleOpen() {
	ctx := context.Background()
	store, err := sqlite.Open(":memory:", sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	user, err := store.CreateUser(ctx, &core.User{ID: "1", Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(user.Email)
	// Output: ada@example.com
}

// gormDB represents a *gorm.DB, which returns its handle. In a *bun.DB it is the field DB. With sqlc it is the argument
// of its New.
type gormDB struct{ handle *sql.DB }

func (g gormDB) DB() (*sql.DB, error) { return g.handle, nil }

// The store shares the existing connection of an application. The application's tables may reference users (id).
func ExampleNew_gorm() {
	ctx := context.Background()
	handle, err := sql.Open("sqlite", sqlite.DSN(":memory:")) // gorm.Open does this
	if err != nil {
		log.Fatal(err)
	}
	handle.SetMaxOpenConns(1) // each connection has its own database in memory
	application := gormDB{handle}

	db, err := application.DB()
	if err != nil {
		log.Fatal(err)
	}
	store, err := sqlite.New(db, sqlite.Options{Layout: sqlite.Layout{Prefix: "auth_"}})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := store.CreateUser(ctx, &core.User{ID: "1", Email: "ada@example.com"}); err != nil {
		log.Fatal(err)
	}

	var email string
	if err := db.QueryRowContext(ctx, "SELECT email FROM auth_users").Scan(&email); err != nil {
		log.Fatal(err)
	}
	fmt.Println(email)
	// Output: ada@example.com
}

// A database of Auth.js's Drizzle adapter can be used without changes.
func ExampleDrizzle() {
	store, err := sqlite.Open("app.db", sqlite.Options{Layout: sqlite.Drizzle()})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}
