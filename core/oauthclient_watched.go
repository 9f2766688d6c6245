package core

import (
	"context"

	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/oidc"
)

// watchedClient is the client of a provider, with Config.Observe called for each operation.
type watchedClient struct {
	*oauth.Client
	calls
}

// watchedClient1 is watchedClient for OAuth 1.0a.
type watchedClient1 struct {
	*oauth.Client1
	calls
}

// calls describes observed calls to one provider.
type calls struct {
	watch watch
	id    string
}

func (c calls) call(name string) observe.Call {
	return observe.Call{Target: observe.Provider, Name: name, Provider: c.id}
}

func (c watchedClient) StartEndpoints(ctx context.Context) (oauth.Endpoints, error) {
	return watched(ctx, c.watch, c.call("discover"), c.Client.StartEndpoints)
}

func (c watchedClient) Endpoints(ctx context.Context) (oauth.Endpoints, error) {
	return watched(ctx, c.watch, c.call("discover"), c.Client.Endpoints)
}

func (c watchedClient) Redeem(
	ctx context.Context, at oauth.Endpoints, code oauth.Code, verifier, redirectURI string,
) (*oauth.Tokens, error) {
	return watched(ctx, c.watch, c.call("token"), func(ctx context.Context) (*oauth.Tokens, error) {
		return c.Client.Redeem(ctx, at, code, verifier, redirectURI)
	})
}

func (c watchedClient) Refresh(ctx context.Context, at oauth.Endpoints, refreshToken string) (*oauth.Tokens, error) {
	return watched(ctx, c.watch, c.call("refresh"), func(ctx context.Context) (*oauth.Tokens, error) {
		return c.Client.Refresh(ctx, at, refreshToken)
	})
}

func (c watchedClient) VerifyIDToken(
	ctx context.Context, at oauth.Endpoints, t *oauth.Tokens, nonce string,
) (map[string]any, error) {
	return watched(ctx, c.watch, c.call("verify"), func(ctx context.Context) (map[string]any, error) {
		return c.Client.VerifyIDToken(ctx, at, t, nonce)
	})
}

func (c watchedClient) VerifyRefreshed(
	ctx context.Context, at oauth.Endpoints, t *oauth.Tokens, earlierIDToken, subject string,
) error {
	return watchedOnly(ctx, c.watch, c.call("verify"), func(ctx context.Context) error {
		return c.Client.VerifyRefreshed(ctx, at, t, earlierIDToken, subject)
	})
}

func (c watchedClient) VerifyLogoutToken(
	ctx context.Context, at oauth.Endpoints, t *oidc.LogoutToken,
) (*oidc.Logout, error) {
	return watched(ctx, c.watch, c.call("verify"), func(ctx context.Context) (*oidc.Logout, error) {
		return c.Client.VerifyLogoutToken(ctx, at, t)
	})
}

func (c watchedClient) Userinfo(ctx context.Context, at oauth.Endpoints, accessToken string) (map[string]any, error) {
	return watched(ctx, c.watch, c.call("userinfo"), func(ctx context.Context) (map[string]any, error) {
		return c.Client.Userinfo(ctx, at, accessToken)
	})
}

func (c watchedClient1) RequestToken(ctx context.Context, callback string) (oauth.Token1, error) {
	return watched(ctx, c.watch, c.call("request token"), func(ctx context.Context) (oauth.Token1, error) {
		return c.Client1.RequestToken(ctx, callback)
	})
}

func (c watchedClient1) AccessToken(ctx context.Context, a oauth.Answer1, secret string) (oauth.Token1, error) {
	return watched(ctx, c.watch, c.call("token"), func(ctx context.Context) (oauth.Token1, error) {
		return c.Client1.AccessToken(ctx, a, secret)
	})
}

func (c watchedClient1) Userinfo(ctx context.Context, t oauth.Token1) (map[string]any, error) {
	return watched(ctx, c.watch, c.call("userinfo"), func(ctx context.Context) (map[string]any, error) {
		return c.Client1.Userinfo(ctx, t)
	})
}
