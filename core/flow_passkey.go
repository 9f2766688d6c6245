package core

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/jwe"
	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/core/store"
)

// passkeyFlow signs in with a passkey (WebAuthn). Its two ceremonies begin with [passkeyFlow.options].
type passkeyFlow struct {
	*webAuthn
	challenge *jwe.Keyring // seals what the cookie of a challenge holds
	checks    *checks
	limits    *limits
	sessions  *sessions
	users     Store
	passkeys  store.AuthenticatorStore
	accounts  store.AccountStore // nil: the store cannot read accounts
	now       func() time.Time
	rand      io.Reader
}

// start implements [flow].
func (f *passkeyFlow) start(_ context.Context, c *call) (*Response, error) {
	return toSignInPage(c), nil
}

// needsToken implements [flow]: an Origin of this site will do in place of the token.
func (f *passkeyFlow) needsToken() bool { return false }

// sessionUser is the signed-in user, without a look-up more than the session costs. A token issued before the user's
// address was proved counts as none: it must not show which passkeys the user has.
func (f *passkeyFlow) sessionUser(ctx context.Context, c *call) (*User, bool, error) {
	if c.session.value() == "" {
		return nil, false, nil
	}
	if f.sessions.config.Strategy == StrategyJWT {
		return f.tokenUser(ctx, c)
	}
	_, user, err := c.session.stored(ctx)
	if errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	return user, err == nil, err
}

func (f *passkeyFlow) tokenUser(ctx context.Context, c *call) (*User, bool, error) {
	token, err := c.session.live(ctx)
	if errors.Is(err, ErrSessionToken) {
		return nil, false, err
	}
	if err != nil || token.Subject == "" {
		return nil, false, nil // no session
	}
	if outdated, err := f.sessions.jwt.outdated(ctx, token); err != nil || outdated {
		return nil, false, err
	}
	return &User{ID: token.Subject, Name: token.Name, Email: token.Email, Image: token.Picture}, true, nil
}

// typedAddress is the e-mail of the query in its canonical form; empty for none, or for text that is no address.
func typedAddress(c *call) string {
	address, err := mailaddr.Normalize(c.query.Get("email"))
	if err != nil {
		return ""
	}
	return address
}

// relyingParty completes the configured one from the origin of the request.
func (f *passkeyFlow) relyingParty(c *call) RelyingParty {
	domain, _, _ := strings.Cut(c.at.Host, ":") // an address in brackets cannot hold a passkey
	return RelyingParty{
		ID: or(f.RelyingParty.ID, domain), Name: or(f.RelyingParty.Name, c.at.Host),
		Origin: or(f.RelyingParty.Origin, c.origin),
	}
}
