package keyvalue

import (
	"context"
	"errors"
)

// ErrChanged is the error of [Engine.Commit] if a check fails.
var ErrChanged = errors.New("write conflict: a record has changed since it was read")

// Engine stores records, which are texts with keys, and ordered sets of names. It must be safe for concurrent use. Its
// errors must contain neither keys nor values.
type Engine interface {
	// Read reads all of a query from one snapshot, in one round trip.
	Read(ctx context.Context, q Query) (Answer, error)
	// Commit applies a change if all its checks succeed. Otherwise it applies nothing and returns ErrChanged. It must
	// never retry a change that may have been applied.
	Commit(ctx context.Context, c Change) error
	// Scan returns the next keys of records that begin with prefix, about limit of them, in any order and without the
	// names of sets. The first cursor is empty; next is the cursor for the following call, and empty at the end. A key can
	// be returned twice. A call may return no keys although more follow. For a cursor that it cannot have returned, Scan
	// may return [store.ErrCursor].
	Scan(ctx context.Context, prefix, cursor string, limit int) (keys []string, next string, err error)
	// Sorted reports whether Scan returns each key once, in the order of the keys, and reads only keys with the prefix.
	Sorted() bool
	// Close releases the resources that the engine has opened itself. A handle from the caller stays open.
	Close() error
}

// Query selects the keys and sets to read, at most 100 in total.
type Query struct {
	Keys []string
	Sets []Page
	// Owner also requests a user. The record of the first key is then a session, which contains a copy of its user. The
	// result is the user's current record, from the same snapshot.
	Owner bool
}

// Page is a part of a set: the first Limit names after After, in byte order.
type Page struct {
	Set, After string
	Limit      int
}

// Answer is the result of a query: a Value for each key, and the names of each page.
type Answer struct {
	Values []Value
	Names  [][]string
	// Owner is the user that [Query.Owner] requested, or nil if the engine cannot read the user in the same round trip.
	// If Owner is set, the first value may lack Text and Version, and Names may be nil.
	Owner *Value
}

// Value is a record that was read.
type Value struct {
	Text string
	// Found is false if the record does not exist.
	Found bool
	// Version is defined by the engine. It must differ after a write with another text.
	Version string
}

// Change is a set of writes and their conditions. Each key and each name of a set occurs at most once. Except in
// transactions of the caller, it has at most 110 operations and as many checks.
type Change struct {
	Checks []Check
	Put    []Record
	Delete []string
	Add    []Name
	Remove []Name
}

// Condition is a requirement on the stored record.
type Condition int

// The conditions.
const (
	Absent  Condition = iota // the record does not exist
	Present                  // the record exists
	Same                     // the record has the version
)

// Check makes a change fail unless the record with the key meets the condition.
type Check struct {
	Key     string
	Is      Condition
	Version string // the required version, for the condition [Same]
}

// Record is a record to write.
type Record struct{ Key, Text string }

// Name is an entry of an ordered set of names.
type Name struct{ Set, Name string }
