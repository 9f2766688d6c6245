// Package bboltstore stores users, accounts, sessions and tokens in one file, with the embedded key-value store bbolt.
// It is for a program with a single process: only one process at a time can open the file.
//
//	store, err := bboltstore.Open("app.bolt")
//
// [New] uses your own database. There are no tables to create. The package is not named bbolt so that it can be
// imported together with go.etcd.io/bbolt.
package bboltstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// Store is a store in a bbolt file: a [store.Store] that implements all optional interfaces too.
type Store struct {
	*records
	path string
}

// records is an alias to embed the type without an exported field.
type records = keyvalue.Store

// Close closes the file if Open opened it. A database passed to New stays open.
func (s *Store) Close() error { return s.records.Close() }

// Ping checks that the file is open.
func (s *Store) Ping(ctx context.Context) error { return s.records.Ping(ctx) }

// Files returns the path of the file, for tools that check permissions.
func (s *Store) Files(context.Context) ([]string, error) { return []string{s.path}, nil }

// InTransaction implements [store.Transactor]: see [keyvalue.Store.InTransaction]. tx is a *Store.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	return s.records.InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
		return do(ctx, &Store{tx.(*keyvalue.Store), s.path})
	})
}

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
	return &Store{keyvalue.New("bbolt", newEngine(db, true)), db.Path()}, nil
}

// New returns a Store on an open database, which the caller closes. The Store uses only the bucket "latchkey".
func New(db *bbolt.DB) (*Store, error) {
	if db == nil {
		return nil, errors.New("bbolt: no database: give New an open one")
	}
	return &Store{keyvalue.New("bbolt", newEngine(db, false)), db.Path()}, nil
}
