package core

import "context"

// logout implements [remoteLogout].
func (f *oauthFlow) logout(ctx context.Context, c *call) error {
	raw, _ := c.fields.Text("logout_token")
	token, err := f.client.ReadLogoutToken(raw)
	if err != nil {
		return errorf(ErrSignOut, "logout_token: %w", err)
	}
	if _, used := f.ends.used.Get(f.ID + " " + token.ID()); used {
		return errorf(ErrSignOut, "logout_token: it was used before")
	}
	at, err := f.client.Endpoints(ctx)
	if err != nil {
		return errorf(ErrAuth, "%w", err)
	}
	said, err := f.client.VerifyLogoutToken(ctx, at, token)
	if err != nil {
		return errorf(ErrSignOut, "logout_token: %w", err)
	}
	err = f.ends.endAll(ctx, BackChannelLogoutParams{Provider: f.ID, Subject: said.Subject, SessionID: said.SessionID})
	if err != nil {
		return err
	}
	f.ends.used.First(f.ID+" "+said.ID, said.Expires) // after the deed: when it fails, the provider may come again
	return nil
}
