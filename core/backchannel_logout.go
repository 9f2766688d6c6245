package core

import (
	"context"
	"fmt"
	"net/http"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/problems"
)

// maxLogouts is the number of used logout tokens to remember. Only tokens with a valid signature of the provider count.
const maxLogouts = 1 << 16

// backChannelLogout handles POST backchannel-logout/<provider>. The provider sends the request directly, without a
// browser, with a signed token that is valid once. A token that names the user ends all their database sessions. A
// token that names only a session (sid) ends the local session that it started, if this process remembers it. Sessions
// under the jwt strategy end too if Session.Revocation is on; otherwise the callback must end them.
func (l *logouts) backChannelLogout(ctx context.Context, c *call) (*Response, error) {
	from, _ := c.flow.(*oauthFlow)
	if from == nil || c.kind != TypeOIDC || from.flow.Client1 != nil || !l.sessions.all.CanEnd() && l.callback == nil {
		return nil, &problems.BadRequest{Cause: errorf(ErrUnknownAction,
			"back-channel logout is not available for this provider: it needs "+
				"OpenID Connect, and database sessions, Session.Revocation or the callback BackChannelLogout")}
	}
	response := uncachedJSON(nil)
	if err := from.logout(ctx, c); err != nil {
		c.log.failure(ctx, errormarks.Typed(err, autherr.SignOut), c.attrs()...)
		c.refused(ctx, audit.BackChannelLogout, "", err)
		response.Status, response.Body = http.StatusBadRequest, []byte(`{"error":"invalid_request"}`)
	}
	return response, nil
}

// endAll ends the sessions that a logout token names. If its subject has no account here, there are none.
func (l *logouts) endAll(ctx context.Context, v *arrival, p BackChannelLogoutParams) error {
	all, these := &l.sessions.all, l.sessions.providerSessions.Of(p.Provider, p.SessionID)
	user, known, err := all.EndAtProvider(ctx, l.sessions.jwt.Users, p.Provider, p.Subject, these)
	switch {
	case err != nil:
		return errorf(ErrStore, "%w", err)
	case !known && l.callback == nil:
		return errorf(autherr.SignOut, "the logout_token contains a session ID (sid) and no user (sub), and this process "+
			"has not started that session: only a BackChannelLogout callback can identify it")
	}
	p.User = user
	told := audit.Event{Name: audit.BackChannelLogout, Outcome: audit.OK}
	if p.User != nil {
		told.UserID = p.User.ID
	}
	if l.callback != nil {
		p.User = p.User.Clone()
		if err := guard("BackChannelLogout callback", func() error { return l.callback(ctx, p) }); err != nil {
			return err
		}
	}
	v.note(ctx, told)
	return nil
}

// logout verifies a logout token and ends its sessions (OpenID Connect Back-Channel Logout).
func (f *oauthFlow) logout(ctx context.Context, c *call) error {
	raw, _ := c.fields.Text("logout_token")
	token, err := f.client.ReadLogoutToken(raw)
	if err != nil {
		return NewError(autherr.SignOut, &audit.Denial{Reason: audit.ReasonCheck, Err: fmt.Errorf("logout_token: %w", err)})
	}
	if _, used := f.ends.used.Get(f.ID + " " + token.ID()); used {
		return NewError(autherr.SignOut, errormarks.Denial(audit.ReasonReplayed, "logout_token: it was used before"))
	}
	at, err := f.client.Endpoints(ctx)
	if err != nil {
		return errorf(ErrAuth, "%w", err)
	}
	said, err := f.client.VerifyLogoutToken(ctx, at, token)
	if err != nil {
		return NewError(autherr.SignOut, &audit.Denial{Reason: audit.ReasonCheck, Err: fmt.Errorf("logout_token: %w", err)})
	}
	params := BackChannelLogoutParams{Provider: f.ID, Subject: said.Subject, SessionID: said.SessionID}
	if err := f.ends.endAll(ctx, &c.arrival, params); err != nil {
		return err
	}
	f.ends.used.First(f.ID+" "+said.ID, said.Expires) // only now: if the logout fails, the provider may repeat it
	return nil
}
