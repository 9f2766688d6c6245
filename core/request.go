package core

import (
	"net/http"

	"github.com/latchkey-go/latchkey/core/request"
	"github.com/latchkey-go/latchkey/internal/forwarded"
	"github.com/latchkey-go/latchkey/internal/negotiate"
)

// Request is an HTTP request with raw, unvalidated values, as an adapter received it. See [request.Request] in package
// core/request for its fields.
type Request = request.Request

// MetadataRequest returns a request with the metadata of a call that no HTTP adapter has received, such as a
// metadata.MD of gRPC. Use it to read the session with [Auth.Visit], [Auth.Session] or [Auth.Token]. Names are
// case-insensitive. ":authority" becomes the host; other pseudo-header fields are ignored.
//
// Set Config.URL, because the name of a gRPC server is not that of the site. Set RemoteAddr of the result if the peer
// is known.
func MetadataRequest(metadata map[string][]string) *Request { return request.FromMetadata(metadata) }

// isSafe reports whether a method is safe (RFC 9110 section 9.2.1).
func isSafe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// wantsPage reports whether the client requests a page rather than data; see [negotiate.WantsPage].
func wantsPage(r *Request) bool { return negotiate.WantsPage(r.Method, r.Header) }

// wantsURL reports whether the client requests {"url": …} instead of redirects, as the clients of Auth.js do.
func wantsURL(r *Request) bool { return negotiate.WantsURL(r.Header) }

// received returns the parts of a request that proxies may have changed.
func received(r *Request) forwarded.Request {
	return forwarded.Request{
		Scheme: r.Scheme, Target: r.Target, RemoteAddr: r.RemoteAddr, ProxyUntrusted: r.ProxyUntrusted, Hosts: r.Hosts,
		Header: r.Header,
	}
}
