package core

import (
	"context"
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/passkeys"
	"github.com/latchkey-go/latchkey/ui"
)

// errNoPasskeys is returned if no passkey provider is configured.
var errNoPasskeys = errors.New("core: no passkey provider is configured: add one to Config.Providers")

// passkeyFlow returns the flow of the passkey provider with that ID, or of the first one if id is empty.
func (ps *plugins) passkeyFlow(id string) (*passkeyFlow, error) {
	for _, p := range ps.auth.providers {
		if f, ok := p.flow.(*passkeyFlow); ok && (id == "" || p.id == id) {
			return f, nil
		}
	}
	return nil, errNoPasskeys
}

// TrackPasskeys registers the functions of t. If several plugins call TrackPasskeys, the first one counts. Without it,
// each passkey has a random user handle, which is not stored.
func (h *PluginHost) TrackPasskeys(t PasskeyTracker) {
	h.attaching("TrackPasskeys")
	if h.plugins.passkeys == nil {
		h.plugins.passkeys = &t
	}
}

// PasskeySignals returns the signals for the page of a signed-in user: the relying party's ID, and the user's names
// as a registration would send them. The caller adds the passkeys, and sets Signals of the page. A user without an
// address and a name has no names, because the password manager shows what they typed. It is nil if no passkey
// provider is configured.
func (c *ActionRequest) PasskeySignals(user *User) *ui.PasskeySignals {
	f, err := c.plugins.passkeyFlow("")
	if err != nil {
		return nil
	}
	signals := &ui.PasskeySignals{RPID: f.ceremonies.At(c.in.at).ID}
	if user.Email != "" || user.Name != "" {
		signals.Name, signals.DisplayName = passkeys.Labels(user, "")
	}
	return signals
}

// PasskeyCreation returns the data for the page's script, which creates a passkey without a prompt
// (WebAuthnProvider.ConditionalCreate). It is nil if the user has not just signed in with a password, or no passkey
// provider is configured. The caller decides whether the user wants a passkey, and sets NewPasskey of the page.
func (c *ActionRequest) PasskeyCreation(session *Session) *ui.PasskeyCreation {
	f, err := c.plugins.passkeyFlow("")
	if err != nil {
		return nil
	}
	if !f.mayCreate(session) {
		return nil
	}
	query := "?action=" + passkeys.Register + "&mediation=" + passkeys.Conditional
	return &ui.PasskeyCreation{
		Options:  c.in.base + "/webauthn-options/" + f.ID + query,
		Callback: c.in.base + "/callback/" + f.ID, RPID: f.ceremonies.At(c.in.at).ID,
		User: publicID("passkey of " + session.UserID),
	}
}

// HasPasskeys reports whether a user has a passkey that [ActionRequest.VerifyPasskey] can verify. It is false if no
// passkey provider is configured. Call it after New has returned.
func (h *PluginHost) HasPasskeys(ctx context.Context, userID string) (bool, error) {
	if _, err := h.plugins.passkeyFlow(""); err != nil || h.Authenticators == nil {
		return false, nil
	}
	all, err := h.Authenticators.Authenticators(ctx, userID)
	if err != nil {
		return false, errorf(ErrStore, "list the passkeys of a user: %w", err)
	}
	return len(all) > 0, nil
}

// PasskeyOptions returns the response with the options of an authentication with one of the user's passkeys, and sets
// the challenge cookie. The script of the built-in pages requests it from a form's data-passkey-options. It uses the
// first passkey provider. The caller must already know the user, for example from a
// [PendingSignIn].
func (c *ActionRequest) PasskeyOptions(ctx context.Context, userID string) (*Response, error) {
	if err := c.needsCookies("PasskeyOptions"); err != nil {
		return nil, err
	}
	f, err := c.plugins.passkeyFlow("")
	if err != nil {
		return nil, err
	}
	ceremony, err := f.stores.Authentication(ctx, userID)
	if err != nil {
		return nil, errorf(ErrStore, "%w", err)
	}
	response, err := f.begin(ctx, c.in, ceremony)
	return c.keepCookies(response, err)
}

// keepCookies moves the cookies of a response to those of the request.
func (c *ActionRequest) keepCookies(response *Response, err error) (*Response, error) {
	if err != nil {
		return nil, err
	}
	c.keep(response.Cookies...)
	response.Cookies = nil
	return response, nil
}

// VerifyPasskey verifies the fields action and data of the request: the response to the challenge of
// [ActionRequest.PasskeyOptions], by a passkey of the user. A challenge is valid for one response. It returns the
// methods that the user has authenticated with. A passkey of another user is an error. The action's Method must be
// POST.
func (c *ActionRequest) VerifyPasskey(ctx context.Context, userID string) ([]amr.Method, error) {
	id, err := c.verifyPasskey(ctx, "", passkeys.Authenticate, "")
	if err == nil && (id.user.ID != userID || id.started != flowstate.SameSession) {
		err = errorf(autherr.WebAuthnVerification, "the passkey belongs to another user, or the challenge to another session")
	}
	if err != nil {
		return nil, err
	}
	return id.proofs(), nil
}

// verifyPasskey verifies the fields action and data of the request for a purpose. id is the ID of the passkey provider,
// or empty for the first one.
func (c *ActionRequest) verifyPasskey(ctx context.Context, id, action, purpose string) (*identity, error) {
	if c.in.r.Method != http.MethodPost {
		return nil, errNeedsPost
	}
	f, err := c.plugins.passkeyFlow(id)
	if err != nil {
		return nil, err
	}
	if named, _ := c.in.fields.Text("action"); named != action {
		return nil, errorf(autherr.WebAuthnVerification, "the field action is not %s", action)
	}
	out, err := f.verify(ctx, c.in, purpose)
	c.keep(out.cookies...)
	return out.identity, err
}
