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

// stores are the faces of the configured store, or of a transaction of it; a nil one is not there.
type stores struct {
	Store
	given    Store // as it was configured
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

// UserByMailbox returns the user of an email address that a client sent. It looks for the canonical form of the address
// ([NormalizeEmail]), then for the address exactly as sent, without surrounding blanks. Tables that other libraries
// filled have such addresses. An address that differs from the canonical form costs two lookups whether or not the
// first one finds a user, so that the time does not reveal which addresses exist; any other address costs one. If both
// find a user, the first one wins, unless only the second one's address is verified. [ErrNotFound]: there is no such user, or the text is no plain address.
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

// firstByMailbox finds the user with the canonical form of an address or, if there is none, with the spelling given.
func firstByMailbox(ctx context.Context, users Store, canonical, given string) (*User, error) {
	user, err := userByEmail(ctx, users, canonical)
	if errors.Is(err, ErrNotFound) {
		return userBySpelling(ctx, users, canonical, given)
	}
	return user, err
}

// userByMailbox is UserByMailbox for an address with a known canonical form. It makes the second lookup only if the
// first one finds nothing or a user with an unverified address.
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

// verifiedSpelling chooses between the user with the canonical address and the one with another spelling, or the error
// of looking that one up. The latter wins if only its address is verified and was sent exactly as it is stored: anyone
// can create the former with an address that is not theirs.
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

// userBySpelling finds the user whose stored address equals given, or equals canonical with its domain in ASCII. It
// finds no user if given is canonical or belongs to another mailbox.
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

// spellings returns the forms other than the canonical one in which a table may have an address.
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

// SameMailbox reports whether two texts are email addresses of one mailbox: whether their canonical forms
// ([NormalizeEmail]) are equal. Empty texts and texts that are no plain address have no mailbox.
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

// present refuses the answer "nothing, and no error", which the contract of stores rules out.
func present[T any](v *T, err error) (*T, error) {
	if err == nil && v == nil {
		err = errors.New("the store returned neither a record nor ErrNotFound")
	}
	return v, err
}
