package apikey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// kind is the kind of the records. The key of a record is the ID of the API key.
const kind = "api-key"

// Key is an API key without its secret.
type Key struct {
	// ID is public: it is a part of the key, and identifies it in logs and requests.
	ID string `json:"id"`
	// UserID is the user that the key belongs to. It is empty for the key of a service.
	UserID string `json:"-"`
	// Service is the name of the service that the key belongs to. It is empty for the key of a user.
	Service string `json:"service,omitempty"`
	// CreatedBy is the ID of the user who created the key of a service, or empty.
	CreatedBy string `json:"createdBy,omitempty"`
	// Name is the name that the creator chose.
	Name string `json:"name"`
	// Last4 are the last four characters of the key, so that people recognize it.
	Last4 string `json:"last4"`
	// Scopes are the operations that the key allows.
	Scopes []string `json:"scopes"`
	// Networks are the only networks that may use the key. If it is empty, all may.
	Networks []netip.Prefix `json:"networks,omitempty"`
	// Created and Expires are when the key was created and when it stops working.
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	// Used is when the key was last used, up to ten minutes late. It is zero for an unused key. Uses is the number of
	// requests with it until then.
	Used time.Time `json:"used,omitzero"`
	Uses int64     `json:"uses"`
}

// stored is the value of a record.
type stored struct {
	Service  string         `json:"service,omitempty"`
	By       string         `json:"by,omitempty"` // Key.CreatedBy
	Name     string         `json:"name"`
	Hash     []byte         `json:"hash"`
	Last4    string         `json:"last4"`
	Scopes   []string       `json:"scopes"`
	Networks []netip.Prefix `json:"networks,omitempty"`
	Created  time.Time      `json:"created"`
	Used     time.Time      `json:"used,omitzero"`
	Uses     int64          `json:"uses,omitempty"`
	// TTL is the lifetime in nanoseconds, if the key was replaced: its expiry is earlier then.
	TTL time.Duration `json:"ttl,omitempty"`
}

// keyRecord is a stored key and its record.
type keyRecord struct {
	Key
	Hash   []byte
	TTL    time.Duration // as in [stored]
	record *store.Record
}

// lifetime returns the lifetime that the key was created with.
func (k *keyRecord) lifetime() time.Duration { return cmp.Or(k.TTL, k.Expires.Sub(k.Created)) }

