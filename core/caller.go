package core

import (
	"strings"
)

// caller is the kind of client that requests a page of the application. It determines how a guard responds if it
// refuses the request.
type caller int

const (
	// program is a client that receives status codes and problem documents and is never redirected: an API client, a
	// script with fetch, a WebSocket, or a stream of server-sent events.
	program caller = iota
	// browser is a client that shows pages and follows redirects.
	browser
	// htmx is a client that inserts responses into its page, unless a response header redirects it.
	htmx
)

// caller returns the kind of client. A client with a bearer token is a program, whatever it accepts.
func (v *arrival) caller() caller {
	if v.byBearer() {
		return program
	}
	return callerOf(v.r)
}

// callerOf returns the kind of client from the headers of a request. Specific headers take precedence over Accept,
// because the requests of some scripts look like those of browsers.
func callerOf(r *Request) caller {
	switch {
	case len(r.Header["Hx-Request"]) > 0:
		return htmx
	case isSocket(r), isXHR(r), accepts(r, "text/event-stream"):
		return program
	case isTurbo(r): // it uses fetch, and follows redirects like a browser
		return browser
	case wantsPage(r):
		return browser
	}
	return program
}

// isSocket reports whether a request opens a WebSocket (RFC 6455 section 4.1, RFC 8441 section 4).
func isSocket(r *Request) bool {
	return strings.EqualFold(first(r.Header, "Upgrade"), "websocket") || first(r.Header, "Sec-Fetch-Mode") == "websocket"
}

// isXHR reports whether the request says that a script sent it.
func isXHR(r *Request) bool {
	return strings.EqualFold(first(r.Header, "X-Requested-With"), "XMLHttpRequest")
}

// isTurbo reports whether Hotwire Turbo sent the request, for a frame of its page or with a form.
func isTurbo(r *Request) bool {
	return len(r.Header["Turbo-Frame"]) > 0 || accepts(r, "text/vnd.turbo-stream.html")
}

// readsPages reports whether the client can show an HTML page when a guard refuses the request.
func (v *arrival) readsPages() bool {
	switch v.caller() {
	case browser:
		return true
	case htmx:
		return wantsPage(v.r)
	}
	return false
}
