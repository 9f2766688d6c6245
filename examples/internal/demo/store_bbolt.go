//go:build !sqlite

package demo

import (
	"path/filepath"

	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
)

// openStore opens the example's database: one file, by a library that compiles in a second. With -tags sqlite it is
// SQLite.
func openStore(folder string) (database, error) {
	store, err := bboltstore.Open(filepath.Join(folder, "example.bolt"))
	if err != nil {
		return nil, err // and not a nil store in an interface that is not nil
	}
	return store, nil
}
