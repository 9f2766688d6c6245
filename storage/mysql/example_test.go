package mysql_test

import (
	"context"
	"database/sql"
	"log"

	"github.com/latchkey-go/latchkey/storage/mysql"
)

func ExampleOpen() {
	store, err := mysql.Open("app:password@tcp(localhost:3306)/app", mysql.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// gormDB represents a *gorm.DB, which returns its handle. In a *bun.DB it is the field DB. With sqlc it is the argument
// of its New.
type gormDB struct{ handle *sql.DB }

func (g gormDB) DB() (*sql.DB, error) { return g.handle, nil }

// The store shares the existing connections of an application.
func ExampleNew_gorm() {
	var application gormDB // gorm.Open(mysql.Open(dsn)) uses the driver go-sql-driver/mysql

	db, err := application.DB()
	if err != nil {
		log.Fatal(err)
	}
	store, err := mysql.New(db, mysql.Options{Layout: mysql.Layout{Prefix: "auth_"}})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}
