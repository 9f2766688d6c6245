// Package store is the contract between Latchkey and what keeps its records: the interfaces, the records, and the
// errors that both sides know. It is a leaf: a store that imports it brings nothing else along.
//
// A [Store] keeps users and their accounts, which every flow needs. The further interfaces are powers that core asks
// for by type assertion when the configuration uses them, and core.New reports what is missing:
//
//	SessionStore            the database session strategy
//	VerificationTokenStore  sign-in links by e-mail
//	AuthenticatorStore      passkeys
//	AuthenticatorDeleter    people who remove one of their passkeys
//	AccountStore            fresh tokens, and what a proved e-mail address means for accounts that were linked before
//	UserDeleter             undoing half a sign-in where there are no transactions
//	SessionLister           "sign out everywhere", back-channel logout
//	Transactor              a first sign-in that is written whole or not at all
//	Cleaner                 removing what has expired
//	EmailLister             finding addresses that are not in canonical form
//
// None is named like a method, as AccountStore could be: a struct that embeds an interface Accounts, to wrap a store,
// would hide the method Accounts behind the field.
//
// Package core repeats the names that applications meet in callbacks and sessions (Store, User, Account, Members,
// Secret, ErrNotFound, ErrConflict), so that they need one import. A store of one's own is done when the kit
// conformance/kit/storetest passes on it.
package store

import (
	"context"
	"time"
)

// Store keeps users and their accounts. It is the part of the contract that every flow needs; the further interfaces of
// this package are asked for by type assertion when the configuration uses them, and core.New reports what is missing.
//
// The contract of all methods: they are safe for concurrent use; they honour the context; absence is [ErrNotFound], a
// taken unique key is [ErrConflict], anything else is a failure of the store and never a wrong answer. Texts are
// compared exactly: core has lower-cased e-mail addresses already. What a method returns is the caller's own copy.
type Store interface {
	// CreateUser stores a new user and returns it as stored. The store decides the id: it may keep the one given (a fresh
	// UUID) or assign its own. ErrConflict: the e-mail, when there is one, belongs to another user.
	CreateUser(ctx context.Context, user *User) (*User, error)
	// User returns the user of that id.
	User(ctx context.Context, id string) (*User, error)
	// UserByEmail returns the user of that address. An empty address belongs to no user.
	UserByEmail(ctx context.Context, email string) (*User, error)
	// UserByAccount returns the owner of a provider's account.
	UserByAccount(ctx context.Context, provider, providerAccountID string) (*User, error)
	// UpdateUser overwrites the user of user.ID and returns it as stored. An address that the user had before is free from
	// then on, an empty one included: core moves an address by an update that leaves it out and a CreateUser that has it.
	// ErrConflict: the e-mail belongs to another user.
	UpdateUser(ctx context.Context, user *User) (*User, error)
	// LinkAccount stores the account for account.UserID, with EmailProved where there is room for it. ErrConflict: the
	// account is linked already, to any user.
	LinkAccount(ctx context.Context, account *Account) error
}

// SessionStore keeps the sessions of the database strategy.
type SessionStore interface {
	// CreateSession stores a session.
	CreateSession(ctx context.Context, session *Session) error
	// SessionAndUser returns a session with its user in one look-up. Expired sessions are returned: core decides.
	// ErrNotFound: no such session, or its user is gone.
	SessionAndUser(ctx context.Context, token string) (*Session, *User, error)
	// UpdateSession moves the expiry of a session that exists; ErrNotFound when it is gone: it must not come back.
	UpdateSession(ctx context.Context, token string, expires time.Time) error
	// DeleteSession removes a session and returns it; ErrNotFound when there is none.
	DeleteSession(ctx context.Context, token string) (*Session, error)
}

// VerificationTokenStore keeps the tokens of e-mail sign-in links.
type VerificationTokenStore interface {
	// CreateVerificationToken stores a token; ErrConflict when the identifier has that token already.
	CreateVerificationToken(ctx context.Context, token *VerificationToken) error
	// UseVerificationToken removes and returns the token that matches both identifier and token, expired or not. Of any
	// number of concurrent calls exactly one gets it, the others ErrNotFound.
	UseVerificationToken(ctx context.Context, identifier, token string) (*VerificationToken, error)
}

// AuthenticatorStore keeps passkeys.
type AuthenticatorStore interface {
	// Authenticator returns the passkey of that credential id.
	Authenticator(ctx context.Context, credentialID string) (*Authenticator, error)
	// CreateAuthenticator stores a passkey; ErrConflict when the credential id is taken.
	CreateAuthenticator(ctx context.Context, authenticator *Authenticator) error
	// Authenticators returns the passkeys of a user, none is no error.
	Authenticators(ctx context.Context, userID string) ([]*Authenticator, error)
	// UpdateAuthenticatorCounter sets the counter; ErrNotFound when there is no such passkey.
	UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error
}

// AuthenticatorDeleter removes passkeys, one at a time. Core asks for it nowhere; what lets people manage their
// passkeys does. Without it a removed passkey opens nothing, as its account is gone, and is listed all the same.
type AuthenticatorDeleter interface {
	// DeleteAuthenticator removes a passkey; ErrNotFound when there is none. The account of the passkey stays.
	DeleteAuthenticator(ctx context.Context, credentialID string) error
}

