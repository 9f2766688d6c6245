package core

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/core/internal/oidc"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// finishOAuth takes the provider's answer (RFC 6749 section 4.1.2 to 4.1.4, OpenID Connect Core section 3.1.2.5 to 3.1.3.7).
// The check cookies are cleared on every way out: a check is good for one attempt.
func (x *exchange) finishOAuth(ctx context.Context, c *oauthClient, response *Response) (*identity, error) {
	answer := x.query.Get
	count := x.query.Count
	if c.formPost {
		answer, count = x.formAnswer, x.formCount
	}
	if forward, err := x.forwardFromProxy(c, answer("state")); err != nil || forward != "" {
		response.Redirect = forward
		return nil, err
	}
	resumed, err := x.hopped(c)
	if resumed == nil {
		resumed, err = x.resume(c, answer("state"))
	}
	response.Cookies = resumed.cookies
	if err != nil {
		return nil, err
	}
	at, err := x.endpoints(ctx, c, true)
	if err != nil {
		return nil, asError(err, CallbackRouteError).under(CallbackRouteError)
	}
	for _, name := range []string{"code", "state", "iss", "error"} {
		if count(name) > 1 {
			return nil, errorf(InvalidCheck, "the answer has %s twice (RFC 6749 section 3.1)", name)
		}
	}
	if err := resumed.checkState(ctx); err != nil {
		return nil, err
	}
	if again, err := resumed.needsHop(ctx); err != nil {
		return nil, err
	} else if again {
		return nil, x.hopOn(resumed, response)
	}
	x.restoreReturn(resumed.flow)
	if err := checkIssuer(c, at, answer("iss"), count("iss")); err != nil {
		return nil, err
	}
	if e := answer("error"); e != "" {
		return nil, errorf(OAuthCallbackError, "provider %q %w", c.ID, refused(e, answer("error_description")))
	}
	verifier, err := resumed.value(CheckPKCE)
	if err != nil {
		return nil, err
	}
	code := answer("code")
	if code == "" {
		return nil, errorf(CallbackRouteError, "provider %q: %w", c.ID, mistake(errors.New("the answer has no code")))
	}
	redirectURI, _ := x.redirectURI(c)
	tokens, err := x.redeem(ctx, c, at, grant{code: code, verifier: verifier, redirectURI: redirectURI})
	if err != nil {
		return nil, err
	}
	profile, err := x.profileOf(ctx, c, at, tokens, resumed)
	if err != nil {
		return nil, err
	}
	if user, there := x.firstConsent(c); there {
		profile["user"] = user
	}
	return x.identityOf(ctx, c, profile, tokens)
}

// formAnswer reads a parameter of a form_post answer, which may have come on by a hop.
func (x *exchange) formAnswer(name string) string {
	if x.answered != nil {
		return x.answered[name]
	}
	s, _ := x.fields.Text(name)
	return s
}

// formCount counts a parameter of a form_post answer.
func (x *exchange) formCount(name string) int {
	if x.answered == nil {
		return x.fields.Count(name)
	}
	if _, there := x.answered[name]; there {
		return 1
	}
	return 0
}

// firstConsent is the user field that Apple posts beside the code, once: the name that it never tells again.
func (x *exchange) firstConsent(c *oauthClient) (Profile, bool) {
	if !c.formPost {
		return nil, false
	}
	raw := x.formAnswer("user")
	if raw == "" {
		return nil, false
	}
	user, err := decodeProfile([]byte(raw))
	return user, err == nil
}

// forwardFromProxy sends an answer on to the deployment that started the flow, when this one is the redirect proxy and knows
// the deployment. Code and state go to listed origins alone.
func (x *exchange) forwardFromProxy(c *oauthClient, state string) (string, error) {
	if c.proxyURL == "" || !x.onProxy(c) || state == "" {
		return "", nil
	}
	claims, err := x.openClaims(x.state, state)
	if err != nil {
		return "", errorf(InvalidCheck, "state at the redirect proxy: %w", err)
	}
	target := claims.Extra.Text("origin")
	if target == "" {
		return "", nil
	}
	origin, _, err := weburl.ParseOrigin(target)
	if err != nil || !origin.Listed(x.forwardTo) {
		return "", errorf(InvalidCheck, "the state names an origin that ProxyTargets does not list")
	}
	var pairs []string
	for name, value := range x.query.Fields() {
		pairs = append(pairs, name, value)
	}
	return weburl.AddQuery(target, pairs...)
}

