package accesstoken

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify"
)

// actionName is the name of the actions.
const actionName = "access-token"

// credentialPrefix is the beginning of the Principal.Credential of an access token.
const credentialPrefix = "access-token:"

// The codes of problem responses. The first two are those of RFC 8707 section 2 and RFC 6749 section 5.2.
const (
	codeAudience = "invalid_target"
	codeScope    = "invalid_scope"
	codeSession  = "session_required"
	codeExchange = "exchange_refused"
)

type tokenRequest struct {
	Audience string `json:"audience" jsonschema:"the service that the token is for"`
	Scope    string `json:"scope,omitempty" jsonschema:"scopes separated by spaces; the default is all that are allowed"`
}

type introspectionRequest struct {
	Token string `json:"token"`
}

// issued is the response with a token (RFC 6749 section 5.1).
type issued struct {
	Token   string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int64  `json:"expires_in"`
	Scope   string `json:"scope,omitempty"`
}

// post handles POST access-token: it issues a token for the principal of the request.
func (t *Tokens) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	p, err := c.Principal(ctx)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, &core.Problem{
			Status: http.StatusUnauthorized, Code: codeSession, Detail: "Sign in, or send a credential, first.",
		}
	case strings.HasPrefix(p.Credential, credentialPrefix): // it could be extended forever
		return nil, &core.Problem{
			Status: http.StatusForbidden, Code: codeExchange, Detail: "An access token cannot be exchanged for another one.",
		}
	}
	audience := t.audience(c.Field("audience"))
	if audience == nil {
		return nil, &core.Problem{Code: codeAudience, Detail: "No tokens are issued for this audience."}
	}
	scopes, ok := grant(p, audience, c.Field("scope"))
	if !ok {
		return nil, &core.Problem{Code: codeScope, Detail: "A requested scope is unknown, or not allowed."}
	}
	claims := Claims{UserID: p.UserID, ClientID: p.Credential}
	if p.Session != nil {
		claims = SessionClaims(p.Session)
	}
	claims.Audience, claims.Scopes = audience.ID, scopes
	token, expires, err := t.Issue(ctx, claims)
	if err != nil {
		return nil, err
	}
	c.Audit(ctx, audit.Event{
		Name: audit.TokenIssued, Outcome: audit.OK, UserID: p.UserID, ActorID: claims.Actor, SessionID: claims.SessionID,
	})
	return c.JSON(ctx, http.StatusOK, issued{
		Token: string(token), Type: "Bearer", Expires: int64(expires.Sub(t.host.Now()).Seconds()),
		Scope: strings.Join(scopes, " "),
	}), nil
}

// grant returns the scopes of a token: the requested ones, or else all of the audience's that the principal has. ok is
// false if one is unknown or not allowed. A credential with limited scopes needs at least one: otherwise it could get a
// token for a service that it was not made for.
func grant(p *core.Principal, audience *Audience, requested string) (scopes []string, ok bool) {
	allowed := func(s string) bool { return slices.Contains(audience.Scopes, s) && p.Allows(s) }
	for _, s := range strings.Fields(requested) {
		switch {
		case !allowed(s):
			return nil, false
		case !slices.Contains(scopes, s):
			scopes = append(scopes, s)
		}
	}
	for _, s := range audience.Scopes {
		if strings.TrimSpace(requested) == "" && allowed(s) {
			scopes = append(scopes, s)
		}
	}
	return scopes, len(scopes) > 0 || p.Session != nil
}

// matches reports whether a bearer token is an access token of this application, for any audience: a token for another
// service must not be ignored in favor of a cookie. The signature is not verified yet.
func (t *Tokens) matches(token string) bool {
	return verify.UnverifiedIssuer(token) == t.options.Issuer
}

// verified returns the content of a token for an audience, or nil if it is not valid.
func (t *Tokens) verified(ctx context.Context, audience, token string) (*verify.Token, error) {
	found, err := t.verifiers[audience].Verify(ctx, token)
	if err != nil && !errors.Is(err, verify.ErrUnavailable) && ctx.Err() == nil {
		return nil, nil
	}
	return found, err
}

// verify returns the principal of an access token for this application.
func (t *Tokens) verify(ctx context.Context, token string, _ netip.Prefix) (*core.Principal, error) {
	found, err := t.verified(ctx, t.options.OwnAudience, token)
	if err != nil || found == nil {
		return nil, err
	}
	p := &core.Principal{
		UserID: found.Subject, Credential: credentialPrefix + found.ID, Name: found.ClientID, Scopes: found.Scopes,
	}
	if found.Subject == found.ClientID { // of a service
		p.UserID = ""
	}
	return p, nil
}

