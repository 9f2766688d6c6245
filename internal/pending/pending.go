// Package pending stores pending sign-ins: encrypted, in several records, under a key that only the browser has. The
// request that takes the sign-in completes it. Any other request fails, whether it has a copy of the cookie or is from
// another tab of the same browser.
package pending

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/internal/purposekey"
	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// Kind is the kind of the records.
const Kind = "pending"

const (
	// pieceSize is the number of characters in one record. An account with tokens and a profile may need several records.
	pieceSize = recordstore.MaxValue - 2
	// maxPieces allows 48 KiB.
	maxPieces = 8
	purpose   = "pending sign-in"
)

// Name is the content of the cookie.
type Name struct {
	Key    string `json:"key"`
	Pieces int    `json:"pieces"`
}

// Store stores pending sign-ins.
type Store struct {
	Records recordstore.Store
	Keys    *purposekey.Keys
}

// Save stores v in as many records as it needs. If userID is not empty, the records belong to this user and are deleted
// with them; the error is recordstore.ErrNotFound if the store does not have the user.
func (s *Store) Save(ctx context.Context, key, userID string, v any, expires time.Time) (Name, error) {
	text, err := s.Keys.Encrypt(purpose, v, expires)
	if err != nil {
		return Name{}, err
	}
	if len(text) > maxPieces*pieceSize {
		return Name{}, fmt.Errorf("it has %d bytes, the limit is %d: let the provider's Account function keep less",
			len(text), maxPieces*pieceSize)
	}
	name := Name{Key: key}
	for piece := range slices.Chunk([]byte(text), pieceSize) {
		r := &recordstore.Record{
			Kind: Kind, Key: pieceKey(key, name.Pieces), UserID: userID, Value: append(append([]byte{'"'}, piece...), '"'),
			Expires: expires,
		}
		if err := s.Records.CreateRecord(ctx, r); err != nil {
			return Name{}, err
		}
		name.Pieces++
	}
	return name, nil
}

// pieceKey returns the key of a record. It contains a hash of the cookie's key, so that an attacker who reads the store
// cannot forge the cookie.
func pieceKey(key string, piece int) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:]) + "." + strconv.Itoa(piece)
}

// Read decrypts the stored value into v, a pointer. found is false if there is none, if it has expired, or if its
// secret is no longer configured.
func (s *Store) Read(ctx context.Context, name Name, v any) (found bool, err error) {
	var text []byte
	for i := range min(name.Pieces, maxPieces) {
		r, err := s.Records.Record(ctx, Kind, pieceKey(name.Key, i))
		if errors.Is(err, recordstore.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		var piece string
		if err := json.Unmarshal(r.Value, &piece); err != nil {
			return false, err
		}
		text = append(text, piece...)
	}
	return s.Keys.Decrypt(purpose, string(text), v) == nil, nil
}

// Taken is a pending sign-in that one request completes.
type Taken struct {
	store  *Store
	name   Name
	first  *recordstore.Record
	before json.RawMessage
}

// Take takes a pending sign-in, which [Store.Read] does not find from then on. Of concurrent requests exactly one gets
// it; the others get nil. Call Restore or Done afterwards.
func (s *Store) Take(ctx context.Context, name Name) (*Taken, error) {
	r, err := s.Records.Record(ctx, Kind, pieceKey(name.Key, 0))
	if errors.Is(err, recordstore.ErrNotFound) || err == nil && string(r.Value) == taken {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t := &Taken{s, name, r, r.Value}
	r.Value = json.RawMessage(taken)
	switch err := s.Records.UpdateRecord(ctx, r); {
	case errors.Is(err, recordstore.ErrConflict), errors.Is(err, recordstore.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return t, nil
}

// taken is the value of the first record of a sign-in that was taken. It cannot be decrypted.
const taken = `""`

// Restore gives the sign-in back after a failure, unless it was deleted in the meantime, for example because the user's
// sessions ended.
func (t *Taken) Restore(ctx context.Context) error {
	t.first.Value = t.before
	err := t.store.Records.UpdateRecord(ctx, t.first)
	if errors.Is(err, recordstore.ErrNotFound) || errors.Is(err, recordstore.ErrConflict) {
		return nil
	}
	return err
}

// Done deletes the records. If that fails, they remain without use until they expire.
func (t *Taken) Done(ctx context.Context) error {
	for i := range t.name.Pieces {
		_, err := t.store.Records.DeleteRecord(ctx, Kind, pieceKey(t.name.Key, i))
		if err != nil && !errors.Is(err, recordstore.ErrNotFound) {
			return err
		}
	}
	return nil
}
