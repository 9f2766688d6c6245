// Package orm_test runs stores on the connections of an ORM, together with the application's tables.
package orm_test

import (
	"database/sql"
	"os"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// note is a table of the application.
type note struct {
	ID   string `gorm:"primaryKey" bun:",pk"`
	Text string
}

// openGORM opens a store on GORM's connection.
func openGORM(t *testing.T, dsn string) (*postgres.Store, *gorm.DB) {
	t.Helper()
	db, err := gorm.Open(gormpostgres.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	handle, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	return open(t, handle), db
}

// openBun opens a store on bun's connection.
func openBun(t *testing.T, dsn string) (*postgres.Store, *bun.DB) {
	t.Helper()
	handle, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	db := bun.NewDB(handle, pgdialect.New())
	return open(t, db.DB), db
}

func open(t *testing.T, handle *sql.DB) *postgres.Store {
	t.Helper()
	t.Cleanup(func() { _ = handle.Close() })
	store, err := postgres.New(handle, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

// contract runs all store cases on one store. It empties the tables before each case.
func contract(t *testing.T, dsn string, store core.Store) {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	storetest.Run(t, func(t *testing.T) core.Store {
		for _, table := range []string{
			"latchkey_records", "accounts", "sessions", "authenticators", "verification_token", "users",
		} {
			if _, err := db.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
				t.Fatal(err)
			}
		}
		return store
	})
}

func TestGORM(t *testing.T) {
	dsn := engines.PostgresSchema(t)
	store, _ := openGORM(t, dsn)
	contract(t, dsn, store)
	t.Logf("postgres through GORM: %d cases", storetest.Count())
}

func TestBun(t *testing.T) {
	dsn := engines.PostgresSchema(t)
	store, _ := openBun(t, dsn)
	contract(t, dsn, store)
	t.Logf("postgres through bun: %d cases", storetest.Count())
}

// TestAlongsideOurTables writes to an application's table through the ORM, with a user of the store.
func TestAlongsideOurTables(t *testing.T) {
	store, db := openGORM(t, engines.PostgresSchema(t))
	if err := db.AutoMigrate(&note{}); err != nil {
		t.Fatal(err)
	}
	ada := &core.User{ID: "11111111-1111-4111-8111-111111111111", Email: "ada@example.com"}
	user, err := store.CreateUser(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Create(&note{ID: user.ID, Text: "hers"}).Error; err != nil {
		t.Fatal(err)
	}
	var found note
	if err := db.First(&found, "id = ?", user.ID).Error; err != nil || found.Text != "hers" {
		t.Errorf("%+v, %v", found, err)
	}
	var email string
	err = db.Raw(`SELECT email FROM users WHERE id = ?`, user.ID).Scan(&email).Error
	if err != nil || email != "ada@example.com" {
		t.Errorf("%q, %v", email, err)
	}

	other, bundb := openBun(t, engines.PostgresSchema(t))
	if _, err := bundb.NewCreateTable().Model((*note)(nil)).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if user, err = other.CreateUser(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	if _, err := bundb.NewInsert().Model(&note{ID: user.ID, Text: "hers"}).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	count, err := bundb.NewSelect().Table("users").Where("email = ?", "ada@example.com").Count(t.Context())
	if err != nil || count != 1 {
		t.Errorf("%d users, %v", count, err)
	}
}
