// Package negotiate reads the header fields of content negotiation and caching: what kind of client sends a request,
// and which caches may store a response. It knows no routes, cookies or sessions. Header names are canonical.
package negotiate

import (
	"net/http"
	"strconv"
	"strings"
)

// Client is the kind of client that requests a page of the application. It determines how a refusal is sent.
type Client int

const (
	// Program is a client that receives status codes and problem documents and is never redirected: an API client, a
	// script with fetch, a WebSocket, or a stream of server-sent events.
	Program Client = iota
	// Browser is a client that shows pages and follows redirects.
	Browser
	// HTMX is a client that inserts responses into its page, unless a response header redirects it.
	HTMX
	// Datastar is a client that executes the events of a response, whatever its status is.
	Datastar
)

// ClientOf returns the kind of client from the method and the headers of a request. Specific headers take precedence
// over Accept, because the requests of some scripts look like those of browsers.
func ClientOf(method string, h http.Header) Client {
	switch {
	case len(h["Hx-Request"]) > 0:
		return HTMX
	case len(h["Datastar-Request"]) > 0:
		return Datastar
	case isSocket(h), isXHR(h), accepts(h, "text/event-stream"):
		return Program
	case isTurbo(h): // it uses fetch, and follows redirects like a browser
		return Browser
	case WantsPage(method, h):
		return Browser
	}
	return Program
}

// isSocket reports whether a request opens a WebSocket (RFC 6455 section 4.1, RFC 8441 section 4).
func isSocket(h http.Header) bool {
	return strings.EqualFold(h.Get("Upgrade"), "websocket") || h.Get("Sec-Fetch-Mode") == "websocket"
}

// isXHR reports whether the request says that a script sent it.
func isXHR(h http.Header) bool {
	return strings.EqualFold(h.Get("X-Requested-With"), "XMLHttpRequest")
}

// isTurbo reports whether Hotwire Turbo sent the request, for a frame of its page or with a form.
func isTurbo(h http.Header) bool {
	return len(h["Turbo-Frame"]) > 0 || accepts(h, "text/vnd.turbo-stream.html")
}

// WantsPage reports whether the client requests a page rather than data: a browser navigation, with or without the HTMX
// and Turbo libraries. Clients that accept any media type, such as curl and fetch, request data.
func WantsPage(method string, h http.Header) bool {
	switch method {
	case "GET", "HEAD", "POST":
		return PrefersHTML(h["Accept"])
	}
	return false
}

// PrefersHTML reports whether Accept (RFC 9110 section 12.5.1) contains HTML with at least the weight of JSON. Media
// types are compared without case, and a weight of 0 excludes a type.
func PrefersHTML(accept []string) bool {
	html, json := 0.0, 0.0
	for _, line := range accept {
		for entry := range strings.SplitSeq(line, ",") {
			media, params, _ := strings.Cut(entry, ";")
			switch media = strings.TrimSpace(media); {
			case strings.EqualFold(media, "text/html"), strings.EqualFold(media, "text/*"),
				strings.EqualFold(media, "application/xhtml+xml"):
				html = max(html, weight(params))
			case strings.EqualFold(media, "application/json"):
				json = max(json, weight(params))
			}
		}
	}
	return html > 0 && html >= json
}

// weight returns the parameter q of a media range. It is 1 if there is none, and 0 if it is not a valid number.
func weight(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || q < 0 || q > 1 {
				return 0
			}
			return q
		}
	}
	return 1
}

// WantsURL reports whether the client requests {"url": …} instead of redirects, as the clients of Auth.js do.
func WantsURL(h http.Header) bool { return len(h["X-Auth-Return-Redirect"]) > 0 }

// AsksJSON reports whether the client of a POST has JSON in Accept and is not a client of Auth.js, which requests
// {"url": …} by a header. Such a client gets problem documents with their status codes, and {"url": …} where a browser
// would be redirected.
func AsksJSON(method string, h http.Header) bool {
	return method == http.MethodPost && !WantsURL(h) && !WantsPage(method, h) &&
		(accepts(h, "application/json") || accepts(h, "application/problem+json"))
}

// accepts reports whether Accept contains a media type, with any weight.
func accepts(h http.Header, media string) bool {
	for _, line := range h["Accept"] {
		for entry := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(entry, ";")
			if strings.EqualFold(strings.TrimSpace(name), media) {
				return true
			}
		}
	}
	return false
}

// AcceptsGzip reports whether the client accepts gzip.
func AcceptsGzip(h http.Header) bool {
	for _, line := range h["Accept-Encoding"] {
		for entry := range strings.SplitSeq(line, ",") {
			coding, params, _ := strings.Cut(entry, ";")
			if strings.EqualFold(strings.TrimSpace(coding), "gzip") && weight(params) > 0 {
				return true
			}
		}
	}
	return false
}
