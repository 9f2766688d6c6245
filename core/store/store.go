// Package store defines the interface between Latchkey and databases: the interfaces, the records, and the errors that
// both sides know. Apart from two internal packages, it imports only the standard library.
//
// A [Store] stores users and their accounts, which every flow needs. The other interfaces are optional. Core checks for
// them by type assertion if the configuration uses them, and core.New reports those that are missing:
//
//	SessionStore            the database session strategy
//	VerificationTokenStore  email sign-in links
//	AuthenticatorStore      passkeys
//	AuthenticatorDeleter    users who remove one of their passkeys
//	AccountStore            refreshed tokens, and checks of existing accounts when an email address is verified
//	UserDeleter             undoing a failed sign-in if there are no transactions
//	SessionLister           "sign out everywhere", back-channel logout
//	Transactor              a first sign-in that is written completely or not at all
//	Cleaner                 deleting expired rows
//	EmailLister             finding addresses that are not in canonical form
//	RecordLister            emails that survive a restart of the process
//	RecordPairReader        two records with one query
//	UserFinder              lists of users, for administration
//
// No interface has the name of a method, as AccountStore could be called Accounts: a struct that wraps a store by
// embedding an interface Accounts would hide the method Accounts behind the field.
//
// Package core has aliases for the names that applications use in callbacks and sessions (Store, User, Account,
// Members, Secret, ErrNotFound, ErrConflict), so that applications need only one import. To check your own store, run
// the test kit conformance/kit/storetest.
package store

import (
	"context"
	"time"
)

// Store stores users and their accounts. It is the only required interface; core checks for the others by type
// assertion if the configuration uses them, and core.New reports those that are missing.
//
// All methods must be safe for concurrent use and respect the context. If a record does not exist, a method returns
// [ErrNotFound]; if a unique key is taken, [ErrConflict]. Any other error is a failure of the store. Strings are
// compared exactly, because core has already lower-cased email addresses. Returned values belong to the caller.
type Store interface {
	// CreateUser stores a new user and returns it as stored. The store may keep the given ID, which is a new UUID, or
	// assign another. It returns ErrConflict if another user has the email address.
	CreateUser(ctx context.Context, user *User) (*User, error)
	// User returns the user with this ID.
	User(ctx context.Context, id string) (*User, error)
	// UserByEmail returns the user with this email address. No user has an empty address.
	UserByEmail(ctx context.Context, email string) (*User, error)
	// UserByAccount returns the owner of an account at a provider.
	UserByAccount(ctx context.Context, provider, providerAccountID string) (*User, error)
	// UpdateUser overwrites the user with the ID user.ID and returns it as stored. The user's previous email address
	// becomes free, even if the new one is empty: core moves an address by an update without it and a CreateUser with it.
	// It returns ErrConflict if another user has the email address.
	UpdateUser(ctx context.Context, user *User) (*User, error)
	// LinkAccount stores the account for account.UserID, with VerifiedEmail if the store has a place for it. It returns
	// ErrConflict if the account is already linked to any user.
	LinkAccount(ctx context.Context, account *Account) error
}

// SessionStore stores the sessions of the database strategy.
type SessionStore interface {
	// CreateSession stores a session.
	CreateSession(ctx context.Context, session *Session) error
	// SessionAndUser returns a session and its user with one query. It also returns expired sessions; core checks that. It
	// returns ErrNotFound if there is no such session or its user was deleted.
	SessionAndUser(ctx context.Context, token string) (*Session, *User, error)
	// UpdateSession sets the expiry of an existing session. It returns ErrNotFound if the session does not exist, and must
	// not create it again.
	UpdateSession(ctx context.Context, token string, expires time.Time) error
	// DeleteSession deletes a session and returns it, or ErrNotFound if there is none.
	DeleteSession(ctx context.Context, token string) (*Session, error)
}

// VerificationTokenStore stores the tokens of email sign-in links.
type VerificationTokenStore interface {
	// CreateVerificationToken stores a token. It returns ErrConflict if the identifier already has that token.
	CreateVerificationToken(ctx context.Context, token *VerificationToken) error
	// UseVerificationToken deletes and returns the token with this identifier and token, expired or not. Of concurrent
	// calls, exactly one returns it; the others return ErrNotFound.
	UseVerificationToken(ctx context.Context, identifier, token string) (*VerificationToken, error)
}

// AuthenticatorStore stores passkeys.
type AuthenticatorStore interface {
	// Authenticator returns the passkey with this credential ID.
	Authenticator(ctx context.Context, credentialID string) (*Authenticator, error)
	// CreateAuthenticator stores a passkey. It returns ErrConflict if the credential ID is taken.
	CreateAuthenticator(ctx context.Context, authenticator *Authenticator) error
	// Authenticators returns the passkeys of a user. An empty result is not an error.
	Authenticators(ctx context.Context, userID string) ([]*Authenticator, error)
	// UpdateAuthenticatorCounter sets the counter. It returns ErrNotFound if there is no such passkey.
	UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error
}

// AuthenticatorDeleter deletes single passkeys. Core does not use it; plugins that let users manage their passkeys do.
// Without it, a removed passkey cannot be used, because its account is deleted, but it is still listed.
type AuthenticatorDeleter interface {
	// DeleteAuthenticator deletes a passkey but not its account. It returns ErrNotFound if there is none.
	DeleteAuthenticator(ctx context.Context, credentialID string) error
}

