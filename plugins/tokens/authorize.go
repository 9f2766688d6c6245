package tokens

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// kindCode is the kind of the records of authorization codes. The key of a record is a digest of the code.
const kindCode = "app-code"

const (
	// codeTTL is the lifetime of an authorization code.
	codeTTL = time.Minute
	// codeRecordTTL is how long the use of a code is remembered, to detect a second use.
	codeRecordTTL = 10 * time.Minute

	purposeCode = "tokens code"
)

// authorizeRequest is a valid authorization request (RFC 6749 section 4.1.1, RFC 7636 section 4.3).
type authorizeRequest struct {
	app       *App
	redirect  string
	state     string
	challenge string
	permission
}

// readAuthorize reads an authorization request. If the app or the redirect URI is wrong, the request is nil, and the
// browser must not be redirected (RFC 6749 section 4.1.2.1).
func (t *Tokens) readAuthorize(c *core.ActionRequest) (*authorizeRequest, *oauthError) {
	r := &authorizeRequest{
		app: t.app(c.Field("client_id")), redirect: c.Field("redirect_uri"), state: c.Field("state"),
		challenge: c.Field("code_challenge"),
	}
	switch {
	case r.app == nil:
		return nil, invalid("invalid_client", "client_id is not the ID of an app of this site.")
	case !r.app.accepts(r.redirect):
		return nil, invalid("invalid_redirect_uri", "redirect_uri is not one of the app's.")
	case r.state == "" || len(r.state) > 1000:
		return r, invalid("invalid_request", "state is required, with at most 1,000 characters.")
	case c.Field("response_type") != "code":
		return r, invalid("unsupported_response_type", "response_type must be code.")
	case c.Field("code_challenge_method") != "S256" || !isChallenge(r.challenge):
		return r, invalid("invalid_request", "code_challenge with the method S256 is required.")
	}
	var problem *oauthError
	r.permission, problem = t.requested(r.app, c.Field("scope"), requestedResources(c))
	return r, problem
}

// isChallenge reports whether a text can be a code challenge: the SHA-256 of a verifier (RFC 7636 section 4.2).
func isChallenge(text string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(raw) == sha256.Size
}

// returnURL returns the redirect URI with these parameters, the state and the issuer (RFC 9207).
func (r *authorizeRequest) returnURL(c *core.ActionRequest, parameters url.Values) string {
	u, err := url.Parse(r.redirect)
	if err != nil { // accepts has parsed it
		panic(err)
	}
	query := u.Query()
	maps.Copy(query, parameters)
	if r.state != "" {
		query.Set("state", r.state)
	}
	query.Set("iss", c.Origin)
	u.RawQuery = query.Encode()
	return u.String()
}

// refuse responds to an invalid authorization request: on a page if the app is unknown, else to the app.
func (t *Tokens) refuse(
	ctx context.Context, c *core.ActionRequest, r *authorizeRequest, problem *oauthError,
) (*core.Response, error) {
	switch {
	case r != nil:
		to := r.returnURL(c, url.Values{"error": {problem.Code}, "error_description": {problem.Description}})
		return c.Redirect(to), nil
	case c.WantsJSON:
		return c.JSON(ctx, problem.Status, problem), nil
	}
	page := c.Page(c.Locale.Say(textInvalidHeading))
	return c.Render(ctx, problem.Status, page, invalidPage(page, problem.Description)), nil
}

// getAuthorize is the page that asks the user.
func (t *Tokens) getAuthorize(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	r, problem := t.readAuthorize(c)
	if problem != nil {
		return t.refuse(ctx, c, r, problem)
	}
	v := newAskView(c, s, r.app, &r.permission)
	v.action = c.URL("authorize")
	v.hidden = append(v.hidden, [2]string{"resource", strings.Join(r.Resources, " ")})
	for _, name := range []string{"client_id", "redirect_uri", "response_type", "state", "code_challenge",
		"code_challenge_method", "scope"} {
		v.hidden = append(v.hidden, [2]string{name, c.Field(name)})
	}
	page := c.Page(c.Locale.Say(v.heading()))
	return c.Render(ctx, http.StatusOK, page, askPage(page, v)), nil
}

// code is a stored authorization code.
type code struct {
	approval
	permission
	App       string    `json:"app"`
	Redirect  string    `json:"redirect"`
	Challenge string    `json:"challenge"`
	Expires   time.Time `json:"expires"`
	// Grant is the ID of the grant that the code was exchanged for.
	Grant string `json:"grant,omitempty"`
}

