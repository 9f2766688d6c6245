package oauth

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/internal/oidc"
)

// Observer is called before an operation: "discover", "token", "refresh", "verify", "userinfo" or "request token". It
// returns the context of the operation, and a function that receives the operation's error. The function is called even
// if the operation panics, then with an error too.
type Observer func(ctx context.Context, operation string) (context.Context, func(error))

// Observed is a [Client] that reports its operations to Observer, unless that is nil.
type Observed struct {
	*Client
	Observer
}

// Observed1 is a [Client1] that reports its operations to Observer, unless that is nil.
type Observed1 struct {
	*Client1
	Observer
}

var errPanicked = errors.New("the call panicked")

// observed makes a call and reports it.
func observed[T any](
	ctx context.Context, observe Observer, operation string, call func(ctx context.Context) (T, error),
) (value T, err error) {
	if observe == nil {
		return call(ctx)
	}
	ctx, end := observe(ctx, operation)
	err = errPanicked
	defer func() { end(err) }()
	value, err = call(ctx)
	return value, err
}

// StartEndpoints is [Client.StartEndpoints], observed.
func (c Observed) StartEndpoints(ctx context.Context) (Endpoints, error) {
	return observed(ctx, c.Observer, "discover", c.Client.StartEndpoints)
}

// Endpoints is [Client.Endpoints], observed.
func (c Observed) Endpoints(ctx context.Context) (Endpoints, error) {
	return observed(ctx, c.Observer, "discover", c.Client.Endpoints)
}

// Redeem is [Client.Redeem], observed.
func (c Observed) Redeem(
	ctx context.Context, at Endpoints, code Code, verifier, redirectURI string,
) (*Tokens, error) {
	return observed(ctx, c.Observer, "token", func(ctx context.Context) (*Tokens, error) {
		return c.Client.Redeem(ctx, at, code, verifier, redirectURI)
	})
}

// Refresh is [Client.Refresh], observed.
func (c Observed) Refresh(ctx context.Context, at Endpoints, refreshToken string) (*Tokens, error) {
	return observed(ctx, c.Observer, "refresh", func(ctx context.Context) (*Tokens, error) {
		return c.Client.Refresh(ctx, at, refreshToken)
	})
}

// VerifyIDToken is [Client.VerifyIDToken], observed.
func (c Observed) VerifyIDToken(ctx context.Context, at Endpoints, t *Tokens, nonce string) (map[string]any, error) {
	return observed(ctx, c.Observer, "verify", func(ctx context.Context) (map[string]any, error) {
		return c.Client.VerifyIDToken(ctx, at, t, nonce)
	})
}

// VerifyAppIDToken is [Client.VerifyAppIDToken], observed.
func (c Observed) VerifyAppIDToken(
	ctx context.Context, at Endpoints, idToken, nonce string, clientIDs []string,
) (map[string]any, error) {
	return observed(ctx, c.Observer, "verify", func(ctx context.Context) (map[string]any, error) {
		return c.Client.VerifyAppIDToken(ctx, at, idToken, nonce, clientIDs)
	})
}

// VerifyRefreshed is [Client.VerifyRefreshed], observed.
func (c Observed) VerifyRefreshed(
	ctx context.Context, at Endpoints, t *Tokens, earlierIDToken, subject string,
) error {
	_, err := observed(ctx, c.Observer, "verify", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.Client.VerifyRefreshed(ctx, at, t, earlierIDToken, subject)
	})
	return err
}

// VerifyLogoutToken is [Client.VerifyLogoutToken], observed.
func (c Observed) VerifyLogoutToken(ctx context.Context, at Endpoints, t *oidc.LogoutToken) (*oidc.Logout, error) {
	return observed(ctx, c.Observer, "verify", func(ctx context.Context) (*oidc.Logout, error) {
		return c.Client.VerifyLogoutToken(ctx, at, t)
	})
}

// Userinfo is [Client.Userinfo], observed.
func (c Observed) Userinfo(ctx context.Context, at Endpoints, accessToken string) (map[string]any, error) {
	return observed(ctx, c.Observer, "userinfo", func(ctx context.Context) (map[string]any, error) {
		return c.Client.Userinfo(ctx, at, accessToken)
	})
}

// RequestToken is [Client1.RequestToken], observed.
func (c Observed1) RequestToken(ctx context.Context, callback string) (Token1, error) {
	return observed(ctx, c.Observer, "request token", func(ctx context.Context) (Token1, error) {
		return c.Client1.RequestToken(ctx, callback)
	})
}

// AccessToken is [Client1.AccessToken], observed.
func (c Observed1) AccessToken(ctx context.Context, a Answer1, secret string) (*Tokens, error) {
	return observed(ctx, c.Observer, "token", func(ctx context.Context) (*Tokens, error) {
		return c.Client1.AccessToken(ctx, a, secret)
	})
}

// Userinfo is [Client1.Userinfo], observed.
func (c Observed1) Userinfo(ctx context.Context, t *Tokens) (map[string]any, error) {
	return observed(ctx, c.Observer, "userinfo", func(ctx context.Context) (map[string]any, error) {
		return c.Client1.Userinfo(ctx, t)
	})
}