// AccountStore reads, updates and deletes linked accounts. Core uses it for three purposes:
//
//   - It updates the tokens of an account at each later sign-in, and when an application requests valid tokens.
//   - When a sign-in is the first to verify a user's email address, it checks all accounts of the user, because an
//     account that was linked before may belong to another person.
//   - It unlinks an account that was linked while another person verified the address.
//
// Without this interface, tokens stay those of the first sign-in. When the address of an existing user is verified for
// the first time, the user loses it to a new user.
type AccountStore interface {
	// Account returns an account at a provider, or ErrNotFound if there is none.
	Account(ctx context.Context, provider, providerAccountID string) (*Account, error)
	// Accounts returns the accounts of a user. An empty result is not an error.
	Accounts(ctx context.Context, userID string) ([]*Account, error)
	// UpdateAccount overwrites the tokens of the account with the given provider and provider account ID. The account's
	// owner does not change. It returns ErrNotFound if there is no such account.
	UpdateAccount(ctx context.Context, account *Account) error
	// UnlinkAccount deletes an account. It returns ErrNotFound if there is none.
	UnlinkAccount(ctx context.Context, provider, providerAccountID string) error
}

// UserDeleter deletes users. Applications call it, and core calls it to undo a sign-in that failed halfway on a store
// without transactions.
type UserDeleter interface {
	// DeleteUser deletes a user with all their accounts, sessions, passkeys and records. It returns ErrNotFound if there
	// is no such user.
	DeleteUser(ctx context.Context, id string) error
}

// SessionLister lists and ends the sessions of a user. Under the database strategy, core ends the sessions of a user
// without accounts when another sign-in is the first to verify the user's email address. Without this interface, a new
// user gets the address instead.
type SessionLister interface {
	// Sessions returns the sessions of a user, including expired ones. An empty result is not an error.
	Sessions(ctx context.Context, userID string) ([]*Session, error)
	// DeleteSessions ends all sessions of a user and returns their number.
	DeleteSessions(ctx context.Context, userID string) (int, error)
}

// Transactor is a store with transactions. Core uses them for the user, account and session of a first sign-in. The
// Store passed to do implements the same interfaces as the outer one and is valid until do returns.
//
// The store may call do again if the database has rolled the transaction back. So do must have no side effects outside
// tx, or must reset them at its start.
type Transactor interface {
	InTransaction(ctx context.Context, do func(ctx context.Context, tx Store) error) error
}

// Cleaner deletes expired rows. Core calls it about every ten minutes, unless the configuration disables that.
// Applications may call it too.
type Cleaner interface {
	// DeleteExpired deletes sessions, verification tokens and records that expired before now, and returns the number of
	// deleted rows. It works in steps, so that other writes can run in between. A session or record that is extended
	// before its step stays. If the context ends or a step fails, it returns the number of rows deleted so far, as far as
	// known, and an error; the next call deletes the rest. If the context has ended, the error wraps that of the context
	// and is a [LeftError] with the number of remaining rows; see [WithLeft].
	DeleteExpired(ctx context.Context, now time.Time) (int, error)
}

// EmailLister lists the email addresses of all users, for tools that examine a store: package doctor and the command
// latchkey-store. Core does not call it. Use [UserFinder] for pages of users.
type EmailLister interface {
	// EachEmail calls each with the ID and address of every user that has one, in any order, until each returns an error,
	// which EachEmail then returns. It reads the whole table and holds a connection meanwhile, so each must not call the
	// store.
	EachEmail(ctx context.Context, each func(userID, email string) error) error
}

// SelfCleaner is a store whose database deletes expired rows automatically, or where searching for them is expensive.
// Core only calls DeleteExpired of such a store if the configuration enables it.
type SelfCleaner interface {
	// CleansItself reports whether core leaves expired rows to the database.
	CleansItself() bool
}

// Session is a session record of the database strategy. Core's Session is what applications receive: the user and the
// additions of the session callback.
type Session struct {
	// Token is the random value in the cookie. A client that sends it is signed in.
	Token Secret
	// UserID is the user the session belongs to.
	UserID string
	// Expires is when the session expires.
	Expires time.Time
}

// VerificationToken is the record of an email sign-in link.
type VerificationToken struct {
	// Identifier is the email address.
	Identifier string
	// Token is the hash of the token in the link.
	Token string
	// Expires is when the link expires.
	Expires time.Time
}

// Authenticator is a passkey.
type Authenticator struct {
	// CredentialID is the credential ID in standard base64.
	CredentialID string
	// UserID is the ID of the owner.
	UserID string
	// ProviderAccountID is the account of the passkey.
	ProviderAccountID string
	// CredentialPublicKey is the COSE key in standard base64.
	CredentialPublicKey string
	// Counter is the last signature counter.
	Counter uint32
	// CredentialDeviceType is "singleDevice" or "multiDevice".
	CredentialDeviceType string
	// CredentialBackedUp reports whether the credential was backed up at its last use.
	CredentialBackedUp bool
	// Transports are the transports, separated by commas. It is empty if they are unknown.
	Transports string
}
