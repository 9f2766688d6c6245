package core

import (
	"context"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/core/store"
)

// identity is the visitor as the provider vouches for them. Every flow ends in one; from there on there is one path:
// allow, link, issue.
type identity struct {
	// user is the person: the stored user where the flow knows them already, else what the profile said with a fresh id.
	user        *User
	account     *Account
	profile     Profile
	credentials map[string]string
	// still is that of CredentialsProvider.Admit; nil: nothing can have changed.
	still func(ctx context.Context) error
	// authTime is when the user authenticated, if that was not just now; nil: just now. The zero time: never, as far as is
	// known.
	authTime *time.Time
	// current is the ID of the user who is signed in already, and currentAuthTime when they authenticated. Both are set
	// for sign-ins with a provider alone.
	current         string
	currentAuthTime time.Time
	// unconfirmed is true if nothing says that the provider authenticated the current user again. It means nothing for a
	// sign-in as another user.
	unconfirmed bool
	// methods are how the visitor proved who they are; nil: as the type of the account says.
	methods []Method
	// held is when a gate held the sign-in first; zero: none did.
	held time.Time

	// made reports that a part creates the user: it has just done so, or create does.
	made bool
	// create is SignIn.Create; nil if the user exists.
	create func(ctx context.Context) (*User, error)

	// given is the address of user as the provider sent it, before it was brought into its canonical form.
	given string

	// started says how the current session relates to the one that started the flow. An account is linked to the current
	// user with flowSameSession alone.
	started flowSession
	// exchange identifies the callback that the identity is the result of.
	exchange exchangeKey

	// tokens and client are those of an OAuth flow.
	tokens *TokenSet
	client *oauthClient

	// passkey is the one that a registration brings along, typed the address that an anonymous visitor typed for it and
	// that is not their e-mail address: see typedAccount.
	passkey *store.Authenticator
	typed   string
}

// member is the outcome of linking: the user who is signed in from now on.
type member struct {
	user    *User
	session *store.Session // database strategy
	created bool
	// keeps is true when the session that the browser has goes on: a signed-in user linked another account.
	keeps bool
}

// stands returns an error where what the visitor has signed in with is good no longer.
func (id *identity) stands(ctx context.Context) error {
	if id.still == nil {
		return nil
	}
	return guard("CredentialsProvider.Admit", func() error { return id.still(ctx) })
}

// become replaces the user by the stored one, whose ID the store may have chosen, also in an account that names them.
func (id *identity) become(stored *User) {
	if id.account.UserID == id.user.ID {
		id.account.UserID = stored.ID
	}
	if id.account.Type == TypeCredentials && id.account.ProviderAccountID == id.user.ID {
		id.account.ProviderAccountID = stored.ID
	}
	id.user = stored.Clone()
}

// vouchedAddress is the address of an identity that its provider says is the person's, empty when no provider says so.
// A claim email_verified counts as a real true alone, and for the address beside it; where it is false EmailProved is
// not asked.
func (id *identity) vouchedAddress() string {
	if id.client == nil || id.profile["email_verified"] == false {
		return ""
	}
	if id.client.EmailProved != nil {
		if id.client.EmailProved(id.profile) {
			return id.user.Email
		}
		return ""
	}
	about, err := mailaddr.Normalize(id.profile.Text("email"))
	if err != nil || about != id.user.Email || id.profile["email_verified"] != true {
		return ""
	}
	return about
}

// keptAccount is the account as the store has it: what the provider's account function chose of the tokens.
func (id *identity) keptAccount() *Account {
	kept := &Account{}
	if id.client != nil {
		kept = id.client.keeps(id.tokens)
	}
	kept.Type, kept.Provider, kept.ProviderAccountID = id.account.Type, id.account.Provider, id.account.ProviderAccountID
	kept.EmailProved = id.vouchedAddress()
	return kept
}

// isAccount reports whether a stored account is the one of the identity.
func (id *identity) isAccount(a *Account) bool {
	return a.Provider == id.account.Provider && a.ProviderAccountID == id.account.ProviderAccountID
}

// typedAccount is the account that finds the passkeys of a user without an e-mail address by what they typed when they
// registered. An address is no credential id, so that it is no other account of the provider, and it opens nothing:
// only a passkey does.
func typedAccount(provider, typed string) *Account {
	return &Account{Type: TypeWebAuthn, Provider: provider, ProviderAccountID: typed}
}

// authentication is when and how a user authenticated. A zero time counts as long ago.
type authentication struct {
	time    time.Time
	methods []Method
}

// authenticatedAt returns how the identity was authenticated, for a session of the user that begins now. A sign-in by
// the current user does not make their authentication older.
func (id *identity) authenticatedAt(now time.Time, userID string) authentication {
	at := now
	if id.authTime != nil {
		at = *id.authTime
	}
	if userID == id.current && (id.unconfirmed || id.currentAuthTime.After(at)) {
		at = id.currentAuthTime
	}
	return authentication{at, id.proofs()}
}

// proofs are the methods of an identity: what its flow found out, else what its type says.
func (id *identity) proofs() []Method {
	if id.methods != nil {
		return id.methods
	}
	switch id.account.Type {
	case TypeCredentials:
		return []Method{MethodPassword}
	case TypeEmail:
		return []Method{MethodMail}
	case TypeWebAuthn:
		return []Method{MethodSoftwareKey}
	}
	return []Method{MethodFederated}
}
