package core

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/core/internal/random"
	"github.com/latchkey-go/latchkey/core/store"
)

// Package store defines the contract of stores and has no dependencies. The types that applications pass to New,
// receive in callbacks and read from sessions have aliases here, so that applications need one import. The types that
// only authors of stores need are in package store.

// The records that applications use.
type (
	// User is a person, as described by a profile, a store or a session.
	User = store.User
	// Account links a user to their account at a provider.
	Account = store.Account
	// Members are the additional JSON members of a session, user, token or account.
	Members = store.Members
	// Secret is a text that must never be printed.
	Secret = store.Secret
	// ProviderType is the type of a provider and of its accounts.
	ProviderType = store.ProviderType
	// Store stores users and their accounts, which every flow needs. Package core/store defines further interfaces that a
	// store can implement.
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

// The errors of stores. The first two are not failures.
var (
	// ErrNotFound is returned by a store if the record does not exist.
	ErrNotFound = store.ErrNotFound
	// ErrConflict is returned by a store if the record exists already, or was changed since it was read.
	ErrConflict = store.ErrConflict
	// ErrStoreUnavailable is wrapped by the errors of a store whose database could not be reached or did not respond in
	// time.
	ErrStoreUnavailable = store.ErrUnavailable
)

// NewID returns a new ID for a user that the application creates in the store itself: a random UUID (RFC 9562 version
// 4) in lower case, which every store accepts.
func NewID() string {
	id, _ := random.UUID(rand.Reader) // crypto/rand never fails
	return id
}

// stores contains the optional interfaces of the configured store, or of a transaction. A field is nil if the store
// does not implement it.
type stores struct {
	Store
	given    Store // without decorators
	sessions store.SessionStore
	tokens   store.VerificationTokenStore
	tx       store.Transactor
	accounts store.AccountStore
	deleter  store.UserDeleter
	lister   store.SessionLister
	passkeys store.AuthenticatorStore
	unkey    store.AuthenticatorDeleter
	records  store.RecordStore
	watch    watch
}

func newStores(s Store) stores {
	v := stores{Store: s, given: s}
	v.sessions, _ = s.(store.SessionStore)
	v.tokens, _ = s.(store.VerificationTokenStore)
	v.tx, _ = s.(store.Transactor)
	v.accounts, _ = s.(store.AccountStore)
	v.deleter, _ = s.(store.UserDeleter)
	v.lister, _ = s.(store.SessionLister)
	v.passkeys, _ = s.(store.AuthenticatorStore)
	v.unkey, _ = s.(store.AuthenticatorDeleter)
	v.records, _ = s.(store.RecordStore)
	return v
}

func userByAccount(ctx context.Context, s Store, account *Account) (*User, error) {
	return guarded("Store.UserByAccount", func() (*User, error) {
		return present(s.UserByAccount(ctx, account.Provider, account.ProviderAccountID))
	})
}

func userByEmail(ctx context.Context, s Store, email string) (*User, error) {
	if email == "" {
		return nil, ErrNotFound
	}
	return guarded("Store.UserByEmail", func() (*User, error) { return present(s.UserByEmail(ctx, email)) })
}

// UserByMailbox returns the user of an email address that a client sent. It looks up the canonical form of the address
// ([NormalizeEmail]), then the address exactly as sent, without surrounding blanks, because tables that other libraries
// filled contain such addresses. An address that differs from the canonical form costs two lookups whether or not the
// first one finds a user, so that the response time does not reveal which addresses exist. Any other address costs one
// lookup. If both find a user, the first one wins, unless only the second one's address is verified. The error is
// [ErrNotFound] if there is no such user or the text is not a plain address.
func UserByMailbox(ctx context.Context, users Store, address string) (*User, error) {
	canonical, err := mailaddr.Normalize(address)
	if err != nil {
		return nil, ErrNotFound
	}
	user, err := userByEmail(ctx, users, canonical)
	spelled, failed := userBySpelling(ctx, users, canonical, address)
	switch {
	case errors.Is(err, ErrNotFound):
		return spelled, failed
	case err == nil:
		return verifiedSpelling(user, spelled, failed, address)
	}
	return nil, err
}

// firstByMailbox returns the user with the canonical form of an address or, if there is none, with the given spelling.
func firstByMailbox(ctx context.Context, users Store, canonical, given string) (*User, error) {
	user, err := userByEmail(ctx, users, canonical)
	if errors.Is(err, ErrNotFound) {
		return userBySpelling(ctx, users, canonical, given)
	}
	return user, err
}

// userByMailbox is UserByMailbox for an address with a known canonical form. It makes the second lookup only if the
// first one finds no user or a user with an unverified address.
func userByMailbox(ctx context.Context, users Store, canonical, given string) (*User, error) {
	user, err := userByEmail(ctx, users, canonical)
	if errors.Is(err, ErrNotFound) {
		return userBySpelling(ctx, users, canonical, given)
	}
	if err != nil || !user.EmailVerified.IsZero() {
		return user, err
	}
	spelled, failed := userBySpelling(ctx, users, canonical, given)
	return verifiedSpelling(user, spelled, failed, given)
}

// verifiedSpelling chooses between the user with the canonical address and the user with another spelling. failed is
// the error of the second lookup. The second user wins if only its address is verified and equals the text that the
// client sent: an attacker can create the first user with an address that they do not own.
func verifiedSpelling(user, spelled *User, failed error, given string) (*User, error) {
	switch {
	case !user.EmailVerified.IsZero() || errors.Is(failed, ErrNotFound):
		return user, nil
	case failed != nil:
		return nil, failed
	case !spelled.EmailVerified.IsZero() && spelled.Email == strings.Trim(given, " \t"):
		return spelled, nil
	}
	return user, nil
}

// userBySpelling returns the user whose stored address equals given, or equals canonical with its domain in ASCII. It
// returns ErrNotFound if given is canonical or belongs to another mailbox.
func userBySpelling(ctx context.Context, users Store, canonical, given string) (*User, error) {
	for _, spelling := range spellings(canonical, given) {
		user, err := userByEmail(ctx, users, spelling)
		if err == nil && !SameMailbox(user.Email, canonical) { // a collation may ignore more than Normalize does
			err = ErrNotFound
		}
		if !errors.Is(err, ErrNotFound) {
			return user, err
		}
	}
	return nil, ErrNotFound
}

// spellings returns the forms other than the canonical one that a table may contain.
func spellings(canonical, given string) (all []string) {
	given = strings.Trim(given, " \t")
	if given == canonical || strings.Count(given, "@") != 1 || strings.Contains(given, ",") ||
		!SameMailbox(given, canonical) {
		return nil
	}
	all = append(all, given)
	ascii := mailaddr.ASCII(canonical)
	if ascii != canonical && ascii != given && strings.EqualFold(ascii, given) {
		all = append(all, ascii)
	}
	return all
}

// SameMailbox reports whether two texts are email addresses of the same mailbox, which means that their canonical forms
// ([NormalizeEmail]) are equal. An empty text or a text that is not a plain address never matches.
func SameMailbox(a, b string) bool {
	one, err := mailaddr.Normalize(a)
	if err != nil {
		return false
	}
	if a == b {
		return true
	}
	other, err := mailaddr.Normalize(b)
	return err == nil && one == other
}

// present turns "no record and no error" into an error. The contract of stores forbids that result.
func present[T any](v *T, err error) (*T, error) {
	if err == nil && v == nil {
		err = errors.New("the store returned neither a record nor ErrNotFound")
	}
	return v, err
}
