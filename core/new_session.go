package core

import (
	"context"
)

// NewSession signs a user in outside the flows, after a registration form for example, and returns the cookies to set.
// It is the application's word that the request comes from this user, and no [Gate] is asked. Under the database
// strategy the user must be in the store. A nil user is an error.
func (a *Auth) NewSession(ctx context.Context, r *Request, user *User) ([]Cookie, error) {
	if user == nil {
		return nil, errorf(ErrInvalidConfig, "NewSession: the user is nil: whose session is it to be?")
	}
	a, err := a.resolve(ctx, r)
	if err != nil {
		return nil, err
	}
	v, err := a.site.arrive(r)
	if err != nil {
		return nil, err
	}
	p := a.sessions.present(&v)
	p.cookieOnly = true // what is asked for are cookies
	if err := p.settle(ctx); err != nil {
		return nil, err
	}
	account := &Account{Type: TypeCredentials, Provider: "application", ProviderAccountID: user.ID}
	id := &identity{user: user.Clone(), account: account, methods: []Method{}}
	who := member{user: id.user}
	if err := a.linker.beginStored(ctx, &p, id, &who); err != nil {
		return nil, err
	}
	cookies, sessionID, err := a.sessions.issue(ctx, &p, id, who)
	if err == nil {
		cookies = append(cookies, a.sessions.away.forget(ctx, &v)...)
		v.decidedOf(ctx, AuditSignIn, "", user.ID, sessionID)
	}
	return cookies, err
}
