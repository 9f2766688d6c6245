package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/passkeys"
	"github.com/latchkey-go/latchkey/internal/passkey"
)

// PasskeyRegistration is the registration of a passkey for a user who does not exist yet.
type PasskeyRegistration struct {
	// Provider is the ID of the passkey provider.
	Provider string
	// Address is the email address that the authenticator shows.
	Address string
	// Handle is the user handle (WebAuthn section 5.4.3), 16 to 64 random bytes. Use the same one if the user tries again,
	// so that the new passkey replaces the one of a failed attempt.
	Handle []byte
	// Purpose is what the passkey is for, such as the key of a record. It is required. The response is accepted for the
	// same purpose only.
	Purpose string
}

var errNewPasskey = errors.New("core: PasskeyRegistration: Purpose is empty, or Handle has not 16 to 64 bytes")

// NewPasskeyOptions returns the response with the options of a registration for a new user, and sets the challenge
// cookie. The script of the built-in pages requests it from a form's data-passkey-options.
func (c *ActionRequest) NewPasskeyOptions(ctx context.Context, r PasskeyRegistration) (*Response, error) {
	if r.Purpose == "" || len(r.Handle) < 16 || len(r.Handle) > 64 {
		return nil, errNewPasskey
	}
	if err := c.needsCookies("NewPasskeyOptions"); err != nil {
		return nil, err
	}
	f, err := c.plugins.passkeyFlow(r.Provider)
	if err != nil {
		return nil, err
	}
	response, err := f.begin(ctx, c.in, &passkeys.Prepared{
		Ceremony: passkeys.Ceremony{Register: &User{}, Purpose: r.Purpose},
		Listed:   []passkey.Descriptor{}, User: &User{Email: r.Address}, UserHandle: r.Handle,
	})
	return c.keepCookies(response, err)
}

// VerifyNewPasskey verifies the fields action and data of the request: the response to the challenge of
// [ActionRequest.NewPasskeyOptions] with the same Provider and Purpose. A challenge is valid for one response, under
// the session that requested it. It writes nothing: pass the result to [ActionRequest.SignIn]. The action's Method must
// be POST.
func (c *ActionRequest) VerifyNewPasskey(ctx context.Context, r PasskeyRegistration) (*NewUserPasskey, error) {
	if r.Purpose == "" {
		return nil, errNewPasskey
	}
	id, err := c.verifyPasskey(ctx, r.Provider, passkeys.Register, r.Purpose)
	if err != nil {
		return nil, err
	}
	return &NewUserPasskey{id: id, in: c.in, stores: c.plugins.auth.store}, nil
}

// Store stores the passkey and its account for a new user, within the transaction that creates the user. tx is nil if
// the store does not support transactions: delete the user if Store fails. Call it in [SignIn].Create and Upgrade.
// The error is [ErrConflict] if a user has this passkey.
func (p *NewUserPasskey) Store(ctx context.Context, tx Store, userID string) error {
	in := p.stores
	if tx != nil {
		in = newStores(tx, p.stores.watch, 0)
	}
	if in.Passkeys == nil {
		return errors.New("core: NewUserPasskey.Store: the store of the transaction does not implement " +
			"store.AuthenticatorStore")
	}
	err := (&passkeys.Stores{Users: in, Passkeys: in.Passkeys}).Add(ctx, *p.id.passkey.Authenticator, p.id.account, userID)
	if err == nil {
		p.stored = userID
	}
	return err
}
