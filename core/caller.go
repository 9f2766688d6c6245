package core

import (
	"strings"
)

// caller is what kind of client asks for a page of the application, as far as the answer depends on it that a guard
// gives in place of the page.
type caller int

const (
	// program gets statuses and problem documents, and is never redirected: a client of an API, a script that fetches, a
	// WebSocket, a stream of server-sent events.
	program caller = iota
	// browser shows pages and follows redirects.
	browser
	// htmx puts answers into a part of its page, unless a header sends it elsewhere.
	htmx
)

// caller is what kind of client has sent a request. Who presents a bearer token is a program, whatever it accepts.
func (v *arrival) caller() caller {
	if v.byBearer() {
		return program
	}
	return callerOf(v.r)
}

// callerOf reads what a request says about its client. What a client says of itself counts more than Accept: the
// requests of some scripts look like those of browsers.
func callerOf(r *Request) caller {
	switch {
	case len(r.Header["Hx-Request"]) > 0:
		return htmx
	case isSocket(r), isXHR(r), accepts(r, "text/event-stream"):
		return program
	case isTurbo(r): // it fetches, and follows redirects as a browser does, whatever the method
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

// isXHR reports whether a library says that it asks for a script rather than for the visitor.
func isXHR(r *Request) bool {
	return strings.EqualFold(first(r.Header, "X-Requested-With"), "XMLHttpRequest")
}

// isTurbo reports whether Hotwire Turbo asks: for a frame of its page, or with a form.
func isTurbo(r *Request) bool {
	return len(r.Header["Turbo-Frame"]) > 0 || accepts(r, "text/vnd.turbo-stream.html")
}

// readsPages reports whether what a guard refuses is told by a page.
func (v *arrival) readsPages() bool {
	switch v.caller() {
	case browser:
		return true
	case htmx:
		return wantsPage(v.r)
	}
	return false
}
