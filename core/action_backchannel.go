package core

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/oidc"
)

// BackChannelLogout is a provider's word that somebody's sessions have ended there (OpenID Connect Back-Channel Logout).
type BackChannelLogout struct {
	// Provider is the provider's ID.
	Provider string
	// Subject is the person at the provider (sub), SessionID their session there (sid). One of them may be empty; without a SessionID
	// all sessions of the Subject are meant.
	Subject, SessionID string
	// User is the owner of the Subject's account; nil when there is no store, or it knows none.
	User *User
}

// backChannelLogout answers POST backchannel-logout/<provider>: the provider itself calls it, without a browser, with a signed token
// that is good once. Database sessions of the user end here, others are the callback's to end.
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
	at, err := x.endpoints(ctx, c, true)
	if err != nil {
		return err
	}
	issuer, err := x.tenantOf(ctx, c, at.metadata, raw)
	if err != nil {
		return errorf(SignOutError, "logout_token: %w", err)
	}
	said, err := x.docsOf(c).VerifyLogoutToken(ctx, raw, oidc.Expect{Metadata: issuer, ClientID: c.ClientID, ClientSecret: string(c.ClientSecret), Algs: c.IDTokenAlgs})
	if err != nil {
		return errorf(SignOutError, "logout_token: %w", err)
	}
	if x.logouts.has(c.ID+" "+said.ID, x.now()) {
		return errorf(SignOutError, "logout_token: it was used before")
	}
	if err := x.endAll(ctx, BackChannelLogout{Provider: c.ID, Subject: said.Subject, SessionID: said.SessionID}); err != nil {
		return err
	}
	x.logouts.add(c.ID+" "+said.ID, said.Expires) // after the deed: when it fails, the provider may come again
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
	case p.Subject == "" && x.callbacks.BackChannelLogout == nil:
		return errorf(SignOutError, "the logout_token names a session (sid) and no person (sub): which session that is here only a BackChannelLogout callback could tell")
	}
	if x.callbacks.BackChannelLogout == nil {
		return nil
	}
	p.User = p.User.clone()
	_, err := guarded("BackChannelLogout callback", func() (struct{}, error) { return struct{}{}, x.callbacks.BackChannelLogout(ctx, p) })
	return err
}

// seen remembers what is good once until it can no longer be used. Only a provider's signature gets something in.
type seen struct {
	mu  sync.Mutex
	all map[string]time.Time
}

func (s *seen) has(key string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.all, func(_ string, until time.Time) bool { return until.Before(now) })
	_, there := s.all[key]
	return there
}

func (s *seen) add(key string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]time.Time{}
	}
	s.all[key] = until
}
