// Package bboltstore stores users, accounts, sessions and tokens in one file, with the embedded key-value store bbolt.
// It is for a program with a single process: only one process at a time can open the file.
//
//	store, err := bboltstore.Open("app.bolt")
//
// [New] uses your own database. There are no tables to create. The package is not named bbolt so that it can be
// imported together with go.etcd.io/bbolt.
package bboltstore

import (
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// Store is a store in a bbolt file: a [store.Store] that implements all optional interfaces too.
// Its methods are those of [keyvalue.Store].
type Store = keyvalue.Store

// patience is the time that Open waits until another process closes the file: a process that shuts down may still
// handle requests.
const patience = 5 * time.Second

// Open returns a Store in a file. It creates a missing file, readable only by its owner; the folder must exist. While
// another process has the file open, Open waits up to five seconds and then fails. Close the Store when done.
func Open(path string) (*Store, error) {
	return open(path, patience)
}

func open(path string, patience time.Duration) (*Store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: patience, FreelistType: bbolt.FreelistMapType})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, fmt.Errorf("bbolt: open: %s: another process has the file open: stop it, or use another file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("bbolt: open: %w", err)
	}
	return keyvalue.New("bbolt", newEngine(db, true)), nil
}

// New returns a Store on an open database, which the caller closes. The Store uses only the bucket "latchkey".
func New(db *bbolt.DB) (*Store, error) {
	if db == nil {
		return nil, errors.New("bbolt: no database: give New an open one")
	}
	return keyvalue.New("bbolt", newEngine(db, false)), nil
}
