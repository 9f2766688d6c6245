package core

import (
	"context"
	"time"
)

// SessionOptions tell [Auth.NewSession] how the application authenticated the user.
type SessionOptions struct {
	// AuthTime is when the application authenticated the user: time.Now() if it has just checked a password or a code.
	// Default: the zero time, which counts as long ago for [Fresh] and for the actions of plugins that need a recent
	// sign-in. A time in the future counts as now.
	AuthTime time.Time
	// Methods are how it authenticated the user, such as [MethodPassword]. Default: none.
	Methods []Method
}

// NewSession creates a session for a user outside the sign-in flows, for example after a registration form, and returns
// the cookies to set. The application vouches for the user, and no [Gate] is asked. The session does not count as a
// recent sign-in unless options, at most one, say when the user was authenticated. Under the database strategy the user
// must be in the store. A nil user is an error.
func (a *Auth) NewSession(
	ctx context.Context, r *Request, user *User, options ...SessionOptions,
) ([]Cookie, error) {
	switch {
	case user == nil:
		return nil, errorf(ErrInvalidConfig, "NewSession: the user is nil: pass the user whose session it is")
	case len(options) > 1:
		return nil, errorf(ErrInvalidConfig, "NewSession: pass one SessionOptions at most")
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
	id := &identity{user: user.Clone(), account: account, methods: []Method{}, authTime: new(time.Time)}
	if len(options) == 1 {
		id.methods = append(id.methods, options[0].Methods...)
		if at, now := options[0].AuthTime, a.sessions.now(); at.After(now) {
			*id.authTime = now
		} else if at.Unix() > 0 {
			*id.authTime = at
		}
	}
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
