package core

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/oidc"
)

// AcceptIDTokens declares that the plugin calls [ActionRequest.VerifyIDToken] for a provider. It is a configuration
// error if there is no provider with this ID, if it is not of [TypeOIDC], or if its profile is only in the userinfo
// response, because an app sends no access token.
func (h *PluginHost) AcceptIDTokens(provider string) {
	h.attaching("AcceptIDTokens")
	h.plugins.idTokens = append(h.plugins.idTokens, idTokenProvider{provider, h.plugin})
}

// checkIDTokens reports configuration errors of the providers that were passed to [PluginHost.AcceptIDTokens].
func (ps *plugins) checkIDTokens(providers []*provider, faults *ConfigError) {
	for _, by := range ps.idTokens {
		i := slices.IndexFunc(providers, func(p *provider) bool { return p.id == by.provider })
		switch {
		case i < 0:
			faults.add(ErrInvalidConfig, "%s: there is no provider %q: add it to Config.Providers", by.plugin, by.provider)
		case providers[i].kind != TypeOIDC || providers[i].oauth.RequestToken.URL != "":
			faults.add(ErrInvalidConfig, "%s: provider %q has no ID tokens: it must use OpenID Connect (TypeOIDC)", by.plugin,
				by.provider)
		case providers[i].oauth.ProfileFromUserinfo:
			faults.add(ErrInvalidConfig, "%s: provider %q reads the profile from userinfo, for which an app has no access "+
				"token: let apps of this provider sign in in the browser", by.plugin, by.provider)
		}
	}
}

// VerifyIDToken verifies an ID token that a native app received from an SDK of the provider, as the callback of a
// sign-in does: issuer, signature, expiry and claims (OpenID Connect Core section 3.1.3.7). The audience and azp must
// be in clientIDs, the client IDs of the app at the provider. If clientIDs is nil, they must be the ClientID of the
// provider, as in a token that a script on a page of this site received. The token must contain nonce, or the SHA-256
// of nonce in lower-case hexadecimal. The caller must ensure that the nonce is new, and accept it once.
//
// The result belongs in [ActionRequest.SignInApp], or in [ActionRequest.SignIn] if a browser has sent the token. If the
// request has the field user, as in the form that Apple posts at the first sign-in, its name becomes the name of a new
// user. Call [PluginHost.AcceptIDTokens] for the provider in Attach. An invalid token is a [*Problem] with status 400
// and the code "id_token_invalid". If the keys of the provider cannot be fetched, it is a Problem with status 503. Both
// are logged and audited.
func (c *ActionRequest) VerifyIDToken(
	ctx context.Context, provider, idToken, nonce string, clientIDs []string,
) (*SignIn, error) {
	p := c.plugins.auth.byID[provider]
	if !slices.Contains(c.plugins.idTokens, idTokenProvider{provider, c.plugin}) {
		return nil, fmt.Errorf("core: VerifyIDToken: call PluginHost.AcceptIDTokens(%q) in Attach", provider)
	}
	c.in.providerID, c.in.kind = p.id, p.kind
	flow := p.flow.(*oauthFlow)
	if clientIDs == nil {
		clientIDs = []string{flow.ClientID}
	}
	problem := &Problem{Status: http.StatusServiceUnavailable, Code: "provider_unavailable"}
	at, err := flow.client.Endpoints(ctx)
	var claims Profile
	if err == nil {
		claims, err = flow.client.VerifyAppIDToken(ctx, at, idToken, nonce, clientIDs)
		if err != nil && !errors.Is(err, oidc.ErrNoKeys) {
			problem = &Problem{Code: "id_token_invalid"}
			err = errormarks.Suspicious(&audit.Denial{Reason: audit.ReasonCheck, Err: err})
		}
	}
	if err != nil {
		c.reportAppFailure(ctx, err)
		return nil, problem
	}
	tokens := flow.tokenSet(&oauth.Tokens{IDToken: idToken, Now: c.plugins.now()})
	tokens.Claims = claims
	sent, _ := c.in.fields.Text("user")
	if user := flow.flow.FirstConsent(sent); user != nil {
		claims["user"] = Profile(user)
	}
	id, err := identityOf(ctx, flow.oauthClient, claims, tokens, flow.newUserID)
	if err != nil {
		c.reportAppFailure(ctx, err)
		return nil, &Problem{Code: "id_token_invalid"}
	}
	id.onlyIDToken, id.started = true, flowstate.SignedOut
	return &SignIn{User: id.user.Clone(), Account: id.account.Clone(), identity: id}, nil
}

// reportAppFailure logs and audits a sign-in that has failed.
func (c *ActionRequest) reportAppFailure(ctx context.Context, err error) {
	failed := errormarks.As(err, autherr.CallbackRoute)
	c.in.log.failure(ctx, failed, c.in.attrs()...)
	c.in.auditCallback(ctx, "", failed)
}

// SignInApp signs in the user of a verified ID token in an app, as a callback does in a browser: it calls
// Callbacks.SignIn, finds, creates or links the user by the same rules, runs the sign-in gates, and calls the events.
// It creates no session and sets no cookies: the plugin issues its own credential for the user. In the result, User,
// UserID, AuthTime, Methods and ACR are set, and ID is empty. Callbacks.JWT is not called.
//
// If a gate holds the sign-in, or Callbacks.SignIn redirects, nothing is pending, because the app has no browser: the
// error is a [*HeldError], and the user must sign in in the browser. An error of type [ErrAccessDenied] means that
// Callbacks.SignIn or a gate denied the sign-in, and [ErrOAuthAccountNotLinked] that another user has the email
// address.
func (c *ActionRequest) SignInApp(ctx context.Context, s *SignIn) (*Session, error) {
	switch {
	case c.in.r.Method != http.MethodPost:
		return nil, errNeedsPost
	case s == nil || s.identity == nil:
		return nil, errors.New("core: ActionRequest.SignInApp: pass the result of VerifyIDToken")
	}
	entry, auth := c.plugins.entry, c.plugins.auth
	in := *c.in
	defer func() { c.in.pending = in.pending }() // the router cancels what was announced and not made
	var err error
	if in.session, err = auth.sessions.ofCookies(ctx, &in.arrival); err != nil {
		return nil, err
	}
	id := s.identity
	id.byApp = true
	out := &outcome{identity: id}
	err = entry.dateAuthentication(ctx, &in, id)
	var who member
	var redirect string
	if err == nil {
		who, redirect, err = entry.decide(ctx, &in, out)
	}
	if err == nil && redirect != "" {
		err = &HeldError{redirect}
	}
	switch {
	case errors.As(err, new(*HeldError)): // audited by decide
		return nil, err
	case errors.Is(err, ErrAccessDenied), errors.Is(err, ErrOAuthAccountNotLinked):
		c.reportAppFailure(ctx, err)
		return nil, err
	case err != nil:
		in.auditCallback(ctx, "", err)
		return nil, err
	}
	entry.report(ctx, &in, id, who, "", false)
	authenticated := id.authenticatedAt(auth.sessions.now(), who)
	return &Session{
		UserID: who.user.ID, User: who.user.Clone(), AuthTime: authenticated.time,
		Methods: slices.Clone(authenticated.methods), ACR: authenticated.acr,
	}, nil
}
