package keyvalue

import (
	"context"
	"errors"
)

// ErrChanged is what Commit returns when a check failed.
var ErrChanged = errors.New("a record is not what it was when it was read")

// Engine keeps records, which are texts under keys, and ordered sets of names. It is safe for concurrent use. Its
// errors hold neither keys nor values.
type Engine interface {
	// Read answers all of a query from one moment, in one round trip.
	Read(ctx context.Context, q Query) (Answer, error)
	// Commit makes a change when all its checks hold, and nothing of it otherwise: ErrChanged. A change that may have been
	// made is never sent again.
	Commit(ctx context.Context, c Change) error
	// Close releases what the engine has opened by itself. A handle that it was given stays open.
	Close() error
}

// Query is what to read. It has at most 100 keys and sets.
type Query struct {
	Keys []string
	Sets []Page
	// Owner also asks for the user whom the record under the first key is a copy of, from the same moment.
	Owner bool
}

// Page is a part of a set: the first Limit names behind After in the order of their bytes.
type Page struct {
	Set, After string
	Limit      int
}

// Answer holds a Value for each key and the names of each page.
type Answer struct {
	Values []Value
	Names  [][]string
	// Owner is what [Query.Owner] asks for; nil when the engine cannot tell in the same round trip. Where it is there, the
	// first value needs no text and no version, and there need be no names.
	Owner *Value
}

// Value is a record as it was read.
type Value struct {
	Text string
	// Found is false when there is no such record.
	Found bool
	// Version is the engine's own: it is another when the record has been written with another text.
	Version string
}

// Change is what to write, and what has to hold for it. No key and no name of a set comes twice. But for transactions
// of the caller's own it is at most 110 operations and as many checks.
type Change struct {
	Checks []Check
	Put    []Record
	Delete []string
	Add    []Name
	Remove []Name
}

// Condition is what a check is about.
type Condition int

// The conditions.
const (
	Absent  Condition = iota // there is no such record
	Present                  // there is one
	Same                     // it has the version
)

// Check is what has to hold for a change.
type Check struct {
	Key     string
	Is      Condition
	Version string // for Same
}

// Record is a text under a key.
type Record struct{ Key, Text string }

// Name is a name in a set.
type Name struct{ Set, Name string }
