package core

import (
	"context"
)

// issue makes the session of a sign-in and its cookies: the only place that does.
func (x *exchange) issue(ctx context.Context, id *identity, who member) ([]Cookie, error) {
	if x.session.Strategy == StrategyDatabase {
		x.rememberSID(id, who.session)
		return x.setSession(string(who.session.Token), who.session.Expires)
	}
	trigger := TriggerSignIn
	if who.created {
		trigger = TriggerSignUp
	}
	u := who.user
	begun := &Token{Subject: u.ID, Name: u.Name, Email: u.Email, Picture: u.Image, Null: u.Null}
	x.stampToken(begun)
	if err := x.markUnproved(ctx, begun, id, u); err != nil {
		return nil, err
	}
	token, err := x.runJWT(ctx, JWTParams{
		Token: begun,
		User:  u, Account: id.account, Profile: id.profile, Trigger: trigger, NewUser: who.created,
	})
	if err != nil {
		return nil, err
	}
	if token == nil {
		return x.clearSession(), nil
	}
	value, err := x.encodeSession(ctx, token)
	if err != nil {
		return nil, err
	}
	return x.setSession(value, x.now().Add(x.session.MaxAge))
}

// NewSession signs a user in outside the flows, after a registration form for example, and returns the cookies to set. It is the
// application's word that the request comes from this user. Under the database strategy the user must be in the store. A nil user is
// an error.
func (a *Auth) NewSession(ctx context.Context, r *Request, user *User) ([]Cookie, error) {
	if user == nil {
		return nil, errorf(InvalidConfig, "NewSession: the user is nil: whose session is it to be?")
	}
	x := &exchange{Auth: a, r: r}
	if err := x.open(); err != nil {
		return nil, err
	}
	if err := x.settleSession(ctx); err != nil {
		return nil, err
	}
	id := &identity{user: user.Clone(), account: &Account{Type: TypeCredentials, Provider: "application", ProviderAccountID: user.ID}}
	who, err := x.linkCredentials(ctx, id)
	if err != nil {
		return nil, x.withoutUser(ctx, id.user, err)
	}
	return x.issue(ctx, id, who)
}
