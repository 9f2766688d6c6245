package core

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exchange"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
	"github.com/latchkey-go/latchkey/internal/profiletext"
)

// identity is the result of every flow: the user and account that the provider has authenticated. The steps after the
// flow are the same for all providers. Data of one kind of flow is in the field of that flow, which is nil for others.
type identity struct {
	// user is the stored user if the flow knows them, else a new user from the profile with a new ID.
	user    *User
	account *Account
	profile Profile
	// methods lists how the user authenticated. If it is nil, the type of the account determines it.
	methods []amr.Method
	// authTime is when the user authenticated. If it is nil, that was just now. The zero time means that it is unknown.
	authTime *time.Time
	// acr is the authentication context class that the provider reported, or "".
	acr string
	// short reports that the session is short (SessionConfig.RememberMe).
	short bool
	// actor is who impersonates the user. It is zero for a sign-in.
	actor actor
	// started is the relation between the current session and the one that started the flow. An account may be linked to
	// the current user only with flowstate.SameSession.
	started flowstate.Session
	// byApp means that an app has sent an ID token ([ActionRequest.SignInApp]): there is no browser, so that the sign-in
	// gets no session and cannot wait for a gate.
	byApp bool
	// onlyIDToken means that there is no token response, only an ID token ([ActionRequest.VerifyIDToken]).
	onlyIDToken bool

	// provisional is the ID of the provisional user whose session the sign-in was started under. unlinked reports that the
	// current session is that of a provisional user, to whom nothing is linked.
	provisional string
	unlinked    bool

	oauth   *oauthResult
	passkey *passkeyResult
	// newPasskey is SignIn.Passkey. SignIn.Create stores it.
	newPasskey *NewUserPasskey
	form       *formResult
	signUp     *signUpResult
	// pending is the stored sign-in that this identity was read from, after a sign-in gate.
	pending *pendingData
}

// oauthResult is the data of a sign-in with an OAuth provider.
type oauthResult struct {
	client *oauthClient
	tokens *TokenSet
	// given is the user's address as the provider sent it, before it was normalized.
	given string
	// exchange identifies the callback.
	exchange exchange.Key
	// current is the ID of the user who was already signed in, and currentAuthTime is when they authenticated.
	current         string
	currentAuthTime time.Time
	// unconfirmed reports that the provider may have used its own session instead of authenticating the user.
	unconfirmed bool
}

// passkeyResult is the data of the registration of a passkey.
type passkeyResult struct {
	*store.Authenticator
	// typed is the address that an unauthenticated user typed for the passkey. It is not their email address: see
	// typedAccount in package accounts.
	typed string
	// aaguid and handle are the AAGUID and the user handle, for PasskeyTracker.Added.
	aaguid string
	handle []byte
}

// formResult is the data of a sign-in with a [CredentialsProvider].
type formResult struct {
	credentials map[string]string
	// recheck is the function that CredentialsProvider.Admit returned. It is nil if no second check is needed.
	recheck func(ctx context.Context) error
}

// signUpResult is the data of a sign-in by a plugin that creates the user.
type signUpResult struct {
	// create is SignIn.Create. It is nil if the plugin has already created the user.
	create func(ctx context.Context) (*User, error)
	// upgrade is SignIn.Upgrade, or nil.
	upgrade func(ctx context.Context, provisional *User) (*User, error)
}

// byOAuth reports whether an OAuth provider has authenticated the user with this request.
func (id *identity) byOAuth() bool { return id.oauth != nil }

// sid returns the provider's ID of the session (OpenID Connect Front-Channel Logout section 3), or "".
func (id *identity) sid() string {
	switch {
	case id.oauth != nil:
		return id.oauth.tokens.Claims.Text("sid")
	case id.pending != nil:
		return id.pending.SID
	}
	return ""
}

// member is the result of linking: the user who will be signed in.
type member struct {
	user    *User
	session *store.Session // set under the database strategy
	created bool
	// keepsSession reports that the browser's session continues, because a signed-in user linked another account.
	keepsSession bool
	// upgraded reports that this sign-in has upgraded a provisional user to this user.
	upgraded bool
}

// recheckCredentials returns an error if the credentials of the sign-in have become invalid since they were checked.
func (id *identity) recheckCredentials(ctx context.Context) error {
	if id.form == nil || id.form.recheck == nil {
		return nil
	}
	return guard("CredentialsProvider.Admit", func() error { return id.form.recheck(ctx) })
}

