// Package recordstore has the contract of stores for records and the errors of stores, for packages that cannot import
// core/store. Package core/store documents them.
package recordstore

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

// Size limits in bytes.
const (
	MaxKind  = 32
	MaxKey   = 255
	MaxValue = 8 << 10
)

// Record is a small document. Its fields are those of store.Record, so that Go can convert one to the other.
type Record struct {
	Kind, Key, UserID string
	Value             json.RawMessage
	Expires           time.Time
	Version           int64
}

// Store is the interface store.RecordStore, with the type [Record] of this package.
type Store interface {
	CreateRecord(ctx context.Context, r *Record) error
	Record(ctx context.Context, kind, key string) (*Record, error)
	UpdateRecord(ctx context.Context, r *Record) error
	DeleteRecord(ctx context.Context, kind, key string) (*Record, error)
	UserRecords(ctx context.Context, userID, kind string) ([]*Record, error)
	DeleteUserRecords(ctx context.Context, userID, kind string) (int, error)
}

// Check returns an error if the record cannot be written. The error names the field and the rule, and never contains
// the value.
func (r *Record) Check() error {
	switch {
	case !isKind(r.Kind):
		return fmt.Errorf("store: record: Kind %.40q must be 1 to %d letters a to z and hyphens", r.Kind, MaxKind)
	case !isKey(r.Key):
		return fmt.Errorf("store: record %s: Key must be 1 to %d bytes of UTF-8 without control characters; "+
			"hash what is longer", r.Kind, MaxKey)
	case len(r.Value) > MaxValue:
		return fmt.Errorf("store: record %s: Value has %d bytes and may have %d; keep less in it", r.Kind, len(r.Value),
			MaxValue)
	case !json.Valid(r.Value) || !utf8.Valid(r.Value) || len(bytes.TrimSpace(r.Value)) < len(r.Value):
		return fmt.Errorf("store: record %s: Value must be one JSON value in UTF-8 without space around it; "+
			"null is the empty one", r.Kind)
	case !isText(r.UserID):
		return fmt.Errorf("store: record %s: UserID must be UTF-8 without control characters", r.Kind)
	}
	return nil
}

// Format omits Key and Value for all fmt verbs, because they may be credentials.
func (r Record) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "record %s (version %d)", r.Kind, r.Version)
}

// LogValue returns only the kind, owner and version.
func (r Record) LogValue() slog.Value {
	return slog.GroupValue(slog.String("kind", r.Kind), slog.String("user", r.UserID), slog.Int64("version", r.Version))
}

// IsName reports whether kind and key are valid.
func IsName(kind, key string) bool { return isKind(kind) && isKey(key) }

func isKind(kind string) bool {
	for i := range len(kind) {
		if c := kind[i]; (c < 'a' || c > 'z') && c != '-' {
			return false
		}
	}
	return kind != "" && len(kind) <= MaxKind
}

func isKey(key string) bool { return key != "" && len(key) <= MaxKey && isText(key) }

// isText reports whether s is UTF-8 without control characters.
func isText(s string) bool {
	for _, c := range s {
		if unicode.IsControl(c) {
			return false
		}
	}
	return utf8.ValidString(s)
}
