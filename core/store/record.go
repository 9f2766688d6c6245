package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"
	"unicode"
	"unicode/utf8"
)

// The limits of a [Record], in bytes.
const (
	MaxRecordKind  = 32
	MaxRecordKey   = 255
	MaxRecordValue = 8 << 10
)

// Record is a small document that a part of an application keeps beside users: a password's hash, the secret of an
// authenticator, an API key. Kind and Key name it together.
type Record struct {
	// Kind says what the record is: 1 to 32 lower-case letters and hyphens, chosen by the part that writes it.
	Kind string
	// Key is unique among the records of a kind: 1 to 255 bytes of UTF-8 without control characters, compared exactly.
	// Stores keep it as it is, and administrators see it: a secret is hashed before it becomes a Key.
	Key string
	// UserID is the user with whom the record goes; empty: nobody's.
	UserID string
	// Value is one JSON value of at most 8 KiB, null included, without space around it. Its bytes come back as they went
	// in: the order of members, spaces between them, escapes and the digits of numbers are kept.
	Value json.RawMessage
	// Expires is when the record ends, kept to the millisecond; zero: never. Afterwards the record may be gone and may
	// still be there, and who reads it decides.
	Expires time.Time
	// Version counts the writes since the record was created, from 1. The store keeps it.
	Version int64
}

// Check returns what is wrong with a record that is about to be written, and nil when nothing is. The error names the
// field and the rule, and never the value. Every store calls it at the beginning of CreateRecord and UpdateRecord.
func (r *Record) Check() error {
	switch {
	case !isKind(r.Kind):
		return fmt.Errorf("store: record: Kind %.40q must be 1 to %d letters a to z and hyphens", r.Kind, MaxRecordKind)
	case !isKey(r.Key):
		return fmt.Errorf("store: record %s: Key must be 1 to %d bytes of UTF-8 without control characters; "+
			"hash what is longer", r.Kind, MaxRecordKey)
	case len(r.Value) > MaxRecordValue:
		return fmt.Errorf("store: record %s: Value has %d bytes and may have %d; keep less in it", r.Kind, len(r.Value),
			MaxRecordValue)
	case !json.Valid(r.Value) || !utf8.Valid(r.Value) || len(bytes.TrimSpace(r.Value)) < len(r.Value):
		return fmt.Errorf("store: record %s: Value must be one JSON value in UTF-8 without space around it; "+
			"null is the empty one", r.Kind)
	case !isText(r.UserID):
		return fmt.Errorf("store: record %s: UserID must be UTF-8 without control characters", r.Kind)
	}
	return nil
}

// Clone returns a copy whose Value is its own; nil stays nil.
func (r *Record) Clone() *Record {
	if r == nil {
		return nil
	}
	c := *r
	c.Value = bytes.Clone(r.Value)
	return &c
}

// Format hides Key and Value from every fmt verb: they can be what signs somebody in.
func (r Record) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "record %s (version %d)", r.Kind, r.Version)
}

// LogValue shows kind, owner and version only.
func (r Record) LogValue() slog.Value {
	return slog.GroupValue(slog.String("kind", r.Kind), slog.String("user", r.UserID), slog.Int64("version", r.Version))
}

// IsRecordName reports whether a record can have that kind and key. For others a store answers [ErrNotFound] without
// asking the engine, which could take them for something else.
func IsRecordName(kind, key string) bool { return isKind(kind) && isKey(key) }

func isKind(kind string) bool {
	for i := range len(kind) {
		if c := kind[i]; (c < 'a' || c > 'z') && c != '-' {
			return false
		}
	}
	return kind != "" && len(kind) <= MaxRecordKind
}

func isKey(key string) bool { return key != "" && len(key) <= MaxRecordKey && isText(key) }

// isText reports whether s is UTF-8 without control characters.
func isText(s string) bool {
	for _, c := range s {
		if unicode.IsControl(c) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// RecordStore keeps records. A transaction of a [Transactor] that is a RecordStore hands over a RecordStore too.
//
// Of any number of concurrent UpdateRecord of one version, DeleteRecord of one record, and CreateRecord of one name,
// exactly one succeeds. That is what single use, counters and rotation stand on, in all processes that share the
// engine.
//
// A record that a call has written to r in a transaction keeps the Version that the call set when the transaction is
// undone or begun again: read or make the record within it.
//
// A store has no clock: an expired record that is still there is returned, keeps its name taken, and can be updated.
// [UserDeleter] removes the records of the user, and [Cleaner] those that have expired.
type RecordStore interface {
	// CreateRecord stores a record and sets r.Version to 1, also when there was another one of that name before.
	// ErrConflict: the name is taken, be it by an expired record; core deletes that first. ErrNotFound: r.UserID is set,
	// and there is no such user.
	CreateRecord(ctx context.Context, r *Record) error
	// Record returns the record of that name, expired or not; ErrNotFound when there is none.
	Record(ctx context.Context, kind, key string) (*Record, error)
	// UpdateRecord overwrites Value and Expires of a record whose version is still r.Version, and sets r.Version to the
	// one that follows. The record stays its user's, whatever r.UserID says. ErrConflict: the stored version is another.
	// ErrNotFound: the record is gone, and does not come back.
	UpdateRecord(ctx context.Context, r *Record) error
	// DeleteRecord removes a record, of whatever version, and returns it; ErrNotFound when there is none.
	DeleteRecord(ctx context.Context, kind, key string) (*Record, error)
	// UserRecords returns the records of a user, or those of one kind unless kind is empty, ordered by kind and key; none
	// is no error. An empty userID has none: it does not stand for the records that are nobody's.
	UserRecords(ctx context.Context, userID, kind string) ([]*Record, error)
	// DeleteUserRecords removes the records of a user, or those of one kind unless kind is empty, and returns how many
	// there were. An empty userID has none. Outside a transaction a store may remove them some at a time: what went before
	// an error stays gone.
	DeleteUserRecords(ctx context.Context, userID, kind string) (int, error)
}
