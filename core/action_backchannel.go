package core

import (
	"context"
	"errors"
	"net/http"
)

// maxLogouts is how many logout tokens are remembered as used. Only those that a provider signed count.
const maxLogouts = 1 << 16

// BackChannelLogout is a provider's word that somebody's sessions have ended there (OpenID Connect Back-Channel Logout).
type BackChannelLogout struct {
	// Provider is the provider's ID.
	Provider string
	// Subject is the person at the provider (sub), SessionID their session there (sid). One of them may be empty; without a SessionID
	// all sessions of the Subject are meant.
	Subject, SessionID string
	// User is the owner of the Subject's account or, without a Subject, of the session that SessionID began; nil when there is no
	// store, or it knows none.
	User *User
}

// backChannelLogout answers POST backchannel-logout/<provider>: the provider itself calls it, without a browser, with a signed token
// that is good once. Database sessions of the user end here: all of them for a token that names the person; for one that names only
// the session (sid) the one that it began, as far as this process remembers. Others are the callback's to end.
func (x *exchange) backChannelLogout(ctx context.Context) (*Response, error) {
	if x.provider == nil || x.provider.oauth == nil || x.provider.oauth.Type != TypeOIDC || !x.endsSessions() {
		return nil, &badRequest{errorf(UnknownAction, "this provider's users cannot be signed out from afar: that needs OpenID Connect, and database sessions or the callback BackChannelLogout")}
	}
	response := jsonResponse(nil)
	if err := x.logoutFromAfar(ctx, x.provider.oauth); err != nil {
		x.logError(ctx, asError(err, SignOutError).under(SignOutError), x.logAttrs()...)
		response.Status, response.Body = http.StatusBadRequest, []byte(`{"error":"invalid_request"}`)
	}
	return response, nil
}

// endsSessions tells whether a logout from afar can have any effect.
func (a *Auth) endsSessions() bool {
	return a.callbacks.BackChannelLogout != nil || a.session.Strategy == StrategyDatabase && a.store.lister != nil
}

func (x *exchange) logoutFromAfar(ctx context.Context, c *oauthClient) error {
	raw, _ := x.fields.Text("logout_token")
	token, err := c.client.ReadLogoutToken(raw)
	if err != nil {
		return errorf(SignOutError, "logout_token: %w", err)
	}
	if _, used := x.logouts.Get(c.ID + " " + token.ID()); used {
		return errorf(SignOutError, "logout_token: it was used before")
	}
	at, err := c.client.Endpoints(ctx)
	if err != nil {
		return errorf(AuthError, "%w", err)
	}
	said, err := c.client.VerifyLogoutToken(ctx, at, token)
	if err != nil {
		return errorf(SignOutError, "logout_token: %w", err)
	}
	if err := x.endAll(ctx, BackChannelLogout{Provider: c.ID, Subject: said.Subject, SessionID: said.SessionID}); err != nil {
		return err
	}
	x.logouts.First(c.ID+" "+said.ID, said.Expires) // after the deed: when it fails, the provider may come again
	return nil
}

// endAll ends the sessions that a logout is about. A person without an account here has none.
func (x *exchange) endAll(ctx context.Context, p BackChannelLogout) error {
	if p.Subject != "" && x.store.Store != nil {
		user, err := x.userByAccount(ctx, x.store, &Account{Provider: p.Provider, ProviderAccountID: p.Subject})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return errorf(AdapterError, "%w", err)
		}
		p.User = user
	}
	switch {
	case p.User != nil && x.session.Strategy == StrategyDatabase && x.store.lister != nil:
		if _, err := guarded("Store.DeleteSessions", func() (int, error) { return x.store.lister.DeleteSessions(ctx, p.User.ID) }); err != nil {
			return errorf(AdapterError, "%w", err)
		}
	case p.Subject == "":
		known, err := x.endBySID(ctx, &p)
		if err != nil {
			return errorf(AdapterError, "%w", err)
		}
		if !known && x.callbacks.BackChannelLogout == nil {
			return errorf(SignOutError, "the logout_token names a session (sid) and no person (sub), and that session was not begun by this process since it started: only a BackChannelLogout callback could tell which it is")
		}
	}
	if x.callbacks.BackChannelLogout == nil {
		return nil
	}
	p.User = p.User.Clone()
	_, err := guarded("BackChannelLogout callback", func() (struct{}, error) { return struct{}{}, x.callbacks.BackChannelLogout(ctx, p) })
	return err
}
