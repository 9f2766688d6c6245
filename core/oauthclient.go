package core

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/oauth"
)

// oauthClient is this application as a client of one OAuth provider: the declaration, completed, and what runs the
// protocol.
type oauthClient struct {
	OAuthProvider
	client   watchedClient
	client1  watchedClient1 // empty but where RequestToken has a URL
	formPost bool           // the provider answers with a POST from its own site
	proxyURL string         // of the redirect proxy, without a slash at its end; empty: none
}

// checks reports whether the provider uses a check.
func (o *oauthClient) checks(k Check) bool { return slices.Contains(o.Checks, k) }

// watchedBy has the calls of the client told, and of the provider's own function that asks for a profile.
func (o *oauthClient) watchedBy(w watch) {
	o.client.watch, o.client1.watch = w, w
	fetch := o.FetchUserinfo
	if fetch == nil {
		return
	}
	asked := o.client.call("userinfo")
	o.FetchUserinfo = func(ctx context.Context, r *UserinfoRequest) (Profile, error) {
		return watched(ctx, w, asked, func(ctx context.Context) (Profile, error) { return fetch(ctx, r) })
	}
}

// tokenSet is a token answer as applications see it.
func (o *oauthClient) tokenSet(t *oauth.Tokens) *TokenSet {
	return &TokenSet{
		AccessToken: Secret(t.AccessToken), RefreshToken: Secret(t.RefreshToken), IDToken: Secret(t.IDToken),
		TokenType: t.TokenType, Scope: t.Scope, ExpiresIn: t.ExpiresIn, ExpiresAt: t.ExpiresAt, Extra: t.Extra, Now: t.Now,
		Provider: &o.OAuthProvider, Client: &http.Client{Transport: o.client.Transport()},
	}
}

// keeps is what the provider's account function chooses of a token answer.
func (o *oauthClient) keeps(tokens *TokenSet) *Account {
	choose := o.Account
	if choose == nil {
		choose = defaultAccount
	}
	if chosen := choose(tokens); chosen != nil {
		return chosen.Clone()
	}
	return &Account{}
}

// defaultAccount keeps the standard members of a token answer.
func defaultAccount(t *TokenSet) *Account {
	return &Account{
		AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, IDToken: t.IDToken, ExpiresAt: t.ExpiresAt,
		Scope: t.Scope, TokenType: t.TokenType,
		SessionState: t.further("session_state"), AuthorizationDetails: t.further("authorization_details"),
	}
}

// further is a member of the answer that an account has a field for; nil where it is absent or null.
func (t *TokenSet) further(name string) json.RawMessage {
	if raw := t.Extra[name]; !exactjson.IsNull(raw) {
		return raw
	}
	return nil
}