// verifiedAddress returns the address that the provider says belongs to the user, or "" if it does not say so. The
// claim email_verified counts only if it is the boolean true, and only for the address in the same profile. If it is
// false, EmailVerified is not called.
func (id *identity) verifiedAddress() string {
	if id.oauth == nil || id.profile["email_verified"] == false {
		return ""
	}
	if vouches := id.oauth.client.EmailVerified; vouches != nil {
		if vouches(id.profile) {
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

// authentication describes when and how a user authenticated. The zero time counts as long ago.
type authentication struct {
	time    time.Time
	methods []amr.Method
	acr     string // Session.ACR
	short   bool   // SessionConfig.RememberMe
	actor   actor  // who impersonates the user
}

// authenticatedAt returns the authentication of the identity, for a new session of the user. A sign-in by the current
// user never makes their authentication older.
func (id *identity) authenticatedAt(now time.Time, who member) authentication {
	at := now
	switch {
	case id.authTime != nil:
		at = *id.authTime
	case id.isUnconfirmed(who):
		at = time.Time{}
	}
	if id.oauth != nil && id.oauth.current == who.user.ID && id.oauth.currentAuthTime.After(at) {
		at = id.oauth.currentAuthTime
	}
	return authentication{at, id.proofs(), id.acr, id.short, id.actor}
}

// isUnconfirmed reports whether the time of the authentication is unknown, because the provider may have used its own
// session. The first sign-in of a new user counts as an authentication: there is nothing to protect yet, and a user
// whose provider sends no auth_time can add a passkey only then.
func (id *identity) isUnconfirmed(who member) bool {
	return id.oauth != nil && id.oauth.unconfirmed && !who.created
}

// proofs returns the methods that the flow has set, else the default for the type of the account.
func (id *identity) proofs() []amr.Method {
	if id.methods != nil {
		return id.methods
	}
	switch id.account.Type {
	case TypeCredentials:
		return []amr.Method{amr.Password}
	case TypeEmail:
		return []amr.Method{amr.Mail}
	case TypeWebAuthn:
		return []amr.Method{amr.SoftwareKey}
	}
	return []amr.Method{amr.Federated}
}

// identityOf maps a profile to an identity. newID returns the ID of the user.
func identityOf(
	ctx context.Context, c *oauthClient, profile Profile, tokens *TokenSet,
	newID func(provider, accountID string) (string, error),
) (*identity, error) {
	person, given, err := c.personOf(ctx, profile, tokens)
	if err != nil {
		return nil, errorf(autherr.OAuthProfileParse, "provider %q: %w", c.ID, tokens.hide(err))
	}
	accountID := person.AccountID
	if err := profiletext.CheckID(accountID); err != nil {
		return nil, errorf(autherr.OAuthProfileParse, "provider %q: %w", c.ID, err)
	}
	userID, err := drawn(newID(c.ID, accountID))
	if err != nil {
		return nil, err
	}
	user := &User{
		ID: userID, Name: person.Name, Email: person.Email, Image: person.Image, Null: person.Null,
		Extra: maps.Clone(person.Extra),
	}
	account := defaultAccount(tokens)
	account.Type, account.Provider, account.ProviderAccountID = c.Type, c.ID, accountID
	account.ExpiresIn, account.Extra = tokens.ExpiresIn, maps.Clone(tokens.Extra)
	delete(account.Extra, "session_state")
	delete(account.Extra, "authorization_details")
	return &identity{
		user: user, account: account, profile: profile, oauth: &oauthResult{client: c, tokens: tokens, given: given},
		acr: profiletext.ACR(tokens.Claims.Text("acr")),
	}, nil
}

// personOf runs the provider's Profile function, normalizes the address and limits the texts. given is the address as
// the provider sent it.
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
	person, given = *mapped, mapped.Email // a copy: the application may share the Person
	person.Email = profiletext.Address(given)
	person.Name, person.Image = profiletext.Name(person.Name), profiletext.Image(person.Image)
	return person, given, nil
}

// flow signs users in with one provider. There is one for each configured provider. Each flow ends with an [identity].
type flow interface {
	// start answers POST signin/<provider>.
	start(ctx context.Context, c *call) (*Response, error)
	// finish handles a request to callback/<provider>. The cookies of the outcome are set even if finish fails.
	finish(ctx context.Context, c *call) (outcome, error)
	// needsToken reports whether a POST to callback/<provider> is a form of this site, which contains the CSRF token.
	// Callbacks of an external provider are protected by its checks instead.
	needsToken() bool
}

// outcome is the result of a flow.
type outcome struct {
	// identity is the user's identity. If it is nil, response is the response.
	identity *identity
	response *Response
	// cookies are set even if the sign-in fails.
	cookies []Cookie
	// returnTo is where the browser continues. If it is empty, the callback URL of the call is used.
	returnTo string
	// typed is the identifier that the user typed, for the audit event. It may be empty.
	typed string
	// withoutCookies means that the request is a cross-site POST without the browser's cookies. The response must not
	// replace them.
	withoutCookies bool
	// reauth is set if the flow authenticates the user of the session again.
	reauth *reauthRequest
	// restore makes the used link or code valid again. If the server fails afterwards, it is called, and cookies are not
	// set. It may be nil.
	restore func(ctx context.Context) error
}

// gatekeeper calls Callbacks.SignIn.
type gatekeeper struct {
	signIn func(ctx context.Context, p SignInParams) (SignInResult, error) // Callbacks.SignIn
}

// NewUserPasskey is a verified passkey that belongs to no user yet.
type NewUserPasskey struct {
	id     *identity
	in     *call
	stores stores
	stored string // ID of the user of the last call of Store
}