// readRecord decodes the value of a record, which is the JSON of [stored]. It reads the members itself: each request
// with a key reads a record, and json.Unmarshal took as long as the rest of the plugin.
func readRecord(r *store.Record) (*keyRecord, error) {
	k := &keyRecord{Key: Key{ID: r.Key, UserID: r.UserID, Expires: r.Expires}, record: r}
	err := exactjson.ObjectText(string(r.Value), func(name, value string) (err error) {
		if exactjson.IsNull(value) {
			return nil
		}
		ok := true
		switch name {
		case "service":
			k.Service, ok = exactjson.TextOf(value)
		case "by":
			k.CreatedBy, ok = exactjson.TextOf(value)
		case "name":
			k.Name, ok = exactjson.TextOf(value)
		case "last4":
			k.Last4, ok = exactjson.TextOf(value)
		case "uses":
			k.Uses, ok = exactjson.Int64(value)
		case "ttl":
			var ttl int64
			ttl, ok = exactjson.Int64(value)
			k.TTL = time.Duration(ttl)
		case "hash":
			var text string
			if text, ok = exactjson.TextOf(value); ok {
				k.Hash, err = base64.StdEncoding.DecodeString(text)
			}
		case "scopes":
			k.Scopes, ok = exactjson.Texts(value)
		case "networks":
			return json.Unmarshal([]byte(value), &k.Networks)
		case "created":
			return k.Created.UnmarshalJSON([]byte(value))
		case "used":
			return k.Used.UnmarshalJSON([]byte(value))
		}
		if !ok {
			return errors.New(name + " has the wrong type")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("apikey: the record of key %s is malformed: %w", r.Key, err)
	}
	return k, nil
}

// write sets the value of the record from the key.
func (k *keyRecord) write() (err error) {
	k.record.Expires = k.Expires
	k.record.Value, err = json.Marshal(stored{
		Service: k.Service, By: k.CreatedBy, Name: k.Name, Hash: k.Hash, Last4: k.Last4, Scopes: k.Scopes, Networks: k.Networks,
		Created: k.Created, Used: k.Used, Uses: k.Uses, TTL: k.TTL,
	})
	return err
}

// allows reports whether a client may use the key from its network.
func (k *keyRecord) allows(client netip.Prefix) bool {
	return len(k.Networks) == 0 || client.IsValid() && slices.ContainsFunc(k.Networks, func(n netip.Prefix) bool {
		return n.Contains(client.Addr())
	})
}

func (k *Keys) find(ctx context.Context, id string) (*keyRecord, error) {
	r, err := k.records.Record(ctx, kind, id)
	if err != nil {
		return nil, err
	}
	return readRecord(r)
}

// NewKey describes a key to create.
type NewKey struct {
	// UserID is the user that the key belongs to: the key ends with the user. Service is the name of a service instead,
	// such as "billing". One of them must be set.
	UserID, Service string
	// CreatedBy is the ID of the user who creates the key of a service, or empty. The key does not end with that user.
	CreatedBy string
	// Name describes the purpose of the key, in at most 64 printable characters.
	Name string
	// Scopes are the operations that the key allows. At least one is required. "*" matches any segment; see
	// [core.Principal.Allows].
	Scopes []string
	// TTL is the lifetime. The default is Options.TTL, the maximum Options.MaxTTL.
	TTL time.Duration
	// Networks are the only networks that may use the key. If it is empty, all may. A network of IPv6 must not be smaller
	// than a /64.
	Networks []netip.Prefix
}

// The errors of [Keys.Create].
var (
	// ErrName means that the name does not have 1 to 64 printable characters.
	ErrName = errors.New("apikey: the name must have 1 to 64 printable characters")
	// ErrScope means that the key has no scope, or an invalid one.
	ErrScope = errors.New("apikey: the key needs at least one scope, and each must be valid")
	// ErrTTL means that the lifetime is negative or longer than Options.MaxTTL.
	ErrTTL = errors.New("apikey: the lifetime is negative or longer than Options.MaxTTL")
	// ErrNetwork means that there are more than 20 networks, or an invalid one.
	ErrNetwork = errors.New("apikey: the networks must be at most 20 valid prefixes, of IPv6 at most a /64")
	// ErrTooMany means that the owner has Options.MaxKeys keys.
	ErrTooMany  = errors.New("apikey: the owner has as many keys as Options.MaxKeys allows")
	errNoOwner  = errors.New("apikey: set either UserID or Service of the new key")
	errNotReady = errors.New("apikey: the plugin is not attached to an Auth: add it to Config.Plugins")
)

const (
	maxName     = 64
	maxScopes   = 50
	maxNetworks = 20
)

// check returns why the key cannot be created, or nil.
func (n *NewKey) check(o *Options) error {
	n.Name = strings.TrimSpace(n.Name)
	if n.TTL == 0 {
		n.TTL = o.TTL
	}
	small := func(p netip.Prefix) bool { return !p.IsValid() || p.Addr().Is6() && p.Bits() > 64 }
	switch {
	case (n.UserID == "") == (n.Service == ""):
		return errNoOwner
	case n.Name == "" || !utf8.ValidString(n.Name) || utf8.RuneCountInString(n.Name) > maxName ||
		strings.ContainsFunc(n.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return ErrName
	case len(n.Scopes) == 0 || len(n.Scopes) > maxScopes ||
		slices.ContainsFunc(n.Scopes, func(s string) bool { return !isScope(s) }):
		return ErrScope
	case n.TTL < 0 || n.TTL > o.MaxTTL:
		return ErrTTL
	case len(n.Networks) > maxNetworks || slices.ContainsFunc(n.Networks, small):
		return ErrNetwork
	}
	return nil
}

// Create creates a key and returns it with its text, which is not stored and cannot be read again. It returns
// [core.ErrNotFound] if there is no such user, and [ErrName], [ErrScope], [ErrTTL], [ErrNetwork] or [ErrTooMany].
func (k *Keys) Create(ctx context.Context, n NewKey) (*Key, core.Secret, error) {
	own, err := k.prepare(ctx, n)
	if err == nil {
		err = k.add(ctx, own)
	}
	if err != nil {
		return nil, "", err
	}
	return &own.Key, own.text, nil
}

// prepare returns a new key that is not stored yet. Its owner can have it.
func (k *Keys) prepare(ctx context.Context, n NewKey) (*newRecord, error) {
	if k.host == nil {
		return nil, errNotReady
	}
	if err := n.check(&k.options); err != nil {
		return nil, err
	}
	existing, err := k.list(ctx, n.UserID, n.Service)
	if err != nil {
		return nil, err
	}
	if len(existing) >= k.options.MaxKeys {
		return nil, ErrTooMany
	}
	t, err := newToken(k.host.Rand)
	if err != nil {
		return nil, fmt.Errorf("apikey: %w", err)
	}
	if n.Service != "" {
		begin := servicePrefix(n.Service)
		t.id = begin + t.id[len(begin):]
	}
	text, hash, now := t.text(k.options.Prefix), t.hash(), k.host.Now().Truncate(time.Millisecond)
	own := &keyRecord{
		Key: Key{
			ID: t.id, UserID: n.UserID, Service: n.Service, CreatedBy: n.CreatedBy, Name: n.Name,
			Last4: text[len(text)-4:], Scopes: slices.Clone(n.Scopes), Networks: slices.Clone(n.Networks), Created: now,
			Expires: now.Add(n.TTL),
		},
		Hash: hash[:], record: &store.Record{Kind: kind, Key: t.id, UserID: n.UserID},
	}
	if err := own.write(); err != nil {
		return nil, fmt.Errorf("apikey: %w", err)
	}
	return &newRecord{keyRecord: own, text: core.Secret(text)}, nil
}

// newRecord is a key with its text.
type newRecord struct {
	*keyRecord
	text core.Secret
	// replaces is the ID of the key that expires soon, because this one is its successor. It may be empty.
	replaces string
}

// add stores a new key. If it replaces another one, that one gets its new expiry, or the new key is deleted.
func (k *Keys) add(ctx context.Context, own *newRecord) error {
	if err := k.records.CreateRecord(ctx, own.record); err != nil {
		return fmt.Errorf("apikey: %w", err)
	}
	if own.UserID != "" {
		if err := k.host.CheckUser(ctx, own.UserID); err != nil { // the user was banned meanwhile
			_, deleteErr := k.records.DeleteRecord(ctx, kind, own.ID)
			return errors.Join(err, deleteErr)
		}
	}
	k.plan(ctx, &own.Key)
	if own.replaces == "" {
		return nil
	}
	end := k.host.Now().Add(k.options.Overlap)
	err := k.change(ctx, own.replaces, func(r *keyRecord) bool {
		sooner := end.Before(r.Expires)
		if sooner {
			r.TTL, r.Expires = r.lifetime(), end
		}
		return sooner
	})
	if err != nil && !errors.Is(err, core.ErrNotFound) { // it was revoked meanwhile
		_, deleteErr := k.records.DeleteRecord(ctx, kind, own.ID)
		return errors.Join(err, deleteErr)
	}
	return nil
}

// Of returns the keys of a user, the newest first. Expired keys are included until the store deletes them.
func (k *Keys) Of(ctx context.Context, userID string) ([]Key, error) { return k.list(ctx, userID, "") }

// OfService returns the keys of a service, the newest first. The store must implement [store.RecordLister]; otherwise
// the error matches [errors.ErrUnsupported].
func (k *Keys) OfService(ctx context.Context, service string) ([]Key, error) {
	return k.list(ctx, "", service)
}

func (k *Keys) list(ctx context.Context, userID, service string) ([]Key, error) {
	if k.host == nil {
		return nil, errNotReady
	}
	var records []*store.Record
	var err error
	if userID != "" {
		records, err = k.records.UserRecords(ctx, userID, kind)
	} else {
		records, err = k.serviceRecords(ctx, service)
	}
	if err != nil {
		return nil, fmt.Errorf("apikey: list keys: %w", err)
	}
	keys := []Key{}
	for _, r := range records {
		found, err := readRecord(r)
		if err != nil {
			return nil, err
		}
		if found.Service == service {
			keys = append(keys, found.Key)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	return keys, nil
}

// serviceRecords returns the records whose IDs begin as those of a service.
func (k *Keys) serviceRecords(ctx context.Context, service string) (all []*store.Record, err error) {
	lister := k.host.RecordLister
	if lister == nil {
		return nil, fmt.Errorf("the store is not a store.RecordLister: %w", errors.ErrUnsupported)
	}
	for cursor := ""; ; {
		page, next, err := lister.ListRecords(ctx, kind, servicePrefix(service), cursor, 100)
		if err != nil {
			return nil, err
		}
		for _, r := range page { // a record can be returned twice
			if !slices.ContainsFunc(all, func(other *store.Record) bool { return other.Key == r.Key }) {
				all = append(all, r)
			}
		}
		if next == "" {
			return all, nil
		}
		cursor = next
	}
}

// servicePrefix returns the beginning of the IDs of a service's keys. serviceRecords finds them with it.
func servicePrefix(service string) string {
	sum := sha256.Sum256([]byte(service))
	var out [6]byte
	for i := range out {
		out[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return string(out[:])
}

// RevokeService deletes a key of a service, as [Keys.Revoke] does for a user.
func (k *Keys) RevokeService(ctx context.Context, service, id string) error {
	if !isID(id) || service == "" {
		return core.ErrNotFound
	}
	found, err := k.find(ctx, id)
	if err != nil || found.Service != service {
		return cmp.Or(err, core.ErrNotFound)
	}
	_, err = k.records.DeleteRecord(ctx, kind, id)
	return err
}

// Revoke deletes a key of a user. It stops working with the next request in every process. Revoke returns
// [core.ErrNotFound] if the user has no such key.
func (k *Keys) Revoke(ctx context.Context, userID, id string) error {
	if _, err := k.owned(ctx, userID, id); err != nil {
		return err
	}
	_, err := k.records.DeleteRecord(ctx, kind, id)
	return err
}

// owned returns a key of a user.
func (k *Keys) owned(ctx context.Context, userID, id string) (*keyRecord, error) {
	if !isID(id) || userID == "" {
		return nil, core.ErrNotFound
	}
	found, err := k.find(ctx, id)
	if err == nil && found.UserID != userID {
		return nil, core.ErrNotFound
	}
	return found, err
}

func isID(id string) bool { return len(id) == idLen && inAlphabet(id) }

// Rotate creates a successor of a user's key, with the same name, scopes, networks and lifetime. The old key continues
// to work for Options.Overlap, or until it expires. It can be rotated again in that time, for example if the client did
// not receive the successor. The errors are those of [Keys.Create].
func (k *Keys) Rotate(ctx context.Context, userID, id string) (*Key, core.Secret, error) {
	own, err := k.successor(ctx, userID, id)
	if err == nil {
		err = k.add(ctx, own)
	}
	if err != nil {
		return nil, "", err
	}
	return &own.Key, own.text, nil
}

// successor returns the new key that replaces a user's key. It is not stored yet.
func (k *Keys) successor(ctx context.Context, userID, id string) (*newRecord, error) {
	old, err := k.owned(ctx, userID, id)
	if err != nil {
		return nil, err
	}
	if !old.Expires.After(k.host.Now()) {
		return nil, core.ErrNotFound
	}
	own, err := k.prepare(ctx, NewKey{
		UserID: userID, Name: old.Name, Scopes: old.Scopes, Networks: old.Networks,
		TTL: min(old.lifetime(), k.options.MaxTTL),
	})
	if err == nil {
		own.replaces = id
	}
	return own, err
}

// maxTries is the number of attempts to change a record that other requests change too.
const maxTries = 5

// change updates a record, and repeats this if another request has updated it. edit returns false if there is nothing
// to change.
func (k *Keys) change(ctx context.Context, id string, edit func(*keyRecord) bool) error {
	for range maxTries {
		found, err := k.find(ctx, id)
		if err != nil || !edit(found) {
			return err
		}
		if err := found.write(); err != nil {
			return err
		}
		if err := k.records.UpdateRecord(ctx, found.record); !errors.Is(err, core.ErrConflict) {
			return err
		}
	}
	return core.ErrConflict
}
