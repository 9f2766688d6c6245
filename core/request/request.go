// Package request has the HTTP request that adapters pass to package core.
package request

import (
	"encoding"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/internal/panics"
)

// Request is an HTTP request with raw, unvalidated values, as an adapter received it. Core parses the target, host,
// cookies and body itself, once and strictly, because routers parse them in different ways. A Request must not change
// while core uses it.
type Request struct {
	// Method is the HTTP method in upper case.
	Method string
	// Target is the unchanged request target (RFC 9112 section 3.2): path and query, percent-encoded.
	Target string
	// Path is the decoded path that the router matched. Set it if it can differ from the path of Target because a prefix
	// was stripped or a middleware rewrote the path. core.PathPrefix compares both. If Path is empty, the path of Target
	// is used.
	Path string
	// MountPrefix is the prefix of Path that belongs to the handler's group or sub-application, if the router provides it.
	// core.PathPrefix also compares the rest of Path.
	MountPrefix string
	// Hosts are the unchanged values of the Host header. A request is rejected unless there is exactly one.
	Hosts []string
	// Scheme is "https" if the connection uses TLS, else "http". Do not apply forwarded headers; core does that.
	Scheme string
	// RemoteAddr is the peer's address as host:port. If TrustedProxies is set, it decides whether forwarded headers are
	// trusted.
	RemoteAddr string
	// ProxyUntrusted means that the peer is not a trusted proxy according to the router's own settings. Forwarded headers
	// are then ignored, whatever TrustedProxies contains. It is false if the router has no such settings.
	ProxyUntrusted bool
	// HeaderLimit is the maximum size of a request header in bytes that the router accepts. Zero means that the limit is
	// larger than any session needs. Core does not set a session that would exceed it.
	HeaderLimit int
	// Header contains the header fields with canonical names. Values may be shared with the router's request.
	Header http.Header
	// Body is the request body, or nil. Core reads it for POST requests only, up to a size limit.
	Body io.Reader
	// ContentLength is the declared length of the body in bytes. Zero or less means unknown. If it is known and Body is at
	// its end, core reports that a middleware has read the body.
	ContentLength int64
}

var (
	_ fmt.Formatter          = (*Request)(nil)
	_ encoding.TextMarshaler = (*Request)(nil)
)

// path returns the target without its query.
func (r Request) path() string {
	path, _, _ := strings.Cut(r.Target, "?")
	return panics.Bounded(path)
}

// String returns the method and the path, without query, headers and body.
func (r Request) String() string { return fmt.Sprintf("%s %q", r.Method, r.path()) }

// Format writes String for every fmt verb.
func (r Request) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// LogValue returns the method and the path.
func (r Request) LogValue() slog.Value {
	return slog.GroupValue(slog.String("method", r.Method), slog.String("path", r.path()))
}

// MarshalText returns String, for encoding/json and similar packages.
func (r Request) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// FromMetadata returns a request with the metadata of a call that no HTTP adapter has received. Names are
// case-insensitive. ":authority" becomes the host; other pseudo-header fields are ignored.
func FromMetadata(metadata map[string][]string) *Request {
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