// checkIssuer compares the iss parameter of the answer with the issuer asked (RFC 9207).
func checkIssuer(c *oauthClient, at endpoints, iss string, count int) error {
	var got []string
	if count > 0 {
		got = []string{iss}
	}
	expected, advertised := c.Issuer, false
	if at.metadata != nil {
		expected, advertised = at.metadata.Issuer, at.metadata.AuthorizationResponseIssParameterSupported
		if at.metadata.ManyTenants() { // which one it is, the ID token says
			expected = ""
		}
	}
	if err := oidc.CheckIss(got, expected, advertised); err != nil {
		return errorf(InvalidCheck, "%w", err)
	}
	return nil
}

// identityOf turns a profile into the visitor's identity. The profile's id is the account; the user gets an id of ours.
func (x *exchange) identityOf(ctx context.Context, c *oauthClient, profile Profile, tokens *TokenSet) (*identity, error) {
	mapping := c.Profile
	if mapping == nil {
		mapping = StandardProfile
	}
	user, err := guarded("profile function", func() (*User, error) { return mapping(ctx, profile, tokens) })
	if err == nil && user == nil {
		err = errors.New("the profile function returned no user")
	}
	if err != nil {
		return nil, errorf(OAuthProfileParseError, "provider %q: %w", c.ID, tokens.hide(err))
	}
	user = user.Clone()
	accountID := user.ID
	if accountID == "" || accountID == "undefined" || accountID == "null" {
		return nil, errorf(OAuthProfileParseError, "provider %q: the profile has no id: without one the person would be somebody else at each sign-in", c.ID)
	}
	if user.ID, err = x.newUserID(c.ID, accountID); err != nil {
		return nil, err
	}
	if user.Email != "" {
		normal, err := mailaddr.Normalize(user.Email)
		if err != nil { // an address that cannot be compared must not identify anybody
			normal = ""
		}
		user.Email = normal
	}
	boundProfile(user)
	account := &Account{
		Type: c.Type, Provider: c.ID, ProviderAccountID: accountID, AccessToken: tokens.AccessToken, RefreshToken: tokens.RefreshToken,
		IDToken: tokens.IDToken, Scope: tokens.Scope, TokenType: tokens.TokenType, ExpiresIn: tokens.ExpiresIn, ExpiresAt: tokens.ExpiresAt,
		SessionState: tokens.Extra["session_state"], Extra: maps.Clone(tokens.Extra),
	}
	delete(account.Extra, "session_state")
	return &identity{user: user, account: account, profile: profile, tokens: tokens, client: c}, nil
}

// Bounds in bytes of what a profile tells besides id and address. A session token holds both and is a cookie, which stays readable.
const (
	maxProfileName  = 1000
	maxProfileImage = 16 << 10 // of services whose pictures are data URLs
)

// boundProfile cuts a name that is too long, and drops an image: half an address leads nowhere.
func boundProfile(u *User) {
	if len(u.Name) > maxProfileName {
		u.Name = strings.ToValidUTF8(u.Name[:maxProfileName], "")
	}
	if len(u.Image) > maxProfileImage {
		u.Image = ""
	}
}

// newUserID is a random UUID where a store keeps it. Without a store it is derived from the account (UUID version 8), so that
// the same person has the same id at every sign-in.
func (x *exchange) newUserID(provider, accountID string) (string, error) {
	if x.store.Store != nil {
		return x.uuid()
	}
	sum := sha256.Sum256([]byte("latchkey user\x00" + provider + "\x00" + accountID))
	return uuidOf([16]byte(sum[:16]), 8), nil
}

// docsOf returns what is known of the provider's issuer.
func (a *Auth) docsOf(c *oauthClient) *oidc.Discovery {
	if c.ownDocs != nil {
		return c.ownDocs
	}
	return a.docs
}

// tenantOf returns the metadata that an ID token is held against: the issuer's, or that of the tenant which the token names, where
// one issuer speaks for several. The name only chooses among the issuer's own tenants; the token is verified with the keys of the
// one chosen.
func (a *Auth) tenantOf(ctx context.Context, c *oauthClient, m *oidc.Metadata, idToken string) (*oidc.Metadata, error) {
	if !m.ManyTenants() {
		return m, nil
	}
	tenant, err := oidc.TenantOf(idToken)
	if err != nil {
		return nil, err
	}
	if !c.servesTenant(tenant) {
		return nil, errForeignTenant
	}
	return a.docsOf(c).Tenant(ctx, m, tenant)
}

