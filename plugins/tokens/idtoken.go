package tokens

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
)

// An app that signs a user in with an SDK of Apple or Google gets an ID token from it, and exchanges the token here.
// The ID token must contain a nonce of this site, so that a copy of an ID token from elsewhere, or from an earlier
// sign-in, is worthless. Apple and Google copy the nonce of the app's request into the claim without a change. An app
// can pass the SHA-256 of the nonce: then an attacker who has only the ID token does not know the nonce.

// The token types of a token exchange (RFC 8693 section 3).
const (
	typeIDToken     = "urn:ietf:params:oauth:token-type:id_token"     //nolint:gosec // the name of a type
	typeAccessToken = "urn:ietf:params:oauth:token-type:access_token" //nolint:gosec // the name of a type
)

const (
	// nonceTTL is the lifetime of a nonce: the time for the dialog of the provider.
	nonceTTL = 10 * time.Minute
	// nonceRecordTTL is how long the use of a nonce is remembered. It is longer than nonceTTL, because the clocks of
	// processes differ.
	nonceRecordTTL = 2 * nonceTTL

	purposeNonce = "tokens nonce"
	// kindNonce is the kind of the records of used nonces. The key of a record is the SHA-256 of the nonce.
	kindNonce = "app-nonce"
)

// idTokenProviders returns the IDs of the providers whose ID tokens the apps exchange.
func (t *Tokens) idTokenProviders() []string {
	all := map[string]bool{}
	for _, app := range t.options.Apps {
		for provider := range app.IDTokens {
			all[provider] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// postNonce issues a nonce. Nothing is stored, so that requests without a sign-in cannot fill the store.
func (t *Tokens) postNonce(_ context.Context, _ *core.ActionRequest, app *App) (any, error) {
	if len(app.IDTokens) == 0 {
		return nil, errNoExchange
	}
	random, err := randomText(t.host.Rand, 16)
	if err != nil {
		return nil, err
	}
	text := strconv.FormatInt(t.host.Now().Add(nonceTTL).Unix(), 36) + "." + random
	return nonceResponse{text + "." + t.host.Digest(purposeNonce, nonceInput(app, text)), int64(nonceTTL.Seconds())}, nil
}

// nonceInput returns the input of a nonce's digest. The ID of an app contains no space.
func nonceInput(app *App, text string) string { return app.ID + " " + text }

// isNonce reports whether this site has issued a nonce for the app, and it has not expired.
func (t *Tokens) isNonce(app *App, nonce string) bool {
	at := strings.LastIndexByte(nonce, '.')
	if at < 0 {
		return false
	}
	text, digest := nonce[:at], nonce[at+1:]
	issued := slices.ContainsFunc(t.host.Digests(purposeNonce, nonceInput(app, text)), func(own string) bool {
		return subtle.ConstantTimeCompare([]byte(own), []byte(digest)) == 1
	})
	first, _, _ := strings.Cut(text, ".")
	expires, err := strconv.ParseInt(first, 36, 64)
	return issued && err == nil && t.host.Now().Before(time.Unix(expires, 0))
}

// useNonce stores that a nonce was used. It returns [core.ErrConflict] if it was used before: of concurrent requests,
// in all processes, one succeeds.
func (t *Tokens) useNonce(ctx context.Context, nonce string) error {
	hash := sha256.Sum256([]byte(nonce))
	return t.records.CreateRecord(ctx, &store.Record{
		Kind: kindNonce, Key: base64.RawURLEncoding.EncodeToString(hash[:]), Value: []byte("{}"),
		Expires: t.host.Now().Add(nonceRecordTTL).Truncate(time.Millisecond),
	})
}

var (
	errNoExchange = invalid("unauthorized_client", "The app cannot exchange ID tokens.")
	errNonce      = invalid("invalid_request", "The nonce is not valid for this app, has expired, or was used before.")
	errIDToken    = invalid("invalid_request", "The ID token is not valid for this app and nonce. The log of the site "+
		"contains the reason.")
	errRefused = invalid("access_denied", "The sign-in was refused.")
)

// redeemIDToken exchanges an ID token for tokens (RFC 8693).
func (t *Tokens) redeemIDToken(ctx context.Context, c *core.ActionRequest, app *App) (*grantRecord, *tokenPair, error) {
	provider, nonce, asked := c.Field("provider"), c.Field("nonce"), c.Field("requested_token_type")
	clientIDs := app.IDTokens[provider]
	requested, problem := t.requested(app, c.Field("scope"), oneResource(c))
	switch {
	case len(app.IDTokens) == 0:
		return nil, nil, errNoExchange
	case len(clientIDs) == 0:
		return nil, nil, invalid("invalid_request", "provider is not the ID of a provider whose ID tokens the app exchanges.")
	case c.Field("subject_token_type") != typeIDToken || c.Field("actor_token") != "" ||
		asked != "" && asked != typeAccessToken:
		return nil, nil, invalid("invalid_request", "Only an ID token can be exchanged, and only for an access token.")
	case problem != nil:
		return nil, nil, problem
	case !t.isNonce(app, nonce):
		return nil, nil, errNonce
	}
	resource, err := t.target(app, &requested, c.Field("resource"))
	if err != nil {
		return nil, nil, err
	}
	verified, err := c.VerifyIDToken(ctx, provider, c.Field("subject_token"), nonce, clientIDs)
	if err != nil {
		return nil, nil, refusedToken(ctx, c, err)
	}
	switch err := t.useNonce(ctx, nonce); {
	case errors.Is(err, core.ErrConflict):
		c.Audit(ctx, audit.Event{Name: audit.AppSignedIn, Outcome: audit.Refused, Reason: audit.ReasonReplayed})
		return nil, nil, errNonce
	case err != nil:
		return nil, nil, fmt.Errorf("tokens: use a nonce: %w", err)
	}
	session, err := c.SignInApp(ctx, verified)
	switch {
	case errors.As(err, new(*core.HeldError)):
		return nil, nil, inTheBrowser(c, "interaction_required", "The user must sign in in the browser.")
	case errors.Is(err, core.ErrOAuthAccountNotLinked):
		return nil, nil, inTheBrowser(c, "account_not_linked",
			"A user with this email address signs in with another method: let the user sign in in the browser.")
	case errors.Is(err, core.ErrAccessDenied):
		return nil, nil, errRefused
	case err != nil:
		return nil, nil, err
	}
	return t.create(ctx, app, requested, approvalOf(session), resource)
}

// inTheBrowser returns the error for a sign-in that an app can complete only with the authorization code flow: there
// the user passes the second factor, or signs in with another method.
func inTheBrowser(c *core.ActionRequest, code, description string) *oauthError {
	problem := invalid(code, description)
	problem.Authorization = c.URL("authorize")
	return problem
}

// refusedToken returns the error for an ID token that was not accepted. Invalid tokens are limited per network.
func refusedToken(ctx context.Context, c *core.ActionRequest, err error) error {
	var problem *core.Problem
	switch {
	case !errors.As(err, &problem):
		return err
	case problem.Status == http.StatusServiceUnavailable:
		return errBusy
	}
	if err := c.Allow(ctx, limit.AttemptKey, ""); err != nil {
		return err
	}
	return errIDToken
}
