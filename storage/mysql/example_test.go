package mysql_test

import (
	"context"
	"database/sql"
	"log"

	"github.com/latchkey-go/latchkey/storage/mysql"
)

func ExampleOpen() {
	store, err := mysql.Open("app:password@tcp(localhost:3306)/app")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// gormDB stands for a *gorm.DB: it hands out the handle it works on. A *bun.DB has it in its field DB; with sqlc it is
// the one that was given to its New.
type gormDB struct{ handle *sql.DB }

func (g gormDB) DB() (*sql.DB, error) { return g.handle, nil }

// The store shares the connections of an application that has some already.
func ExampleNew_gorm() {
	var application gormDB // gorm.Open(mysql.Open(dsn)) uses the driver go-sql-driver/mysql

	db, err := application.DB()
	if err != nil {
		log.Fatal(err)
	}
	store, err := mysql.New(db, mysql.Layout{Prefix: "auth_"})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}
