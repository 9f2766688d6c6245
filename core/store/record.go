package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// Size limits of a [Record]: 32 bytes, 255 bytes and 8 KiB.
const (
	MaxRecordKind  = recordstore.MaxKind
	MaxRecordKey   = recordstore.MaxKey
	MaxRecordValue = recordstore.MaxValue
)

// Record is a small document that a plugin stores in addition to users: for example a password hash, the secret of an
// authenticator app, or an API key. Kind and Key identify it.
type Record struct {
	// Kind is the type of the record, chosen by the plugin: 1 to 32 characters, a to z or hyphen.
	Kind string
	// Key is unique among the records of a kind: 1 to 255 bytes of UTF-8 without control characters, compared exactly.
	// Stores keep it unchanged, and administrators can see it: hash a secret before you use it as a Key.
	Key string
	// UserID is the user that the record belongs to. It is empty if the record belongs to no user.
	UserID string
	// Value is one JSON value of at most 8 KiB, which may be null, without surrounding white space. Its bytes are
	// preserved exactly: the order of members, inner white space, escapes and the digits of numbers.
	Value json.RawMessage
	// Expires is when the record expires, in milliseconds. Zero means never. An expired record may still exist; the reader
	// must check.
	Expires time.Time
	// Version is the number of writes since the record was created, starting at 1. The store sets it.
	Version int64
}

// Check returns an error if a record cannot be written. The error names the field and the rule, and never contains the
// value. Every store calls Check at the start of CreateRecord and UpdateRecord.
func (r *Record) Check() error { return (*recordstore.Record)(r).Check() }

// Clone returns a copy with its own Value. It returns nil for nil.
func (r *Record) Clone() *Record {
	if r == nil {
		return nil
	}
	c := *r
	c.Value = bytes.Clone(r.Value)
	return &c
}

// Format omits Key and Value for all fmt verbs, because they may be credentials.
func (r Record) Format(f fmt.State, verb rune) { recordstore.Record(r).Format(f, verb) }

// LogValue returns only the kind, owner and version.
func (r Record) LogValue() slog.Value { return recordstore.Record(r).LogValue() }

// IsRecordName reports whether kind and key are valid. For invalid ones, a store returns [ErrNotFound] without a query,
// because the database could misinterpret them.
func IsRecordName(kind, key string) bool { return recordstore.IsName(kind, key) }

// RecordName is the name of a [Record].
type RecordName struct{ Kind, Key string }

// RecordPairReader reads two records with one query, for plugins that need both for each request.
type RecordPairReader interface {
	// RecordPair returns the records with two names, which can have different kinds. A record that does not exist is nil,
	// which is not an error. If one of the names is invalid, both are nil. See [PickRecord].
	RecordPair(ctx context.Context, first, second RecordName) (a, b *Record, err error)
}

// PickRecord returns a copy of the record with a name in the result of a query, or nil.
func PickRecord(list []*Record, name RecordName) *Record {
	for _, r := range list {
		if r != nil && r.Kind == name.Kind && r.Key == name.Key {
			return r.Clone()
		}
	}
	return nil
}

// RecordStore stores records. If a store is a [Transactor] and a RecordStore, the Store in a transaction is a
// RecordStore too.
//
// Of concurrent calls of UpdateRecord for one version, of DeleteRecord for one record, or of CreateRecord for one name,
// exactly one succeeds, in all processes that share the database. Single-use tokens, counters and rotation rely on
// this.
//
// If a transaction is rolled back or restarted, a record r that was written in it keeps the Version that the write set.
// So read or create the record within the transaction.
//
// A store has no clock: it returns an expired record that still exists, its name stays taken, and it can be updated.
// [UserDeleter] deletes the records of the user, and [Cleaner] the expired ones.
type RecordStore interface {
	// CreateRecord stores a record and sets r.Version to 1, even if there was an earlier record of that name. It returns
	// ErrConflict if the name is taken, also by an expired record; core deletes such a record first. It returns
	// ErrNotFound if r.UserID is set and there is no such user.
	CreateRecord(ctx context.Context, r *Record) error
	// Record returns the record of that name, expired or not. It returns ErrNotFound if there is none.
	Record(ctx context.Context, kind, key string) (*Record, error)
	// UpdateRecord overwrites Value and Expires of a record if its stored version is r.Version, and increments r.Version.
	// The record's owner does not change, whatever r.UserID is. It returns ErrConflict if the stored version is another
	// one, and ErrNotFound if the record does not exist; it must not create it again.
	UpdateRecord(ctx context.Context, r *Record) error
	// DeleteRecord deletes a record of any version and returns it. It returns ErrNotFound if there is none.
	DeleteRecord(ctx context.Context, kind, key string) (*Record, error)
	// UserRecords returns the records of a user, sorted by kind and key. If kind is not empty, it returns only records of
	// that kind. An empty result is not an error. If userID is empty, the result is empty: records without an owner are
	// not returned.
	UserRecords(ctx context.Context, userID, kind string) ([]*Record, error)
	// DeleteUserRecords deletes the records of a user and returns their number. If kind is not empty, it deletes only
	// records of that kind. If userID is empty, it deletes nothing. Outside a transaction, a store may delete them in
	// several steps; after an error, the records deleted so far stay deleted.
	DeleteUserRecords(ctx context.Context, userID, kind string) (int, error)
}
