package tokens

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
)

// The grant types of the token endpoint (RFC 6749 sections 4.1.3 and 6, RFC 8628 section 3.4, RFC
// 8693 section 2.1).
const (
	grantCode     = "authorization_code"
	grantRefresh  = "refresh_token"
	grantDevice   = "urn:ietf:params:oauth:grant-type:device_code"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// actions returns the endpoints for programs, and the pages for users.
func (t *Tokens) actions() []core.Action {
	program := func(name, verb string, handle endpoint, summary string, input, output any) core.Action {
		return core.Action{
			Method: http.MethodPost, Name: name, Verb: verb, NoCookies: true, Handle: t.answers(handle),
			Summary: summary, Input: input, Output: output,
		}
	}
	recent := []core.Guard{core.RecentSignIn(t.options.Fresh)}
	// A user who has opened the page has the same time again to decide.
	decide := []core.Guard{core.RecentSignIn(2 * t.options.Fresh)}
	signedIn := []core.Guard{func(context.Context, *core.Session) error { return nil }}
	page := func(
		method, name, verb string, guards []core.Guard, handle handler, summary string, input, output any,
	) core.Action {
		return core.Action{
			Method: method, Name: name, Verb: verb, Require: guards, Handle: inBrowser(handle),
			Summary: summary, Input: input, Output: output,
		}
	}
	return []core.Action{
		program("token", "", t.postToken,
			"Get tokens for a code, a refresh token or an ID token", tokenInput{}, tokenResponse{}),
		program("token", "nonce", t.postNonce, "Get a nonce for an ID token", clientInput{}, nonceResponse{}),
		program("token", "revoke", t.postRevoke, "Revoke a token (RFC 7009)", revokeInput{}, ended{}),
		program("device", "authorization", t.postDeviceAuthorization,
			"Start the sign-in of a device (RFC 8628)", deviceInput{}, deviceResponse{}),
		page(http.MethodGet, "authorize", "", recent, t.getAuthorize,
			"Ask the user whether an app may sign in (RFC 6749)", authorizeInput{}, nil),
		page(http.MethodPost, "authorize", "", decide, t.postAuthorize,
			"Let an app sign in, or deny it", authorizeDecision{}, nil),
		page(http.MethodGet, "device", "", recent, t.getDevice, "Get the page for the code of a device", struct{}{}, nil),
		page(http.MethodPost, "device", "", decide, t.postDevice,
			"Show what a device asks for, and decide", deviceDecision{}, deviceAnswer{}),
		page(http.MethodGet, "apps", "", signedIn, t.getApps, "List the apps that are signed in", struct{}{}, appList{}),
		page(http.MethodPost, "apps", "end", signedIn, t.postEnd, "Sign an app out", grantID{}, ended{}),
	}
}

// oauthError is an error response of RFC 6749 section 5.2.
type oauthError struct {
	Status      int    `json:"-"`
	Code        string `json:"error"`
	Description string `json:"error_description,omitempty"`
	// Authorization is the authorization endpoint, if the user must sign in in the browser.
	Authorization string `json:"authorization_endpoint,omitempty"`
}

func (e *oauthError) Error() string { return "tokens: " + e.Code + ": " + e.Description }

func invalid(code, description string) *oauthError {
	return &oauthError{Status: http.StatusBadRequest, Code: code, Description: description}
}

var (
	errInvalidGrant = invalid("invalid_grant", "The code or token is not valid, has expired, or was used before.")
	errTooLate      = invalid("expired_token", "The device code has expired. Start again.")
	errPending      = invalid("authorization_pending", "The user has not decided yet.")
	errSlowDown     = invalid("slow_down", "Wait five more seconds between requests.")
	errBusy         = &oauthError{
		Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", Description: "Try again.",
	}
	errDenied = invalid("access_denied", "The user denied the request.")
)

// endpoint handles the request of an app. The result is encoded as JSON.
type endpoint func(ctx context.Context, c *core.ActionRequest, app *App) (any, error)

// answers identifies the app and encodes the result or the [oauthError].
func (t *Tokens) answers(handle endpoint) func(context.Context, *core.ActionRequest) (*core.Response, error) {
	return func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		app, err := t.client(c)
		var result any
		if err == nil {
			result, err = handle(ctx, c, app)
		}
		var refused *oauthError
		switch {
		case errors.As(err, &refused):
			response := c.JSON(ctx, refused.Status, refused)
			if refused.Status == http.StatusUnauthorized && first(c.Request.Header, "Authorization") != "" {
				response.Header.Set("Www-Authenticate", `Basic realm="`+c.Origin+`"`)
			}
			return response, nil
		case err != nil:
			return nil, err
		}
		return c.JSON(ctx, http.StatusOK, result), nil
	}
}

