package core

import (
	"context"
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core/internal/once"
	"github.com/latchkey-go/latchkey/core/store"
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
// signed token that is good once. Database sessions of the user end here: all of them for a token that names the
// person; for one that names only the session (sid) the one that it began, as far as this process remembers. So do
// those of the jwt strategy where Session.Revocation is on. Others are the callback's to end.
func (l *logouts) backChannelLogout(ctx context.Context, c *call) (*Response, error) {
	from, _ := c.flow.(remoteLogout)
	if from == nil || c.kind != TypeOIDC || !l.endSessions() {
		return nil, &badRequest{cause: errorf(ErrUnknownAction,
			"this provider's users cannot be signed out from afar: that needs "+
				"OpenID Connect, and database sessions, Session.Revocation or the callback BackChannelLogout")}
	}
	response := jsonResponse(nil)
	if err := from.logout(ctx, c); err != nil {
		c.log.failure(ctx, asError(err, ErrSignOut).under(ErrSignOut), c.attrs()...)
		c.refused(ctx, AuditBackChannelLogout, "", err)
		response.Status, response.Body = http.StatusBadRequest, []byte(`{"error":"invalid_request"}`)
	}
	return response, nil
}

// endSessions reports whether a logout from afar can have any effect.
func (l *logouts) endSessions() bool {
	return l.callback != nil || l.sessions.ended != nil ||
		l.sessions.config.Strategy == StrategyDatabase && l.store.lister != nil
}

// endAll ends the sessions that a logout is about. A person without an account here has none.
func (l *logouts) endAll(ctx context.Context, v *arrival, p BackChannelLogoutParams) error {
	if p.Subject != "" && l.store.Store != nil {
		user, err := userByAccount(ctx, l.store, &Account{Provider: p.Provider, ProviderAccountID: p.Subject})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return errorf(ErrStore, "%w", err)
		}
		p.User = user
	}
	switch {
	case p.User != nil && l.sessions.ended != nil:
		if err := l.sessions.endUser(ctx, p.User.ID, ""); err != nil {
			return errorf(ErrStore, "%w", err)
		}
	case p.User != nil && l.sessions.config.Strategy == StrategyDatabase && l.store.lister != nil:
		_, err := guarded("Store.DeleteSessions", func() (int, error) {
			return l.store.lister.DeleteSessions(ctx, p.User.ID)
		})
		if err != nil {
			return errorf(ErrStore, "%w", err)
		}
	case p.Subject == "":
		known, err := l.endBySID(ctx, &p)
		if err != nil {
			return errorf(ErrStore, "%w", err)
		}
		if !known && l.callback == nil {
			return errorf(ErrSignOut, "the logout_token names a session (sid) and no person (sub), and that session was "+
				"not begun by this process since it started: only a BackChannelLogout callback could tell which it is")
		}
	}
	told := AuditEvent{Name: AuditBackChannelLogout, Outcome: OutcomeOK}
	if p.User != nil {
		told.UserID = p.User.ID
	}
	if l.callback != nil {
		p.User = p.User.Clone()
		err := guard("BackChannelLogout callback", func() error { return l.callback(ctx, p) })
		if err != nil {
			return err
		}
	}
	v.audit.note(ctx, v, told)
	return nil
}

// endBySID ends the sessions that a session at the provider began, and reports whether any was remembered. The
// owner of the last one that was still there is noted in p.
func (l *logouts) endBySID(ctx context.Context, p *BackChannelLogoutParams) (known bool, err error) {
	s := l.sessions
	switch {
	case s.ended != nil:
		for _, id := range s.begun.of(p.Provider, p.SessionID) {
			known = true
			owner, err := s.endOne(ctx, id)
			if err != nil {
				return known, err
			}
			p.User, err = s.jwt.user(ctx, owner)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return known, err
			}
		}
		return known, nil
	case s.config.Strategy != StrategyDatabase:
		return false, nil
	}
	for _, token := range s.begun.of(p.Provider, p.SessionID) {
		known = true
		ended, err := guarded("Store.DeleteSession", func() (*store.Session, error) {
			return s.rows.store.DeleteSession(ctx, token)
		})
		if errors.Is(err, ErrNotFound) || err == nil && ended == nil {
			continue
		}
		if err != nil {
			return known, err
		}
		p.User, err = s.jwt.user(ctx, ended.UserID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return known, err
		}
	}
	return known, nil
}