// CredentialChecker is a plugin that knows whether a credential or session that tokens were issued for still exists.
// Introspection asks all plugins that implement it.
type CredentialChecker interface {
	// CredentialActive receives the claim client_id or sid of a token. known reports whether the plugin knows that kind of
	// credential, and active whether it still exists.
	CredentialActive(ctx context.Context, credential string) (known, active bool, err error)
}

// introspection is the response to an active token (RFC 7662 section 2.2).
type introspection struct {
	Active   bool     `json:"active"`
	Scope    string   `json:"scope,omitempty"`
	ClientID string   `json:"client_id,omitempty"`
	Type     string   `json:"token_type,omitempty"`
	Expires  int64    `json:"exp,omitempty"`
	IssuedAt int64    `json:"iat,omitempty"`
	Subject  string   `json:"sub,omitempty"`
	Audience []string `json:"aud,omitempty"`
	Issuer   string   `json:"iss,omitempty"`
	ID       string   `json:"jti,omitempty"`
}

// postIntrospect handles POST access-token/introspect. A service authenticates with the ID and the secret of its
// audience. Tokens for other audiences are inactive.
func (t *Tokens) postIntrospect(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	audience := t.authenticate(c.Request.Header)
	if audience == nil {
		response := c.JSON(ctx, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		response.Header.Set("WWW-Authenticate", `Basic realm="`+c.Origin+`"`)
		return response, nil
	}
	found, err := t.verified(ctx, audience.ID, c.Field("token"))
	if err == nil && found != nil {
		err = t.checkActive(ctx, found)
	}
	switch {
	case found == nil && err == nil, errors.Is(err, errInactive):
		return c.JSON(ctx, http.StatusOK, introspection{}), nil
	case err != nil:
		return nil, err
	}
	return c.JSON(ctx, http.StatusOK, introspection{
		Active: true, Scope: strings.Join(found.Scopes, " "), ClientID: found.ClientID, Type: "Bearer",
		Expires: found.Expires.Unix(), IssuedAt: found.IssuedAt.Unix(), Subject: found.Subject, Audience: found.Audience,
		Issuer: found.Issuer, ID: found.ID,
	}), nil
}

// authenticate returns the audience whose ID and secret are in the header (RFC 6749 section 2.3.1), or nil.
func (t *Tokens) authenticate(h http.Header) *Audience {
	if len(h["Authorization"]) != 1 {
		return nil
	}
	user, password, _ := (&http.Request{Header: h}).BasicAuth()
	id, idErr := url.QueryUnescape(user)
	secret, secretErr := url.QueryUnescape(password)
	audience := t.audience(id)
	if cmp.Or(idErr, secretErr) != nil || audience == nil || audience.Secret == "" ||
		!random.Same(secret, string(audience.Secret)) {
		return nil
	}
	return audience
}

var errInactive = errors.New("accesstoken: the token is not active")

// checkActive returns errInactive if the user was deleted, or if the session or the credential of a token has ended.
func (t *Tokens) checkActive(ctx context.Context, found *verify.Token) error {
	if found.Subject != found.ClientID && t.host.Store != nil {
		switch _, err := t.host.Store.User(ctx, found.Subject); {
		case errors.Is(err, core.ErrNotFound):
			return errInactive
		case err != nil:
			return err
		}
	}
	for _, credential := range []string{found.ClientID, found.SessionID} {
		known, active, err := t.askPlugins(ctx, credential)
		switch {
		case err != nil:
			return err
		case known && !active:
			return errInactive
		case known || credential != found.SessionID || credential == "":
			continue
		}
		sessions, err := t.host.Auth.Sessions(ctx, found.Subject)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(sessions, func(s core.SessionInfo) bool { return s.ID == found.SessionID }) {
			return errInactive
		}
	}
	return nil
}

// askPlugins asks the plugins about a credential.
func (t *Tokens) askPlugins(ctx context.Context, credential string) (known, active bool, err error) {
	for _, plugin := range t.host.Plugins() {
		checker, ok := plugin.(CredentialChecker)
		if !ok {
			continue
		}
		if known, active, err = checker.CredentialActive(ctx, credential); known || err != nil {
			return known, active, err
		}
	}
	return false, false, nil
}