// AccountStore reads, refreshes and removes linked accounts. Core refreshes the tokens of an account on every later
// sign-in and when an application asks for tokens that last, asks for all accounts of a user when a visitor is the
// first to prove the user's e-mail address (an account that was linked before that may be another person's), and takes
// a link back that was made while another visitor proved the address. Without it tokens stay those of the first
// sign-in, and every user with an unproved address counts as shared and gives the address up to a new one.
type AccountStore interface {
	// Account returns one account of a provider; ErrNotFound when there is none.
	Account(ctx context.Context, provider, providerAccountID string) (*Account, error)
	// Accounts returns the accounts of a user, none is no error.
	Accounts(ctx context.Context, userID string) ([]*Account, error)
	// UpdateAccount overwrites the tokens of the account of that provider and provider account id, which stays its user's;
	// ErrNotFound when it is gone.
	UpdateAccount(ctx context.Context, account *Account) error
	// UnlinkAccount removes an account; ErrNotFound when there is none.
	UnlinkAccount(ctx context.Context, provider, providerAccountID string) error
}

// UserDeleter removes users. Applications call it, and core to undo a sign-in that failed half-way on a store without
// transactions.
type UserDeleter interface {
	// DeleteUser removes a user with all accounts, sessions, passkeys and records of theirs; ErrNotFound when there is no
	// such user.
	DeleteUser(ctx context.Context, id string) error
}

// SessionLister shows and ends the sessions of one user: "signed in on three devices, sign out the others". Under the
// database strategy core ends those that a user without any account has when a visitor is the first to prove their
// e-mail address; without it a new user gets the address.
type SessionLister interface {
	// Sessions returns the sessions of a user, the expired ones included; none is no error.
	Sessions(ctx context.Context, userID string) ([]*Session, error)
	// DeleteSessions ends all sessions of a user and returns how many there were.
	DeleteSessions(ctx context.Context, userID string) (int, error)
}

// Transactor is a store that can write several records or none. Core uses it for the user, account and session of a
// first sign-in. The Store handed to do implements the same interfaces as the outer one and is valid until do returns.
//
// The store may call do again from the start when the engine has undone the transaction; what do notes outside of tx it
// notes anew.
type Transactor interface {
	InTransaction(ctx context.Context, do func(ctx context.Context, tx Store) error) error
}

// Cleaner removes what has expired, in bulk. Core calls it every ten minutes or so, unless the configuration says
// otherwise, and applications may.
type Cleaner interface {
	// DeleteExpired removes sessions, verification tokens and records that ended before now and returns how many rows
	// went. It works in steps between which others write, and a session or record that is extended before its turn comes
	// stays. When the context ends or a step fails, what went is gone: the number of those rows that the store knows of
	// comes with an error, and the rest is for the next call. When it was the context, the error wraps that of the context
	// and is a [LeftError], which says how much is left; see [WithLeft].
	DeleteExpired(ctx context.Context, now time.Time) (int, error)
}

// EmailLister lists the addresses of all users, for tools that examine a store: package doctor and the command
// latchkey-store. Core does not call it.
type EmailLister interface {
	// EachEmail calls each with the ID and address of every user that has one, in any order, until each returns an error,
	// which EachEmail then returns. It reads the whole table, and holds a connection meanwhile: each must not call the
	// store.
	EachEmail(ctx context.Context, each func(userID, email string) error) error
}

// SelfCleaner is a store whose engine removes by itself what has expired, or where looking for it costs much. Core
// calls the DeleteExpired of such a store only where the configuration asks for it.
type SelfCleaner interface {
	// CleansItself reports whether that is so.
	CleansItself() bool
}

// Session is the record behind a session of the database strategy. What applications call a session, the signed-in user
// and what the session callback added, is core's Session.
type Session struct {
	// Token is the random value in the cookie: a client that presents it is signed in.
	Token Secret
	// UserID is the user the session belongs to.
	UserID string
	// Expires is when the session ends.
	Expires time.Time
}

// VerificationToken is the record behind a sign-in link that was sent by e-mail.
type VerificationToken struct {
	// Identifier is the e-mail address.
	Identifier string
	// Token is the hash of the token in the link.
	Token string
	// Expires is when the link stops working.
	Expires time.Time
}

// Authenticator is a passkey.
type Authenticator struct {
	// CredentialID is the credential id in standard base64.
	CredentialID string
	// UserID is the owner.
	UserID string
	// ProviderAccountID is the account the credential belongs to.
	ProviderAccountID string
	// CredentialPublicKey is the COSE key in standard base64.
	CredentialPublicKey string
	// Counter is the signature counter last seen.
	Counter uint32
	// CredentialDeviceType is "singleDevice" or "multiDevice".
	CredentialDeviceType string
	// CredentialBackedUp reports whether the credential was backed up when last seen.
	CredentialBackedUp bool
	// Transports are the transports joined by commas; empty when unknown.
	Transports string
}
