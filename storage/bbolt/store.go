// Package bboltstore keeps users, accounts, sessions and tokens in one file, with the embedded key-value store bbolt.
// It is for a program that runs once: one process at a time can have the file open.
//
//	store, err := bboltstore.Open("app.bolt")
//
// [New] takes a database of your own. There are no tables to make. The package is not called bbolt so that it can be
// imported beside go.etcd.io/bbolt.
package bboltstore

import (
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// Store is a store in a file: a [store.Store] with all the interfaces beside it.
type Store = keyvalue.Store

// patience is how long Open waits for another process to let go of the file: one that is told to stop has answers to
// finish.
const patience = 5 * time.Second

// Open returns a Store in a file, which it makes, readable by its owner alone, when there is none; its folder has to be
// there. While another process has the file open it waits five seconds, and then fails. Close it when done.
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

// New returns a Store on an open database, which stays the caller's to close. It keeps everything in the bucket
// "latchkey", and touches no other.
func New(db *bbolt.DB) (*Store, error) {
	if db == nil {
		return nil, errors.New("bbolt: no database: give New an open one")
	}
	return keyvalue.New("bbolt", newEngine(db, false)), nil
}
