//go:build !sqlite

package demo

import (
	"path/filepath"

	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
)

// openStore opens the example's database: one file, with a library that compiles in a second. With -tags sqlite it is
// SQLite.
func openStore(folder string) (database, error) {
	store, err := bboltstore.Open(filepath.Join(folder, "example.bolt"))
	if err != nil {
		return nil, err // never a nil store in a non-nil interface
	}
	return store, nil
}
