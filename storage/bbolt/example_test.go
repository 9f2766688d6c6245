package bboltstore_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/latchkey-go/latchkey/core"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
)

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()

	store, err := bboltstore.Open(filepath.Join(folder, "app.bolt"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()

	ctx := context.Background()
	if _, err := store.CreateUser(ctx, &core.User{ID: core.NewID(), Name: "Ada", Email: "ada@example.com"}); err != nil {
		log.Fatal(err)
	}
	user, err := store.UserByEmail(ctx, "ada@example.com")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(user.Name)
	// Output: Ada
}

// The store shares the existing file of an application.
func ExampleNew() {
	db, err := bbolt.Open("app.bolt", 0o600, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	store, err := bboltstore.New(db)
	if err != nil {
		log.Fatal(err)
	}
	_ = store // core.Config{Store: store}
}
