package core

import (
	"crypto/rand"

	"github.com/latchkey-go/latchkey/core/internal/random"
	"github.com/latchkey-go/latchkey/core/store"
)

// The contract of stores is package store, which brings nothing else along. Its names are here too, so that an
// application needs one import for all that it hands to New and gets from callbacks.

// The records that a store keeps.
type (
	// User is a person, as a profile describes them, as a store keeps them, or as a session shows them.
	User = store.User
	// Account links a user to their account at a provider.
	Account = store.Account
	// StoredSession is the record behind a session of the database strategy.
	StoredSession = store.Session
	// VerificationToken is the record behind a sign-in link that was sent by e-mail.
	VerificationToken = store.VerificationToken
	// Authenticator is a passkey.
	Authenticator = store.Authenticator
	// Members are the further JSON members of a session, user, token or account.
	Members = store.Members
	// Secret is a text that must never be printed.
	Secret = store.Secret
	// Nulls names the empty text fields of a User or Token that are null rather than absent.
	Nulls = store.Nulls
	// ProviderType is the kind of a provider and of its accounts.
	ProviderType = store.ProviderType
)

// The fields that can be null.
const (
	NullName  = store.NullName
	NullEmail = store.NullEmail
	NullImage = store.NullImage
)

// The provider types.
const (
	TypeOAuth       = store.TypeOAuth
	TypeOIDC        = store.TypeOIDC
	TypeEmail       = store.TypeEmail
	TypeCredentials = store.TypeCredentials
	TypeWebAuthn    = store.TypeWebAuthn
)

// The interfaces of stores.
type (
	// Store keeps users and their accounts: what every flow needs.
	Store = store.Store
	// SessionStore keeps the sessions of the database strategy.
	SessionStore = store.SessionStore
	// VerificationTokenStore keeps the tokens of e-mail sign-in links.
	VerificationTokenStore = store.VerificationTokenStore
	// AuthenticatorStore keeps passkeys.
	AuthenticatorStore = store.AuthenticatorStore
	// AccountStore reads, refreshes and removes linked accounts.
	AccountStore = store.AccountStore
	// UserDeleter removes users.
	UserDeleter = store.UserDeleter
	// SessionLister shows and ends the sessions of one user.
	SessionLister = store.SessionLister
	// Transactor is a store that can write several records or none.
	Transactor = store.Transactor
	// Cleaner removes what has expired, in bulk.
	Cleaner = store.Cleaner
)

// The answers of a store that are no failure.
var (
	// ErrNotFound is the one answer of a store for "there is no such record".
	ErrNotFound = store.ErrNotFound
	// ErrConflict is the answer of a store for "such a record exists already".
	ErrConflict = store.ErrConflict
)

// NewID returns a fresh id for a user that the application writes to the store itself: a random UUID (RFC 9562 version
// 4) in lower case, which every store takes.
func NewID() string {
	id, _ := random.UUID(rand.Reader) // crypto/rand never fails
	return id
}
