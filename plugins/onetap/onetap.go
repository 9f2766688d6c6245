package onetap

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/once"
	"github.com/latchkey-go/latchkey/ui"
)

// name is the name of the action and of the cookie with the nonce.
const name = "onetap"

// kindNonce is the kind of the records of used nonces. The key of a record is the SHA-256 of the nonce.
const kindNonce = "onetap-nonce"

const (
	// nonceTTL is the lifetime of a nonce. The prompt may be visible for a long time before the user selects an account.
	nonceTTL = time.Hour
	// nonceRecordTTL is how long the use of a nonce is remembered. It is longer than nonceTTL, because the clocks of
	// processes differ.
	nonceRecordTTL = 2 * nonceTTL
)

// library is the URL of the library of Google Identity Services.
const library = "https://accounts.google.com/gsi/client"

// Options configures [New]. All fields are optional.
type Options struct {
	// Provider is the ID of the provider in Config.Providers. The default is "google".
	Provider string
	// ConfigURL is the URL of the provider's FedCM configuration, for example
	// "https://idp.example/fedcm.json". Its ID assertion endpoint must return an ID token with the nonce. The default is
	// empty: the library of Google Identity Services shows the prompt.
	ConfigURL string
	// Library replaces the URL of the library, for tests. It is an https URL, or an http URL of this machine.
	Library string
}

// OneTap is the plugin. Create it with [New], and add it to Config.Plugins. It is safe for concurrent use.
type OneTap struct{ options Options }

// New returns the plugin. [core.New] reports configuration errors in the options.
func New(o Options) *OneTap {
	if o.Provider == "" {
		o.Provider = "google"
	}
	if o.Library == "" {
		o.Library = library
	}
	return &OneTap{o}
}

// oneTap is the plugin of one Auth.
type oneTap struct {
	options Options
	host    *core.PluginHost
	// used are the used nonces of this process. If the store has records, they are there instead.
	used once.Memory[string, struct{}]
}

// nonceResponse is the response to GET onetap.
type nonceResponse struct {
	// Nonce is empty if the browser needs no prompt.
	Nonce string `json:"nonce"`
}

// credentialRequest is the body of POST onetap.
type credentialRequest struct {
	Credential string `json:"credential"`
	RememberMe string `json:"rememberMe,omitempty"`
}

// Attach implements [core.Plugin].
func (p *OneTap) Attach(h *core.PluginHost) error {
	o := p.options
	for field, address := range map[string]string{"ConfigURL": o.ConfigURL, "Library": o.Library} {
		if address != "" && !secure(address) {
			h.AddConfigError(field + " is not an https URL: write one, such as https://idp.example/fedcm.json")
		}
	}
	t := &oneTap{options: o, host: h, used: once.Memory[string, struct{}]{Now: h.Now}}
	h.OfferOneTap(o.Provider, ui.OneTapPrompt{Action: name, Library: o.Library, ConfigURL: o.ConfigURL})
	h.AddAction(core.Action{
		Method: http.MethodGet, Name: name, Handle: t.get, Summary: "Get the nonce of a sign-in prompt",
		Input: struct{}{}, Output: nonceResponse{},
	})
	h.AddAction(core.Action{
		Method: http.MethodPost, Name: name, Handle: t.post, Summary: "Sign in with the ID token of a sign-in prompt",
		Input: credentialRequest{},
	})
	return nil
}

// secure reports whether address is an https URL, or an http URL of this machine.
func secure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	at, _ := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || at.IsLoopback())
}

// pending is the content of the cookie.
type pending struct {
	Nonce   string    `json:"n"`
	Expires time.Time `json:"e"`
	// Guest is the ID of the guest who is signed in, or empty.
	Guest string `json:"g,omitempty"`
}

