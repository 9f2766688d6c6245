package core

import (
	"context"
	"fmt"
)

// logout implements [remoteLogout].
func (f *oauthFlow) logout(ctx context.Context, c *call) error {
	raw, _ := c.fields.Text("logout_token")
	token, err := f.client.ReadLogoutToken(raw)
	if err != nil {
		return NewError(ErrSignOut, &Refusal{Reason: ReasonCheck, Err: fmt.Errorf("logout_token: %w", err)})
	}
	if _, used := f.ends.used.Get(f.ID + " " + token.ID()); used {
		return NewError(ErrSignOut, because(ReasonReplayed, "logout_token: it was used before"))
	}
	at, err := f.client.Endpoints(ctx)
	if err != nil {
		return errorf(ErrAuth, "%w", err)
	}
	said, err := f.client.VerifyLogoutToken(ctx, at, token)
	if err != nil {
		return NewError(ErrSignOut, &Refusal{Reason: ReasonCheck, Err: fmt.Errorf("logout_token: %w", err)})
	}
	params := BackChannelLogoutParams{Provider: f.ID, Subject: said.Subject, SessionID: said.SessionID}
	err = f.ends.endAll(ctx, &c.arrival, params)
	if err != nil {
		return err
	}
	f.ends.used.First(f.ID+" "+said.ID, said.Expires) // after the deed: when it fails, the provider may come again
	return nil
}
