package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// recordLogout is the kind of the records that store ID tokens for sign-outs.
const recordLogout = "logout"

const (
	// logoutCookieAge is the lifetime of the logout cookie: the maximum that browsers allow.
	logoutCookieAge = 400 * 24 * time.Hour
	// logoutReturnTime is the maximum time until a browser returns from the provider's sign-out page.
	logoutReturnTime = 15 * time.Minute
)

// begin tracks a sign-in with a provider, and removes the sign-in that it replaces. Errors are logged and never fail
// the sign-in.
func (a *awaySessions) begin(ctx context.Context, p *tokenCarrier, id *identity, userID string) []Cookie {
	if a == nil || p.fromHeader {
		return nil
	}
	cookies := a.forget(ctx, p.at)
	if a.clients[id.account.Provider] == nil {
		return cookies
	}
	key, err := randomText(a.rand)
	if err != nil {
		p.at.log.failure(ctx, asError(err, ErrAuth), p.at.attrs()...)
		return cookies
	}
	if err := a.keep(ctx, key, userID, id); err != nil {
		p.at.log.failure(ctx, errorf(ErrStore, "store an ID token for the sign-out: %w", err), p.at.attrs()...)
	}
	spec := &p.at.cookies.Logout
	return []Cookie{Cookie(spec.SetUntil(id.account.Provider+"."+key, a.now().Add(logoutCookieAge)))}
}

// keep stores the ID token of a sign-in under the key in the cookie.
func (a *awaySessions) keep(ctx context.Context, key, userID string, id *identity) error {
	hint := id.account.IDToken
	value, err := json.Marshal(string(hint))
	if err != nil || a.records == nil || hint == "" || len(value) > store.MaxRecordValue {
		return err
	}
	err = a.records.CreateRecord(ctx, &store.Record{
		Kind: recordLogout, Key: publicID(key), UserID: userID, Value: value, Expires: a.now().Add(a.maxAge),
	})
	if errors.Is(err, ErrNotFound) { // the user is not in the store
		return nil
	}
	return err
}

// redirectedSuffix is the suffix of a cookie whose browser was redirected to the provider's sign-out page.
const redirectedSuffix = "~"

// readCookie returns the content of a browser's logout cookie. It is empty if there is none. pending reports whether
// the browser was redirected to the provider's sign-out page.
func (a *awaySessions) readCookie(v *arrival) (provider, key string, pending bool) {
	value, _ := v.jar.Get(v.cookies.Logout.Name())
	value, pending = strings.CutSuffix(value, redirectedSuffix)
	i := strings.LastIndexByte(value, '.')
	if i < 0 {
		return "", "", false
	}
	return value[:i], value[i+1:], pending
}

// take deletes the record under a key. It returns the ID token if the record belongs to the user.
func (a *awaySessions) take(ctx context.Context, v *arrival, key, userID string) (hint string) {
	if a.records == nil || key == "" {
		return ""
	}
	record, err := a.records.DeleteRecord(ctx, recordLogout, publicID(key))
	switch {
	case errors.Is(err, ErrNotFound):
		return ""
	case err != nil:
		v.log.failure(ctx, errorf(ErrStore, "look up the ID token for a sign-out: %w", err), v.attrs()...)
		return ""
	case userID == "" || record.UserID != userID || json.Unmarshal(record.Value, &hint) != nil:
		return ""
	}
	return hint
}

// forget removes the logout cookie and its record.
func (a *awaySessions) forget(ctx context.Context, v *arrival) []Cookie {
	if a == nil {
		return nil
	}
	spec := &v.cookies.Logout
	if !v.jar.Has(spec.Name()) {
		return nil
	}
	_, key, _ := a.readCookie(v)
	a.take(ctx, v, key, "")
	return []Cookie{Cookie(spec.Clear())}
}

// leave redirects the response of a sign-out to the provider of the session (OpenID Connect RP-Initiated Logout section
// 2). userID is the user of the ended session. If the provider has no sign-out URL, the redirect of the response stays
// unchanged.
func (a *awaySessions) leave(ctx context.Context, c *call, userID string, response *Response) {
	if a == nil || c.byBearer() {
		return
	}
	provider, key, _ := a.readCookie(&c.arrival)
	client := a.clients[provider]
	if client == nil || key == "" {
		response.Cookies = append(response.Cookies, a.forget(ctx, &c.arrival)...)
		return
	}
	request := &SignOutRequest{
		Issuer: client.Issuer, ClientID: client.ClientID,
		RedirectURI: c.base + "/logout/" + provider, State: key,
		IDTokenHint: Secret(a.take(ctx, &c.arrival, key, userID)),
	}
	spec := &c.cookies.Logout
	pending := Cookie(spec.SetUntil(provider+"."+key+redirectedSuffix, a.now().Add(logoutReturnTime)))
	waits := append(slices.Clip(response.Cookies), pending)
	at, err := client.client.Endpoints(ctx)
	var target string
	if err == nil {
		request.Endpoint = client.client.EndSession(at).Endpoint
		target, err = client.signOutURL(request)
	}
	size := flowstate.HeaderSize(plainCookies(append(c.initialCookies(), waits...)), len(target))
	tooLong := err == nil && size > flowstate.MaxResponseHeader
	if tooLong && request.IDTokenHint != "" {
		c.log.info(ctx, "an ID token is too long for a response header: the provider may ask the user to confirm",
			slog.String("provider", provider))
		request.IDTokenHint = ""
		target, err = client.signOutURL(request)
	}
	if err != nil {
		c.log.failure(ctx, errorf(errSignOut, "the local session has ended, the one at the provider has not: %w", err),
			c.attrs()...)
		response.Cookies = append(response.Cookies, Cookie(spec.Clear()))
		return
	}
	response.Redirect, response.Cookies = target, waits
}

// signOutURL returns the provider's sign-out URL for the browser.
func (o *oauthClient) signOutURL(r *SignOutRequest) (string, error) {
	if o.SignOutURL == nil {
		target, err := r.StandardURL()
		if err != nil {
			err = fmt.Errorf("provider %q: %w", o.ID, err)
		}
		return target, err
	}
	target, err := guarded("SignOutURL", func() (string, error) {
		own := *r
		return o.SignOutURL(&own)
	})
	if err == nil {
		err = weburl.CheckEndpoint(target, o.AllowInsecureHTTP == True)
	}
	if err != nil {
		return "", fmt.Errorf("provider %q: SignOutURL: %w", o.ID, err)
	}
	return weburl.Normalise(target)
}

// back handles GET logout/<provider>, the redirect from the provider after its sign-out (section 3). If the request has
// the state of the sign-out, the browser continues to the page that the sign-out requested. Some providers return no
// state. Then the browser continues only if it was redirected to the provider within logoutReturnTime, and never to a
// page that the request names, because any site can make a browser request this URL.
func (a *awaySessions) back(ctx context.Context, c *call) (*Response, error) {
	provider, key, pending := a.readCookie(&c.arrival)
	returned := random.Same(key, c.query.Get("state"))
	if c.query.Count("state") == 0 && c.query.Count("callbackUrl") == 0 {
		returned = pending
	}
	if key == "" || provider != c.providerID || !returned {
		c.log.info(ctx, "a return from a provider's sign-out does not have the state of a sign-out in this browser",
			c.attrs()...)
		return redirectTo(c.home), nil
	}
	spec := &c.cookies.Logout
	response := redirectTo(c.callbackURL.Target)
	response.Cookies = []Cookie{Cookie(spec.Clear())}
	return response, nil
}
