package core

import (
	"io"
	"net/http"
	"strings"
)

// Request is one HTTP request as an adapter saw it: raw values, nothing decided. Core parses target, host, cookies and
// body itself, once and strictly, because routers disagree on all of them. A Request is read-only once it is handed
// over.
type Request struct {
	// Method is the HTTP method, upper-case.
	Method string
	// Target is the request target as it came in (RFC 9112 section 3.2): path and query, still percent-encoded.
	Target string
	// Path is the decoded path that the router matched, if it can differ from the path of Target because a prefix was
	// stripped or a middleware rewrote the path. [Under] compares both. Empty means the path of Target.
	Path string
	// MountPrefix is the beginning of Path that belongs to the group or sub-application of the handler, if the router
	// tells. [Under] compares the rest of Path too.
	MountPrefix string
	// Hosts are the values of the Host header as they came in; more or fewer than one is refused.
	Hosts []string
	// Scheme is "https" when the connection itself is TLS, else "http". Forwarded headers are core's business.
	Scheme string
	// RemoteAddr is the peer's address, host:port; it decides whether forwarded headers are believed when TrustedProxies
	// is set.
	RemoteAddr string
	// ProxyUntrusted says that the router's own settings call the peer no trusted proxy: forwarded headers are then
	// ignored, whatever TrustedProxies says. False where a router has no such settings.
	ProxyUntrusted bool
	// HeaderLimit is how many bytes of a request's header the router reads before it refuses the request; zero: more than
	// any session needs. A session that would not come back is not set.
	HeaderLimit int
	// Header holds the header fields under their canonical names. Values may be shared with the router's request.
	Header http.Header
	// Body is the request body, nil for none. Core reads at most its limit, and only on POST.
	Body io.Reader
	// ContentLength is the declared length of the body in bytes. Zero or less means unknown. If it is known and Body has
	// nothing left, core reports that a middleware has read the body.
	ContentLength int64
}

// MetadataRequest returns a request with the header fields of a call that no HTTP adapter has received, such as the
// metadata of gRPC (a metadata.MD), to read its session with [Auth.Visit], [Auth.Session] or [Auth.Token]. Names may
// have any case; ":authority" becomes the host, and other pseudo-header fields are left out.
//
// Set Config.URL, as the name of a gRPC server is not that of the site. Set RemoteAddr of the result where the peer is
// known.
func MetadataRequest(metadata map[string][]string) *Request {
	r := &Request{Method: http.MethodPost, Target: "/", Scheme: "http", Header: make(http.Header, len(metadata))}
	for name, values := range metadata {
		switch {
		case strings.EqualFold(name, ":authority"):
			r.Hosts = values
		case !strings.HasPrefix(name, ":"):
			name = http.CanonicalHeaderKey(name)
			r.Header[name] = append(r.Header[name], values...)
		}
	}
	if len(r.Hosts) == 0 {
		r.Hosts = r.Header["Host"]
	}
	return r
}

// first returns the first value of a header under its canonical name.
func first(h http.Header, name string) string {
	if all := h[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// isSafe reports whether a method only asks (RFC 9110 section 9.2.1).
func isSafe(method string) bool { return method == http.MethodGet || method == http.MethodHead }