func first(h http.Header, name string) string {
	if all := h[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// client returns the app that makes a request. It is identified by the field client_id, or by the user name of an
// Authorization header with an empty password, which some clients send (RFC 6749 section 2.3.1).
func (t *Tokens) client(c *core.ActionRequest) (*App, error) {
	id := c.Field("client_id")
	r := http.Request{Header: http.Header{"Authorization": c.Request.Header["Authorization"]}}
	if name, password, ok := r.BasicAuth(); ok {
		decoded, err := url.QueryUnescape(name)
		if err != nil || password != "" || id != "" && id != decoded {
			return nil, errClient("Send client_id without a secret.")
		}
		id = decoded
	}
	if app := t.app(id); app != nil {
		return app, nil
	}
	return nil, errClient("Send the client_id of an app of this site.")
}

func errClient(description string) *oauthError {
	return &oauthError{Status: http.StatusUnauthorized, Code: "invalid_client", Description: description}
}

// tokenResponse is a successful response of the token endpoint (RFC 6749 section 5.1).
type tokenResponse struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope,omitempty"`
	// IssuedTokenType is set by a token exchange (RFC 8693 section 2.2.1).
	IssuedTokenType string `json:"issued_token_type,omitempty"`
}

func respond(p *tokenPair) tokenResponse {
	return tokenResponse{
		AccessToken: p.Access, TokenType: "Bearer", ExpiresIn: int64(p.TTL.Seconds()), RefreshToken: p.Refresh,
		Scope: strings.Join(p.Scopes, " "),
	}
}

// postToken is the token endpoint.
func (t *Tokens) postToken(ctx context.Context, c *core.ActionRequest, app *App) (any, error) {
	var g *grantRecord
	var p *tokenPair
	var err error
	switch grantType := c.Field("grant_type"); grantType {
	case grantCode:
		g, p, err = t.redeemCode(ctx, c, app)
	case grantRefresh:
		g, p, err = t.refresh(ctx, app, c.Field("refresh_token"), c.Field("resource"))
	case grantDevice:
		g, p, err = t.redeemDevice(ctx, c, app)
	case grantExchange:
		g, p, err = t.redeemIDToken(ctx, c, app)
	case "":
		return nil, invalid("invalid_request", "The field grant_type is missing.")
	default:
		return nil, invalid("unsupported_grant_type", "Use authorization_code, refresh_token, device_code or "+
			"token-exchange.")
	}
	switch {
	case errors.Is(err, errReused):
		t.audit(ctx, c, audit.AppEnded, g.UserID, g.ID, audit.ReasonReplayed)
		return nil, errInvalidGrant
	case errors.Is(err, core.ErrNotFound):
		return nil, errInvalidGrant
	case errors.Is(err, core.ErrConflict): // many requests with one token at the same time
		return nil, errBusy
	case err != nil:
		return nil, err
	}
	if c.Field("grant_type") != grantRefresh {
		t.audit(ctx, c, audit.AppSignedIn, g.UserID, g.ID, "")
	}
	response := respond(p)
	if c.Field("grant_type") == grantExchange {
		response.IssuedTokenType = typeAccessToken
	}
	return response, nil
}

func (t *Tokens) audit(
	ctx context.Context, c *core.ActionRequest, name audit.Name, userID, grantID string, reason audit.Reason,
) {
	c.Audit(ctx, audit.Event{
		Name: name, Outcome: audit.OK, UserID: userID, Credential: credentialPrefix + grantID, Reason: reason,
	})
}

// postRevoke ends the grant of a token (RFC 7009). An unknown token is no error.
func (t *Tokens) postRevoke(ctx context.Context, c *core.ActionRequest, app *App) (any, error) {
	text := c.Field("token")
	if text == "" {
		return nil, invalid("invalid_request", "The field token is missing.")
	}
	var access accessToken
	id := ""
	if token, ok := t.parseRefresh(text); ok {
		id = token.Grant
	} else if t.host.Decrypt(purposeAccess, strings.TrimPrefix(text, accessPrefix), &access) == nil {
		id = access.Grant
	}
	switch {
	case id == "" && strings.Count(text, ".") == 2: // a signed one, which services verify without this site
		return nil, invalid("unsupported_token_type", "Revoke the refresh token.")
	case id == "":
		return ended{true}, nil
	}
	g, err := t.find(ctx, id)
	switch {
	case errors.Is(err, core.ErrNotFound), err == nil && g.App != app.ID:
		return ended{true}, nil
	case err != nil:
		return nil, err
	}
	if err := t.delete(ctx, id); err != nil {
		return nil, err
	}
	t.audit(ctx, c, audit.AppEnded, g.UserID, g.ID, audit.ReasonAsked)
	return ended{true}, nil
}
