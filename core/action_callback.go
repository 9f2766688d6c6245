package core

import (
	"context"
	"errors"
)

// identity is who a provider says the visitor is. Every flow ends in one; from there on there is one path: allow, link, issue.
type identity struct {
	// user is the person: the stored user where the flow knows them already, else what the profile said with a fresh id.
	user        *User
	account     *Account
	profile     Profile
	credentials map[string]string

	// tokens and client are those of an OAuth flow.
	tokens *TokenSet
	client *oauthClient

	// passkey is the one that a registration brings along, typed the address that an anonymous visitor typed for it and that is not
	// their e-mail address: see typedAccount.
	passkey *Authenticator
	typed   string
}

// callback completes a sign-in (WIRE 8 to 10).
func (x *exchange) callback(ctx context.Context) (*Response, error) {
	response := &Response{}
	id, err := x.identify(ctx, response)
	if err == nil && id != nil {
		err = x.signInAs(ctx, id, response)
	}
	if err != nil {
		return response, asError(err, CallbackRouteError)
	}
	return response, nil
}

// identify hands over to the flow of the provider. A nil identity without an error means that response says where to go.
func (x *exchange) identify(ctx context.Context, response *Response) (*identity, error) {
	switch p := x.provider; {
	case p == nil:
		return nil, errorf(InvalidProvider, "the callback needs a provider: callback/<provider id>")
	case p.oauth != nil && p.oauth.RequestToken.URL != "":
		return x.finishOAuth1(ctx, p.oauth, response)
	case p.oauth != nil:
		return x.finishOAuth(ctx, p.oauth, response)
	case p.email != nil && x.asksFirst(p.email):
		*response = *x.confirmPage(ctx)
		return nil, nil
	case p.email != nil:
		return x.followLink(ctx, p.email, response)
	case p.credentials != nil && x.r.Method == "POST":
		return x.authorize(ctx, p.credentials)
	case p.webauthn != nil && x.r.Method == "POST":
		return x.finishWebAuthn(ctx, p.webauthn, response)
	default:
		return nil, errorf(InvalidProvider, "a provider of type %s has no callback by %s", p.kind, x.r.Method)
	}
}

// signInAs is the path that all flows share.
func (x *exchange) signInAs(ctx context.Context, id *identity, response *Response) error {
	redirect, err := x.allow(ctx, id)
	if err != nil {
		return err
	}
	if redirect != "" {
		response.Redirect = redirect
		return nil
	}
	who, err := x.link(ctx, id)
	switch {
	case err != nil && id.account.Type == TypeCredentials:
		return x.withoutUser(ctx, id.user, err)
	case err != nil:
		return err
	}
	if id.account.Type == TypeWebAuthn {
		id.account.UserID = who.user.ID
	}
	cookies, err := x.issue(ctx, id, who)
	if err != nil {
		return err
	}
	response.Cookies = append(response.Cookies, cookies...)
	x.signedIn(ctx, who.user, id, who.created)
	response.Redirect = x.callbackURL
	if who.created && x.pages.NewUser != "" {
		response.Redirect, err = x.page(x.pages.NewUser, "", "callbackUrl", x.callbackURL)
	}
	return err
}

// allow asks the signIn callback. A result other than "go on" writes nothing anywhere.
func (x *exchange) allow(ctx context.Context, id *identity) (redirect string, err error) {
	user := id.user
	if x.store.Store != nil && id.client != nil {
		switch known, err := x.userByAccount(ctx, x.store, id.account); {
		case err == nil:
			user = known
		case !errors.Is(err, ErrNotFound):
			return "", errorf(AdapterError, "%w", err)
		}
	}
	return x.askSignIn(ctx, SignInParams{User: user, Account: id.account, Profile: id.profile, Credentials: id.credentials})
}

// askSignIn runs the signIn callback and turns its result into "go on" (""), a redirect, or AccessDenied.
func (x *exchange) askSignIn(ctx context.Context, p SignInParams) (redirect string, err error) {
	if x.callbacks.SignIn == nil {
		return "", nil
	}
	p.User, p.Account, p.Request = p.User.Clone(), p.Account.Clone(), x.r
	result, err := guarded("signIn callback", func() (SignInResult, error) { return x.callbacks.SignIn(ctx, p) })
	switch {
	case err != nil:
		return "", asError(err, AccessDenied, fault)
	case result.redirect != "":
		return x.redirectTarget(ctx, result.redirect)
	case !result.allow:
		return "", errorf(AccessDenied, "the signIn callback denied")
	}
	return "", nil
}

func (x *exchange) userByAccount(ctx context.Context, s Store, account *Account) (*User, error) {
	return guarded("Store.UserByAccount", func() (*User, error) {
		return present(s.UserByAccount(ctx, account.Provider, account.ProviderAccountID))
	})
}

func (x *exchange) userByEmail(ctx context.Context, s Store, email string) (*User, error) {
	if email == "" {
		return nil, ErrNotFound
	}
	return guarded("Store.UserByEmail", func() (*User, error) { return present(s.UserByEmail(ctx, email)) })
}

// present refuses the answer "nothing, and no error", which the contract of stores rules out.
func present[T any](v *T, err error) (*T, error) {
	if err == nil && v == nil {
		err = errors.New("the store returned neither a record nor ErrNotFound")
	}
	return v, err
}
