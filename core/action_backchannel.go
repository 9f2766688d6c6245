package core

import (
	"context"
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core/internal/once"
)

// maxLogouts is how many logout tokens are remembered as used. Only those that a provider signed count.
const maxLogouts = 1 << 16

// logouts ends sessions by the word of providers.
type logouts struct {
	sessions *sessions
	store    stores
	callback func(ctx context.Context, p BackChannelLogoutParams) error // Callbacks.BackChannelLogout
	// used are the IDs of logout tokens that were used.
	used once.Memory[string, struct{}]
}

// backChannelLogout answers POST backchannel-logout/<provider>: the provider itself calls it, without a browser, with a
// signed token that is good once. Database sessions of the user end here: all of them for a token that names the person; for
// one that names only the session (sid) the one that it began, as far as this process remembers. Others are the callback's
// to end.
func (l *logouts) backChannelLogout(ctx context.Context, c *call) (*Response, error) {
	var from remoteLogout
	if c.provider != nil {
		from, _ = c.provider.flow.(remoteLogout)
	}
	if from == nil || c.provider.kind != TypeOIDC || !l.endSessions() {
		return nil, &badRequest{errorf(UnknownAction, "this provider's users cannot be signed out from afar: that needs "+
			"OpenID Connect, and database sessions or the callback BackChannelLogout")}
	}
	response := jsonResponse(nil)
	if err := from.logout(ctx, c); err != nil {
		c.log.failure(ctx, asError(err, SignOutError).under(SignOutError), c.attrs()...)
		response.Status, response.Body = http.StatusBadRequest, []byte(`{"error":"invalid_request"}`)
	}
	return response, nil
}

// endSessions reports whether a logout from afar can have any effect.
func (l *logouts) endSessions() bool {
	return l.callback != nil || l.sessions.config.Strategy == StrategyDatabase && l.store.lister != nil
}

// logout implements [remoteLogout].
func (f *oauthFlow) logout(ctx context.Context, c *call) error {
	raw, _ := c.fields.Text("logout_token")
	token, err := f.client.ReadLogoutToken(raw)
	if err != nil {
		return errorf(SignOutError, "logout_token: %w", err)
	}
	if _, used := f.ends.used.Get(f.ID + " " + token.ID()); used {
		return errorf(SignOutError, "logout_token: it was used before")
	}
	at, err := f.client.Endpoints(ctx)
	if err != nil {
		return errorf(AuthError, "%w", err)
	}
	said, err := f.client.VerifyLogoutToken(ctx, at, token)
	if err != nil {
		return errorf(SignOutError, "logout_token: %w", err)
	}
	err = f.ends.endAll(ctx, BackChannelLogoutParams{Provider: f.ID, Subject: said.Subject, SessionID: said.SessionID})
	if err != nil {
		return err
	}
	f.ends.used.First(f.ID+" "+said.ID, said.Expires) // after the deed: when it fails, the provider may come again
	return nil
}

// endAll ends the sessions that a logout is about. A person without an account here has none.
func (l *logouts) endAll(ctx context.Context, p BackChannelLogoutParams) error {
	if p.Subject != "" && l.store.Store != nil {
		user, err := userByAccount(ctx, l.store, &Account{Provider: p.Provider, ProviderAccountID: p.Subject})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return errorf(AdapterError, "%w", err)
		}
		p.User = user
	}
	switch {
	case p.User != nil && l.sessions.config.Strategy == StrategyDatabase && l.store.lister != nil:
		if _, err := guarded("Store.DeleteSessions", func() (int, error) { return l.store.lister.DeleteSessions(ctx, p.User.ID) }); err != nil {
			return errorf(AdapterError, "%w", err)
		}
	case p.Subject == "":
		known, err := l.sessions.endBySID(ctx, &p)
		if err != nil {
			return errorf(AdapterError, "%w", err)
		}
		if !known && l.callback == nil {
			return errorf(SignOutError, "the logout_token names a session (sid) and no person (sub), and that session was not begun by this process since it started: only a BackChannelLogout callback could tell which it is")
		}
	}
	if l.callback == nil {
		return nil
	}
	p.User = p.User.Clone()
	return guard("BackChannelLogout callback", func() error { return l.callback(ctx, p) })
}
