package core

import (
	"crypto/rand"

	"github.com/latchkey-go/latchkey/core/internal/random"
	"github.com/latchkey-go/latchkey/core/store"
)

// The contract of stores is package store, which brings nothing else along. What applications hand to New, get from
// callbacks and read from sessions has a name here too, so that they need one import; what authors of stores use beside
// it stands in package store alone.

// The records that applications see.
type (
	// User is a person, as a profile describes them, as a store keeps them, or as a session shows them.
	User = store.User
	// Account links a user to their account at a provider.
	Account = store.Account
	// Members are the further JSON members of a session, user, token or account.
	Members = store.Members
	// Secret is a text that must never be printed.
	Secret = store.Secret
	// ProviderType is the kind of a provider and of its accounts.
	ProviderType = store.ProviderType
	// Store keeps users and their accounts: what every flow needs. Package core/store has the further interfaces, which
	// New asks a store for.
	Store = store.Store
)

// The provider types.
const (
	TypeOAuth       = store.TypeOAuth
	TypeOIDC        = store.TypeOIDC
	TypeEmail       = store.TypeEmail
	TypeCredentials = store.TypeCredentials
	TypeWebAuthn    = store.TypeWebAuthn
)

// What a store says by its errors; the first two are no failure.
var (
	// ErrNotFound is the one answer of a store for "there is no such record".
	ErrNotFound = store.ErrNotFound
	// ErrConflict is the answer of a store for "such a record exists already".
	ErrConflict = store.ErrConflict
	// ErrStoreUnavailable is in the errors of a store whose engine could not be reached or gave no answer in time.
	ErrStoreUnavailable = store.ErrUnavailable
)

// NewID returns a fresh id for a user that the application writes to the store itself: a random UUID (RFC 9562 version
// 4) in lower case, which every store takes.
func NewID() string {
	id, _ := random.UUID(rand.Reader) // crypto/rand never fails
	return id
}
