package core

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/core/internal/random"
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

// identityOf turns a profile into the visitor's identity. newID makes the ID that the user gets.
func identityOf(
	ctx context.Context, c *oauthClient, profile Profile, tokens *TokenSet,
	newID func(provider, accountID string) (string, error),
) (*identity, error) {
	person, given, err := c.personOf(ctx, profile, tokens)
	if err != nil {
		return nil, errorf(ErrOAuthProfileParse, "provider %q: %w", c.ID, tokens.hide(err))
	}
	accountID := person.AccountID
	if !exactjson.IsClean(accountID) {
		return nil, errorf(ErrOAuthProfileParse,
			"provider %q: the id of the profile has control or malformed characters: two accounts could have the same", c.ID)
	}
	if accountID == "" || accountID == "undefined" || accountID == "null" {
		return nil, errorf(ErrOAuthProfileParse,
			"provider %q: the profile has no id: without one the person would be somebody else at each sign-in", c.ID)
	}
	userID, err := newID(c.ID, accountID)
	if err != nil {
		return nil, err
	}
	user := &User{
		ID: userID, Name: person.Name, Email: person.Email, Image: person.Image, Null: person.Null,
		Extra: maps.Clone(person.Extra),
	}
	account := &Account{
		Type: c.Type, Provider: c.ID, ProviderAccountID: accountID,
		AccessToken: tokens.AccessToken, RefreshToken: tokens.RefreshToken, IDToken: tokens.IDToken,
		Scope: tokens.Scope, TokenType: tokens.TokenType, ExpiresIn: tokens.ExpiresIn, ExpiresAt: tokens.ExpiresAt,
		SessionState: tokens.further("session_state"), AuthorizationDetails: tokens.further("authorization_details"),
		Extra: maps.Clone(tokens.Extra),
	}
	delete(account.Extra, "session_state")
	delete(account.Extra, "authorization_details")
	return &identity{user: user, account: account, profile: profile, tokens: tokens, client: c, given: given}, nil
}

// personOf is what the provider's mapping makes of a profile, with a canonical address and bounded texts. given is the
// address as the provider sent it.
func (o *oauthClient) personOf(
	ctx context.Context, profile Profile, tokens *TokenSet,
) (person Person, given string, err error) {
	mapping := o.Profile
	if mapping == nil {
		mapping = StandardProfile
	}
	mapped, err := guarded("profile function", func() (*Person, error) { return mapping(ctx, profile, tokens) })
	if err == nil && mapped == nil {
		err = errors.New("the profile function returned no person")
	}
	if err != nil {
		return person, "", err
	}
	person, given = *mapped, mapped.Email              // the application's may be shared
	person.Email, _ = mailaddr.Normalize(person.Email) // one that cannot be compared becomes none: it leads to no user
	if !exactjson.IsClean(person.Email) {
		person.Email = ""
	}
	boundProfile(&person)
	return person, given, nil
}

// Bounds in bytes of the name and picture of a profile. A session token holds both and is a cookie, which stays
// readable.
const (
	maxProfileName  = 1000
	maxProfileImage = 16 << 10 // of services whose pictures are data URLs
)

// boundProfile cleans name and image, cuts a name that is too long, and drops an image that is: half an address leads
// nowhere.
func boundProfile(p *Person) {
	p.Name, p.Image = printableText(p.Name, ' '), printableText(p.Image, -1)
	if len(p.Name) > maxProfileName {
		p.Name = strings.ToValidUTF8(p.Name[:maxProfileName], "")
	}
	if len(p.Image) > maxProfileImage {
		p.Image = ""
	}
}

// printableText removes what databases, cookies and pages cannot show: control characters and bytes that are not UTF-8.
// lineBreak takes the place of a tab or line break; -1 removes it.
func printableText(s string, lineBreak rune) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return lineBreak
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")))
}

// newUserID makes the id of a new user: a random UUID where a store keeps it. Without a store it is derived from the
// account (UUID version 8), so that the same person has the same id at every sign-in.
func newUserID(kept bool, source io.Reader) func(provider, accountID string) (string, error) {
	if kept {
		return func(string, string) (string, error) { return uuid(source) }
	}
	return func(provider, accountID string) (string, error) {
		sum := sha256.Sum256([]byte("latchkey user\x00" + provider + "\x00" + accountID))
		return random.UUIDOf([16]byte(sum[:16]), 8), nil
	}
}
