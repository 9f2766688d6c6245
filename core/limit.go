package core

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/ui"
)

// Attempt is what a Limit callback is asked about.
type Attempt string

// The attempts that guess something, or cost somebody something.
const (
	AttemptCredentials Attempt = "credentials"      // fields are about to be checked
	AttemptEmail       Attempt = "email"            // a sign-in link is about to be sent
	AttemptWebAuthn    Attempt = "webauthn-options" // a passkey challenge, with an e-mail or without
)

// LimitParams is an attempt that is about to be made.
type LimitParams struct {
	Attempt Attempt
	// Provider is the provider's ID.
	Provider string
	// Identifier is the e-mail address, in its canonical form; empty when there is none, and for credentials.
	Identifier string
	// Credentials are the fields of the form; nil except for credentials.
	Credentials map[string]string
	// Peer is whom to count: the address of the peer or, behind one of TrustedProxies, the one that it forwards; a network of
	// 64 bits for IPv6. Zero: not known.
	Peer netip.Prefix
	// Request is the request being answered; its RemoteAddr is the peer's, which may be a proxy.
	Request *Request
}

// tooMany is an attempt that came too soon.
type tooMany struct{ wait time.Duration }

func (e *tooMany) Error() string {
	return fmt.Sprintf("core: the Limit callback asks for %v of patience", e.wait)
}

// limit asks the Limit callback. A callback that fails stops the attempt: what it guards must not go on unguarded.
func (x *exchange) limit(ctx context.Context, p LimitParams) error {
	if x.callbacks.Limit == nil {
		return nil
	}
	p.Provider, p.Peer, p.Request = x.provider.id, x.peer(), x.r
	wait, err := guarded("Limit callback", func() (time.Duration, error) { return x.callbacks.Limit(ctx, p) })
	switch {
	case err != nil:
		return errorf(AuthError, "Limit callback: %w", err)
	case wait > 0:
		return &Error{Type: TooManyRequests, Cause: &tooMany{wait}}
	}
	return nil
}

// askPatience answers 429 (RFC 6585 section 4): a page for browsers, JSON for the others.
func (x *exchange) askPatience(ctx context.Context, e *tooMany, response *Response) *Response {
	seconds := strconv.FormatInt(int64((e.wait+time.Second-1)/time.Second), 10)
	response.Status = http.StatusTooManyRequests
	if x.wantsURL() || !x.wantsPage() {
		response.Header = http.Header{"Content-Type": contentJSON}
		response.Body = []byte(`{"message":"Too many attempts. Try again later."}`)
	} else {
		view := ui.ErrorView{Page: x.pageView(), Error: string(TooManyRequests), URL: x.home(), Host: hostOf(x.origin)}
		response = x.render(ctx, response, x.views.Error(view))
	}
	response.Header["Retry-After"] = []string{seconds}
	return response
}
