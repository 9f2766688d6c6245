package core

import (
	"net/http"
	"strconv"
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

// wantsPage reports whether the client requests a page rather than data: a browser navigation, with or without the HTMX
// and Turbo libraries. Clients that accept any media type, such as curl and fetch, request data.
func wantsPage(r *Request) bool {
	switch r.Method {
	case "GET", "HEAD", "POST":
		return prefersHTML(r.Header["Accept"])
	}
	return false
}

// prefersHTML reports whether Accept (RFC 9110 section 12.5.1) contains HTML with at least the weight of JSON. Media
// types are compared without case, and a weight of 0 excludes a type.
func prefersHTML(accept []string) bool {
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

// wantsURL reports whether the client requests {"url": …} instead of redirects, as the clients of Auth.js do.
func wantsURL(r *Request) bool { return len(r.Header["X-Auth-Return-Redirect"]) > 0 }

// asksJSON reports whether the client of a POST has JSON in Accept and is not a client of Auth.js, which requests
// {"url": …} by a header. Such a client gets problem documents with their status codes, and {"url": …} where a browser
// would be redirected.
func asksJSON(r *Request) bool {
	return r.Method == http.MethodPost && !wantsURL(r) && !wantsPage(r) &&
		(accepts(r, "application/json") || accepts(r, "application/problem+json"))
}

// accepts reports whether Accept contains a media type, with any weight.
func accepts(r *Request, media string) bool {
	for _, line := range r.Header["Accept"] {
		for entry := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(entry, ";")
			if strings.EqualFold(strings.TrimSpace(name), media) {
				return true
			}
		}
	}
	return false
}

// wantsData reports whether the client requests JSON rather than pages.
func (c *call) wantsData() bool { return wantsURL(c.r) || !wantsPage(c.r) }
