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
	store, err := sqlite.Open(":memory:")
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

// gormDB stands for a *gorm.DB: it hands out the handle it works on. A *bun.DB has it in its field DB; with sqlc it is
// the one that was given to its New.
type gormDB struct{ handle *sql.DB }

func (g gormDB) DB() (*sql.DB, error) { return g.handle, nil }

// The store shares the connection of an application that has one already. The application's tables may point to users
// (id).
func ExampleNew_gorm() {
	ctx := context.Background()
	handle, err := sql.Open("sqlite", sqlite.DSN(":memory:")) // gorm.Open does this
	if err != nil {
		log.Fatal(err)
	}
	handle.SetMaxOpenConns(1) // a database in memory is one of its connection
	application := gormDB{handle}

	db, err := application.DB()
	if err != nil {
		log.Fatal(err)
	}
	store, err := sqlite.New(db, sqlite.Layout{Prefix: "auth_"})
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

// A database of Auth.js's Drizzle adapter is gone on with.
func ExampleDrizzle() {
	store, err := sqlite.Open("app.db", sqlite.Drizzle())
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}
