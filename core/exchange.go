package core

import (
	"context"
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/form"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// exchange is one request on its way: what has been decided about it so far. Each station fills in its part and reads those of
// the stations before.
type exchange struct {
	*Auth
	r *Request

	// origin: the public address of the request and the cookies that belong to it.
	at      weburl.Origin
	origin  string // at, as text
	cookies *cookieSet
	jar     cookie.Jar
	// presented is what the request carries of the session, once joined.
	presented cookie.Joined
	joined    bool
	settled   bool // of several readings the good one is in front

	// route: which action of ours.
	action     string
	providerID string
	provider   *provider // nil: none named, or unknown
	query      weburl.Params

	// body and guards.
	fields form.Fields
	csrfResult
	callbackURL string
	// opening holds the CSRF and callback URL cookies that this request needs; every answer but errors carries them.
	opening []Cookie

	// answered is what a form_post provider said, where it comes on by a hop; nil: in this request.
	answered map[string]string

	// reference marks this request in the log and on the error page where no secret is configured to compute one.
	reference string
	nonce     string
}

// open settles origin, cookie set and cookies: all that the request hook needs too.
func (x *exchange) open() error {
	if x.pinned {
		x.at, x.origin = x.origins.Pinned, x.pinnedOrigin
		x.compareVisited(x.r)
	} else {
		at, err := x.resolveOrigin()
		if err != nil {
			return err
		}
		x.at, x.origin = at, at.String()
	}
	x.cookies = x.cookieSets[0]
	if x.at.Scheme == "https" {
		x.cookies = x.cookieSets[1]
	}
	x.jar = cookie.Parse(x.r.Header["Cookie"])
	return nil
}

func (x *exchange) resolveOrigin() (weburl.Origin, error) {
	h, hosts := x.r.Header, x.r.Hosts
	if authority, _, _ := weburl.SplitTarget(x.r.Target); authority != "" && len(hosts) == 1 {
		if _, err := weburl.ParseHost(hosts[0]); err == nil { // which of the two counts is no router's choice (RFC 9112 section 3.2.2)
			hosts = []string{authority}
		}
	}
	if !x.origins.TrustHost {
		return loopbackOrigin(x.r, hosts)
	}
	options := x.origins
	options.ForwardedTrusted = x.fromTrustedProxy()
	origin, err := weburl.ResolveOrigin(options, x.r.Scheme, hosts, h["X-Forwarded-Host"], h["X-Forwarded-Proto"])
	if err != nil {
		return origin, &badRequest{errorf(UntrustedHost, "%w", suspicion(err))}
	}
	return origin, nil
}

// fromTrustedProxy tells whether the peer may speak for others.
func (x *exchange) fromTrustedProxy() bool {
	if x.r.ProxyUntrusted {
		return false
	}
	if len(x.proxies) == 0 {
		return true
	}
	peer, ok := parsePeer(x.r.RemoteAddr)
	return ok && x.trustsProxy(peer)
}

// badRequest marks a request that is answered 400 "Bad request." rather than with a page.
type badRequest struct{ cause *Error }

func (e *badRequest) Error() string { return e.cause.Error() }
func (e *badRequest) Unwrap() error { return e.cause }

// route finds action and provider, by plain parsing of the raw target (WIRE 1).
func (x *exchange) route() error {
	if x.r.Method != "GET" && x.r.Method != "POST" {
		return &badRequest{errorf(UnknownAction, "method %.16q: the actions answer GET and POST", x.r.Method)}
	}
	action, provider, ok := weburl.Action(x.r.Target, x.basePath)
	if !ok {
		path, _, _ := strings.Cut(x.r.Target, "?")
		return &badRequest{errorf(UnknownAction, "no action of ours at %.200q: the routes are under %q; set BasePath to the path at which they are mounted, the prefix of a group included, and PublicPath to what a proxy removes from it", path, x.basePath)}
	}
	x.action, x.providerID = action, provider
	x.provider = x.byID[x.providerID]
	var err error
	if x.query, err = weburl.Query(x.r.Target); err != nil {
		return &badRequest{errorf(UnknownAction, "query: %w", err)}
	}
	return nil
}

// header returns the first value of a header under its canonical name.
func (x *exchange) header(name string) string { return first(x.r.Header, name) }

// readBody reads the fields of a POST.
func (x *exchange) readBody(ctx context.Context) error {
	if x.r.Method != "POST" {
		return nil
	}
	var err error
	x.fields, err = form.Read(ctx, x.r.Header["Content-Type"], x.r.Body)
	if err != nil {
		status := 400
		var tooLarge form.TooLarge
		if errors.As(err, &tooLarge) {
			status = 413
		}
		return &bodyError{status: status, cause: mistake(err)}
	}
	return nil
}

// bodyError is a body that cannot be read.
type bodyError struct {
	status int
	cause  error
}

func (e *bodyError) Error() string { return "core: request body: " + e.cause.Error() }
func (e *bodyError) Unwrap() error { return e.cause }

// base is the public URL of the auth routes.
func (x *exchange) base() string { return x.origin + x.publicBase }

// home is the public URL of the application.
func (x *exchange) home() string {
	if x.publicPath == "" {
		return x.origin
	}
	return x.origin + x.publicPath + "/"
}

// text returns a field of the body, else of the query.
func (x *exchange) text(name string) string {
	if s, ok := x.fields.Text(name); ok {
		return s
	}
	return x.query.Get(name)
}