var errForeignTenant = errors.New("the tenant is none of those that Tenants lists")

// servesTenant tells whether the users of a tenant may sign in.
func (c *oauthClient) servesTenant(name string) bool {
	return c.Tenants == nil || slices.Contains(c.Tenants, name)
}

// StandardProfile maps the standard claims (OpenID Connect Core section 5.1): id from sub or id, name from name, nickname or
// preferred_username, whichever is there first, email, and image from picture.
func StandardProfile(_ context.Context, p Profile, _ *TokenSet) (*User, error) {
	switch p["email"].(type) {
	case map[string]any, []any:
		return nil, errors.New("email is no text")
	}
	return &User{
		ID: p.Text(p.there("sub", "id")), Name: p.Text(p.there("name", "nickname", "preferred_username")), Email: p.Text("email"), Image: p.Text("picture"),
	}, nil
}

// profileOf returns the claims of the verified ID token, or the userinfo answer where the provider has no ID token or says so.
func (x *exchange) profileOf(ctx context.Context, c *oauthClient, at endpoints, tokens *TokenSet, r *resumed) (Profile, error) {
	if c.Type == TypeOIDC {
		if err := x.verifyIDToken(ctx, c, at, tokens, r); err != nil {
			return nil, err
		}
		if !c.ProfileFromUserinfo {
			return tokens.Claims, nil
		}
	}
	profile, err := x.userinfo(ctx, c, at, tokens)
	if err != nil {
		return nil, errorf(CallbackRouteError, "provider %q: userinfo: %w", c.ID, tokens.hide(err))
	}
	if c.Type == TypeOIDC && profile.Text("sub") != tokens.Claims.Text("sub") {
		return nil, errorf(CallbackRouteError, "provider %q: userinfo is about another subject than the ID token (OpenID Connect Core section 5.3.2)", c.ID)
	}
	return profile, nil
}

// verifyIDToken verifies the ID token of a sign-in; the claims are in tokens afterwards.
func (x *exchange) verifyIDToken(ctx context.Context, c *oauthClient, at endpoints, tokens *TokenSet, r *resumed) error {
	if tokens.IDToken == "" {
		return errorf(CallbackRouteError, "provider %q: the token answer has no id_token", c.ID)
	}
	nonce, err := r.value(CheckNonce)
	if err != nil {
		return err
	}
	return x.verifyTokens(ctx, c, at, tokens, oidc.Expect{Nonce: nonce, MaxAge: c.maxAge})
}

// verifyTokens verifies signature and claims of an ID token, and of the access token where the provider wants that.
func (a *Auth) verifyTokens(ctx context.Context, c *oauthClient, at endpoints, tokens *TokenSet, expect oidc.Expect) (err error) {
	docs := a.docsOf(c)
	expect.Metadata, err = a.tenantOf(ctx, c, at.metadata, string(tokens.IDToken))
	if err != nil {
		return errorf(CallbackRouteError, "provider %q: %w", c.ID, err)
	}
	expect.ClientID, expect.ClientSecret, expect.Algs, expect.AccessToken = c.ClientID, string(c.ClientSecret), c.IDTokenAlgs, string(tokens.AccessToken)
	claims, err := docs.VerifyIDToken(ctx, string(tokens.IDToken), expect)
	if err != nil {
		return errorf(CallbackRouteError, "provider %q: id_token: %w", c.ID, err)
	}
	if c.AccessTokenAlgs != nil {
		err := docs.VerifyAccessToken(ctx, string(tokens.AccessToken), claims["sub"], oidc.Expect{Metadata: expect.Metadata, Algs: c.AccessTokenAlgs})
		if err != nil {
			return errorf(CallbackRouteError, "provider %q: access_token: %w", c.ID, err)
		}
	}
	tokens.Claims = claims
	return nil
}

// refused is the error response of an authorization endpoint (RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6). Some
// codes say what the visitor did there; the others are faults of the provider, or of how the application is registered.
func refused(code, description string) error {
	err := fmt.Errorf("answered %.100q: %.300q", code, description)
	switch code {
	case "access_denied", "login_required", "consent_required", "interaction_required", "account_selection_required":
		return mistake(err)
	case "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope": // how the client is registered, or asks
		return err
	}
	return suspicion(err) // the provider is out of order or, as anybody can write the address, a stranger says so
}