// get returns the nonce of the browser. Several tabs share it, so that it is not replaced while a prompt is visible.
func (t *oneTap) get(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	guest, signedIn, err := t.current(ctx, c)
	if err != nil {
		return nil, err
	}
	if signedIn {
		return c.JSON(ctx, http.StatusOK, nonceResponse{}), nil
	}
	now := t.host.Now()
	var p pending
	if !c.EncryptedCookie(name, &p) || p.Guest != guest || p.Expires.Sub(now) < nonceTTL/2 {
		p = pending{Guest: guest, Expires: now.Add(nonceTTL)}
		if p.Nonce, err = t.host.NewToken(); err != nil {
			return nil, fmt.Errorf("onetap: %w", err)
		}
		if err := c.SetEncryptedCookie(name, p, nonceTTL); err != nil {
			return nil, fmt.Errorf("onetap: %w", err)
		}
	}
	return c.JSON(ctx, http.StatusOK, nonceResponse{p.Nonce}), nil
}

// current returns the ID of the guest who is signed in, and reports whether another user is.
func (t *oneTap) current(ctx context.Context, c *core.ActionRequest) (guest string, signedIn bool, err error) {
	session, err := c.Session(ctx)
	switch {
	case err != nil || session == nil:
		return "", false, err
	case slices.Contains(session.Methods, amr.Guest):
		return session.UserID, false, nil
	}
	return "", true, nil
}

var errNonce = &core.Problem{
	Status: http.StatusBadRequest, Code: "nonce_invalid",
	Detail: "The prompt has expired, was used before, or belongs to another browser. Sign in again.",
}

// post signs in the user of an ID token.
func (t *oneTap) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	var p pending
	if !c.EncryptedCookie(name, &p) {
		return t.again(c)
	}
	verified, err := c.VerifyIDToken(ctx, t.options.Provider, c.Field("credential"), p.Nonce, nil)
	if err != nil {
		return nil, t.refused(ctx, c, err)
	}
	switch err := t.use(ctx, p.Nonce); {
	case errors.Is(err, core.ErrConflict):
		c.Audit(ctx, audit.Event{
			Name: audit.SignIn, Outcome: audit.Refused, Reason: audit.ReasonReplayed, Provider: t.options.Provider,
		})
		return t.again(c)
	case err != nil:
		return nil, fmt.Errorf("onetap: use a nonce: %w", err)
	}
	c.DeleteEncryptedCookie(name)
	verified.StartedBy = p.Guest
	return c.SignIn(ctx, *verified)
}

// again returns the response to a request whose nonce is not valid: a browser gets the sign-in page with a new prompt.
func (t *oneTap) again(c *core.ActionRequest) (*core.Response, error) {
	if c.WantsJSON {
		return nil, errNonce
	}
	return c.Redirect(c.URL("signin", "callbackUrl", c.CallbackURL)), nil
}

// refused returns the error for an ID token that was not accepted. Invalid tokens are limited per network.
func (t *oneTap) refused(ctx context.Context, c *core.ActionRequest, err error) error {
	var problem *core.Problem
	if errors.As(err, &problem) && problem.Status != http.StatusServiceUnavailable {
		if limited := c.Allow(ctx, limit.AttemptKey, ""); limited != nil {
			return limited
		}
	}
	return err
}

// use remembers that a nonce was used. It returns [core.ErrConflict] if it was used before: of concurrent requests, one
// succeeds. With a store that holds in all processes.
func (t *oneTap) use(ctx context.Context, nonce string) error {
	hash := sha256.Sum256([]byte(nonce))
	key := base64.RawURLEncoding.EncodeToString(hash[:])
	expires := t.host.Now().Add(nonceRecordTTL).Truncate(time.Millisecond)
	records := t.host.Records()
	if records == nil {
		if !t.used.First(key, expires) {
			return core.ErrConflict
		}
		return nil
	}
	return records.CreateRecord(ctx, &store.Record{
		Kind: kindNonce, Key: key, Value: []byte("{}"), Expires: expires,
	})
}
