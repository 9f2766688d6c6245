package providersessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/sessionid"
)

const (
	// kind is the kind of the records that store ID tokens for sign-outs.
	kind = "logout"
	// cookieAge is the lifetime of the logout cookie: the maximum that browsers allow.
	cookieAge = 400 * 24 * time.Hour
	// returnTime is the maximum time until a browser returns from the provider's sign-out page.
	returnTime = 15 * time.Minute
	// redirected is the suffix of a cookie whose browser was redirected to the provider's sign-out page.
	redirected = "~"
)

// Logouts tracks the provider session of each sign-in, for RP-initiated logout (OpenID Connect RP-Initiated Logout). A
// cookie has the provider and a key. A record under that key has the ID token, which is too long for a cookie.
type Logouts struct {
	// Clients are the providers with a sign-out page, by ID.
	Clients map[string]Client
	// Records stores the ID tokens. If it is nil, the sign-out request has no ID token.
	Records store.RecordStore
	// MaxAge is the maximum lifetime of a session.
	MaxAge time.Duration
	Now    func() time.Time
	NewKey func() (string, error)
}

// Client returns the URL of a provider's sign-out page. The provider redirects the browser to returnTo with the state.
// hint is the ID token, or "".
type Client func(ctx context.Context, returnTo, state, hint string) (string, error)

// Browser has the cookies of a request.
type Browser struct {
	Jar    cookie.Jar
	Cookie *cookies.Spec
	// Failed receives the errors that do not fail the request.
	Failed func(err error)
}

// read returns the content of the logout cookie. It is empty if there is none. pending reports whether the browser was
// redirected to the provider's sign-out page.
func (b *Browser) read() (provider, key string, pending bool) {
	value, _ := b.Jar.Get(b.Cookie.Name())
	value, pending = strings.CutSuffix(value, redirected)
	i := strings.LastIndexByte(value, '.')
	if i < 0 {
		return "", "", false
	}
	return value[:i], value[i+1:], pending
}

// Begin tracks a sign-in with a provider, and removes the sign-in that it replaces. It returns the cookies to set.
// Errors never fail the sign-in.
func (l *Logouts) Begin(ctx context.Context, b *Browser, provider, userID, idToken string) []cookie.Cookie {
	all := l.Forget(ctx, b)
	if l.Clients[provider] == nil {
		return all
	}
	key, err := l.NewKey()
	if err != nil {
		b.Failed(err)
		return all
	}
	if err := l.keep(ctx, key, userID, idToken); err != nil {
		b.Failed(fmt.Errorf("store an ID token for the sign-out: %w", err))
	}
	return []cookie.Cookie{b.Cookie.SetUntil(provider+"."+key, l.Now().Add(cookieAge))}
}

// keep stores the ID token of a sign-in under the key in the cookie.
func (l *Logouts) keep(ctx context.Context, key, userID, idToken string) error {
	value, err := json.Marshal(idToken)
	if err != nil || l.Records == nil || idToken == "" || len(value) > store.MaxRecordValue {
		return err
	}
	err = l.Records.CreateRecord(ctx, &store.Record{
		Kind: kind, Key: sessionid.Of(key).String(), UserID: userID, Value: value, Expires: l.Now().Add(l.MaxAge),
	})
	if errors.Is(err, store.ErrNotFound) { // the user is not in the store
		return nil
	}
	return err
}

// take deletes the record under a key. It returns the ID token if the record belongs to the user.
func (l *Logouts) take(ctx context.Context, b *Browser, key, userID string) (hint string) {
	if l.Records == nil || key == "" {
		return ""
	}
	record, err := l.Records.DeleteRecord(ctx, kind, sessionid.Of(key).String())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return ""
	case err != nil:
		b.Failed(fmt.Errorf("look up the ID token for a sign-out: %w", err))
		return ""
	case userID == "" || record.UserID != userID || json.Unmarshal(record.Value, &hint) != nil:
		return ""
	}
	return hint
}

// Forget removes the logout cookie and its record. It returns the cookies to set.
func (l *Logouts) Forget(ctx context.Context, b *Browser) []cookie.Cookie {
	if !b.Jar.Has(b.Cookie.Name()) {
		return nil
	}
	_, key, _ := b.read()
	l.take(ctx, b, key, "")
	return []cookie.Cookie{b.Cookie.Clear()}
}

// Redirect is the response of a sign-out.
type Redirect struct {
	// Target is the provider's sign-out page. If it is empty, the session's provider has none.
	Target  string
	Cookies []cookie.Cookie
	// Shortened is the provider whose ID token was left out, because it is too long for a response header.
	Shortened string
}

// Leave returns the redirect to the provider of the session (section 2). userID is the user of the ended session, base
// the URL before the ID of the provider for the return, and others the cookies of the response so far. Cookies are set
// even if there is an error.
func (l *Logouts) Leave(
	ctx context.Context, b *Browser, userID, base string, others []cookie.Cookie,
) (r Redirect, err error) {
	provider, key, _ := b.read()
	client := l.Clients[provider]
	if client == nil || key == "" {
		r.Cookies = l.Forget(ctx, b)
		return r, nil
	}
	hint := l.take(ctx, b, key, userID)
	pending := b.Cookie.SetUntil(provider+"."+key+redirected, l.Now().Add(returnTime))
	r.Target, err = client(ctx, base+provider, key, hint)
	size := flowstate.HeaderSize(append(slices.Clip(others), pending), len(r.Target))
	tooLong := err == nil && size > flowstate.MaxResponseHeader
	if tooLong && hint != "" {
		r.Shortened = provider
		r.Target, err = client(ctx, base+provider, key, "")
	}
	if err != nil {
		r.Target, r.Cookies = "", []cookie.Cookie{b.Cookie.Clear()}
		return r, err
	}
	r.Cookies = []cookie.Cookie{pending}
	return r, nil
}

// Return handles the redirect from a provider after its sign-out (section 3). It returns the cookies to set, and
// whether the browser may continue to the page that the sign-out requested: the request has the state of the sign-out.
// Some providers return no state. Then bare is true: the request has no parameters that another site could choose, and
// the browser continues only if it was redirected to the provider within returnTime.
func (b *Browser) Return(provider, state string, bare bool) (all []cookie.Cookie, known bool) {
	own, key, pending := b.read()
	returned := random.Same(key, state)
	if bare {
		returned = pending
	}
	if key == "" || own != provider || !returned {
		return nil, false
	}
	return []cookie.Cookie{b.Cookie.Clear()}, true
}
