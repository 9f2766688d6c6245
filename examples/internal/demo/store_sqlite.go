//go:build sqlite

package demo

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// openStore opens the example's database and creates missing tables.
func openStore(folder string) (database, error) {
	store, err := sqlite.Open(filepath.Join(folder, "example.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := store.Migrate(context.Background()); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}
