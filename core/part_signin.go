package core

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// SignIn is a sign-in that a part vouches for.
type SignIn struct {
	// User is the user; under the database strategy one that the store has. With Create it is the user that Create is
	// going to make, as Callbacks.SignIn sees them.
	User *User
	// Account is what they signed in with; nil: an account of type credentials, of a provider called as the action's Name.
	Account *Account
	// Methods are how they proved who they are.
	Methods []Method
	// Created is true for a user that the part has just created: Events.CreateUser is called, and the browser goes to
	// Pages.NewUser. A sign-in that Callbacks.SignIn denies leaves such a user in the store: set Create instead.
	Created bool
	// Create, if not nil, creates the user and returns them as stored. It is called once, after Callbacks.SignIn has
	// allowed the sign-in, so that a denied sign-up writes nothing. Its error ends the sign-in; a [*Problem] is the
	// response. Implies Created.
	Create func(ctx context.Context) (*User, error)
	// CallbackURL is where they go; empty: [Call.CallbackURL]. It passes Callbacks.Redirect.
	CallbackURL string
}

var errGetSignsIn = errors.New("core: an action of GET cannot begin or change a session: " +
	"have a form post to the action")

// SignIn signs the user in: it asks Callbacks.SignIn, creates the user where [SignIn.Create] says how, asks the gates,
// issues the session and calls the events. The response redirects to the callback URL. An error of type
// [ErrAccessDenied] is the callback's refusal. A request with a bearer token gets a 400 response, as at every
// sign-in: a sign-in needs cookies.
func (c *Call) SignIn(ctx context.Context, s SignIn) (*Response, error) {
	if c.in.r.Method != "POST" {
		return nil, errGetSignsIn
	}
	if err := c.in.refuseBearer(); err != nil {
		return nil, err
	}
	if s.User == nil || s.User.ID == "" {
		return nil, errors.New("core: Call.SignIn: SignIn.User is nil, or has no ID")
	}
	account := s.Account
	if account == nil {
		name, _, _ := strings.Cut(c.in.action, "/")
		account = &Account{Type: TypeCredentials, Provider: name, ProviderAccountID: s.User.ID}
	}
	id := &identity{
		user: s.User.Clone(), account: account.Clone(), methods: slices.Clone(s.Methods),
		made: s.Created || s.Create != nil, create: s.Create,
	}
	out := outcome{who: id}
	if s.CallbackURL != "" {
		target, err := c.in.redirectTarget(ctx, s.CallbackURL)
		if err != nil {
			return nil, err
		}
		out.returnTo = target
	}
	redirect, err := c.parts.entry.complete(ctx, c.in, &out)
	return c.signedIn(&out, redirect, err)
}

// signedIn answers with what a sign-in came to. Its cookies take the place of those that reading the session set.
func (c *Call) signedIn(out *outcome, redirect string, err error) (*Response, error) {
	if err != nil {
		return nil, err
	}
	c.read, c.session, c.failed, c.cookies = true, nil, errSessionChanged, nil
	for _, cookie := range out.cookies {
		c.keep(cookie)
	}
	return c.Redirect(redirect), nil
}

var errSessionChanged = errors.New("core: Call.Session: the session begins with this answer: " +
	"it is the next request that has it")