// postAuthorize is the user's decision. It returns the browser to the app.
func (t *Tokens) postAuthorize(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	r, problem := t.readAuthorize(c)
	if problem != nil {
		return t.refuse(ctx, c, r, problem)
	}
	if c.Field("decision") != "allow" {
		return c.Redirect(r.returnURL(c, url.Values{"error": {errDenied.Code}})), nil
	}
	text, err := t.host.NewToken()
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	now := t.host.Now()
	value, err := json.Marshal(code{
		approval: approvalOf(s), permission: r.permission, App: r.app.ID, Redirect: r.redirect, Challenge: r.challenge,
		Expires: now.Add(codeTTL),
	})
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	sealed, err := t.host.Encrypt(purposeCode, text, now.Add(codeRecordTTL))
	if err != nil {
		return nil, err
	}
	err = t.records.CreateRecord(ctx, &store.Record{
		Kind: kindCode, Key: t.host.Digest(purposeCode, text), UserID: s.UserID, Value: value,
		Expires: now.Add(codeRecordTTL).Truncate(time.Millisecond),
	})
	if err != nil {
		return nil, fmt.Errorf("tokens: store a code: %w", err)
	}
	return c.Redirect(r.returnURL(c, url.Values{"code": {sealed}})), nil
}

// redeemCode exchanges an authorization code for tokens. A code that is used again ends the grant of its first use
// (RFC 6749 section 4.1.2).
func (t *Tokens) redeemCode(ctx context.Context, c *core.ActionRequest, app *App) (*grantRecord, *tokenPair, error) {
	var text string
	if t.host.Decrypt(purposeCode, c.Field("code"), &text) != nil {
		return nil, nil, core.ErrNotFound
	}
	found, record, err := t.readCode(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	verifier := sha256.Sum256([]byte(c.Field("code_verifier")))
	challenge := base64.RawURLEncoding.EncodeToString(verifier[:])
	switch {
	case found.App != app.ID || found.Redirect != c.Field("redirect_uri"),
		subtle.ConstantTimeCompare([]byte(challenge), []byte(found.Challenge)) != 1:
		return nil, nil, core.ErrNotFound
	case found.Grant != "":
		return t.usedTwice(ctx, found)
	case !found.Expires.After(t.host.Now()):
		return nil, nil, core.ErrNotFound
	}
	resource, err := t.target(app, &found.permission, c.Field("resource"))
	if err != nil {
		return nil, nil, err
	}
	g, pair, err := t.create(ctx, app, found.permission, found.approval, resource)
	if err != nil {
		return nil, nil, err
	}
	found.Grant = g.ID
	if record.Value, err = json.Marshal(found); err == nil {
		err = t.records.UpdateRecord(ctx, record)
	}
	if err == nil {
		return g, pair, nil
	}
	if deleted := t.delete(ctx, g.ID); deleted != nil || !errors.Is(err, core.ErrConflict) {
		return nil, nil, errors.Join(err, deleted)
	}
	if found, _, err = t.readCode(ctx, text); err != nil {
		return nil, nil, err
	}
	return t.usedTwice(ctx, found)
}

func (t *Tokens) readCode(ctx context.Context, text string) (found *code, record *store.Record, err error) {
	record, err = t.host.FindRecord(ctx, t.records, kindCode, t.host.Digests(purposeCode, text)...)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(record.Value, &found); err != nil {
		return nil, nil, fmt.Errorf("tokens: the record of a code is malformed: %w", err)
	}
	return found, record, nil
}

// usedTwice ends the grant of a code that was used again.
func (t *Tokens) usedTwice(ctx context.Context, found *code) (*grantRecord, *tokenPair, error) {
	g := &grantRecord{ID: found.Grant, UserID: found.UserID}
	if err := t.delete(ctx, found.Grant); err != nil {
		return nil, nil, err
	}
	return g, nil, errReused
}

type handler = func(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error)

// inBrowser refuses requests with a bearer token: a program must not let further programs sign in.
func inBrowser(handle handler) func(context.Context, *core.ActionRequest) (*core.Response, error) {
	return func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		if c.ByBearer() {
			return nil, &core.Problem{Status: http.StatusForbidden, Code: "browser_required", Text: textBrowser}
		}
		session, err := c.Session(ctx)
		if err != nil || session == nil { // the guards require a session
			return nil, errors.Join(errors.New("tokens: no user is signed in"), err)
		}
		return handle(ctx, c, session)
	}
}
