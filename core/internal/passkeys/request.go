package passkeys

import (
	"cmp"
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core/internal/accounts"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/passkey"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/cookie"
	options "github.com/latchkey-go/latchkey/internal/passkey"
)

// Request is a request for options.
type Request struct {
	// Action is Register, Authenticate or empty. Conditional means that the browser creates the passkey without a prompt.
	Action      string
	Conditional bool
	// User is the user of the session, or nil. Guest means that they may have a passkey as another user.
	User  *store.User
	Guest bool
	// Address is the email address in the request, and Given its spelling there. Both may be empty.
	Address, Given string
	// SignUp is where new users register. If it is empty, they register here.
	SignUp string
	// Named returns the user that a request without a session names, instead of the one with Address. It may be nil.
	Named func() (user *store.User, exists bool, err error)
	// MayCreate reports whether the session allows a passkey without a prompt.
	MayCreate func() (bool, error)
	// Handle returns the user handle of a registration. signedIn is false for a new user.
	Handle func(user *store.User, signedIn bool) ([]byte, error)
}

// Refusal is the reason that a request gets no options.
type Refusal string

var errRefused error = Refusal("Invalid request")

// Error returns the text.
func (r Refusal) Error() string { return string(r) }

// Prepared is a ceremony that can start.
type Prepared struct {
	Ceremony
	// Listed are the passkeys that an authentication allows, or that a registration excludes. An authentication without a
	// list allows any passkey.
	Listed []options.Descriptor
	// User is the user whose names the authenticator shows, and UserHandle the user handle. Both are for a registration.
	User       *store.User
	UserHandle []byte
}

// Prepare decides which ceremony a request starts. The error is a [Refusal] if it may start none.
func (p *Provider) Prepare(ctx context.Context, s *Stores, r *Request) (*Prepared, error) {
	who, err := p.requester(ctx, s, r)
	switch {
	case err != nil:
		return nil, err
	case r.SignUp != "" && r.Action == Register && (!who.SignedIn || r.Guest):
		return nil, Refusal("Sign up at " + r.SignUp)
	}
	switch who.Action(r.Action, p.HideUsers) {
	case Authenticate:
		owner := ""
		if who.Exists {
			owner = who.User.ID
		}
		return s.Authentication(ctx, owner)
	case Register:
		return p.registration(ctx, s, r, &who)
	}
	return nil, errRefused
}

// requester returns the user of the session or, without one, the user that the request names. A guest may authenticate
// as another user.
func (p *Provider) requester(ctx context.Context, s *Stores, r *Request) (who Requester, err error) {
	if r.User != nil && (!r.Guest || r.Action == Register) {
		return Requester{User: r.User, SignedIn: true, Exists: true}, nil
	}
	if r.Named != nil {
		who.User, who.Exists, err = r.Named()
		who.Exists = who.Exists && who.User != nil
	} else {
		who.User, who.Exists, err = s.Typed(ctx, p.ID, r.Address, r.Given, p.Labels)
	}
	if err == nil && p.HideUsers && who.Exists { // linking refuses the taken address later
		who.User, who.Exists = &store.User{Email: cmp.Or(who.User.Email, r.Address)}, false
	}
	return who, err
}

// registration prepares the registration of a passkey.
func (p *Provider) registration(ctx context.Context, s *Stores, r *Request, who *Requester) (*Prepared, error) {
	if r.Conditional {
		if may, err := r.MayCreate(); err != nil || !may {
			return nil, cmp.Or(err, errRefused)
		}
	}
	made := &Prepared{User: who.User, Listed: []options.Descriptor{}}
	made.Register, made.Conditional = who.User, r.Conditional
	if who.SignedIn {
		var err error
		if made.Listed, err = s.Described(ctx, who.User.ID); err != nil {
			return nil, err
		}
		if len(made.Listed) >= accounts.Max {
			return nil, Refusal("Too many passkeys: remove one first")
		}
	} else if p.Labels { // the address is unverified
		made.Register, made.Typed = &store.User{}, who.User.Email
	}
	var err error
	made.UserHandle, err = r.Handle(who.User, who.SignedIn)
	return made, err
}

// Authentication prepares an authentication with a passkey of the user with the ID owner, or of any user if owner is
// empty.
func (s *Stores) Authentication(ctx context.Context, owner string) (*Prepared, error) {
	made := &Prepared{Ceremony: Ceremony{Owner: owner}}
	if owner == "" {
		return made, nil
	}
	var err error
	made.Listed, err = s.Described(ctx, owner)
	return made, err
}

// Start starts a ceremony. It returns its options, and the cookie that stores it.
func (p *Provider) Start(
	ctx context.Context, b *flowstate.Browser, rp *passkey.RelyingParty, c *Prepared,
) (body []byte, stored cookie.Cookie, err error) {
	if stored, err = p.Begin(ctx, b, &c.Ceremony); err != nil {
		return nil, stored, err
	}
	if c.Register != nil {
		body, err = p.RegistrationOptions(&c.Ceremony, rp, c.User, c.UserHandle, c.Listed)
	} else {
		body, err = p.AuthenticationOptions(&c.Ceremony, rp, c.Listed)
	}
	if err != nil {
		err = fmt.Errorf("options: %w", err)
	}
	return body, stored, err
}
