package core

import (
	"net/http"
	"strconv"
	"strings"
)

// wantsPage reports whether the client asks for a page rather than for data: what a browser navigates to, with or
// without the HTMX and Turbo libraries. Clients that accept anything, as curl and fetch do, ask for data.
func wantsPage(r *Request) bool {
	switch r.Method {
	case "GET", "HEAD", "POST":
		return prefersHTML(r.Header["Accept"])
	}
	return false
}

// prefersHTML reads Accept (RFC 9110 section 12.5.1): it names HTML, and with no less weight than JSON. Types are
// compared without regard to case, and a weight of 0 refuses.
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

// weight is the parameter q of a media range, 1 when there is none and 0 when it is no number.
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

// wantsURL reports whether the client asked for {"url": …} in place of redirects.
func wantsURL(r *Request) bool { return len(r.Header["X-Auth-Return-Redirect"]) > 0 }

// asksJSON reports whether a client that posts names JSON in Accept, and is none of Auth.js, which asks for
// {"url": …} by a header of its own: it gets problem documents with their statuses, and {"url": …} where a browser
// would be redirected.
func asksJSON(r *Request) bool {
	return r.Method == http.MethodPost && !wantsURL(r) && !wantsPage(r) &&
		(accepts(r, "application/json") || accepts(r, "application/problem+json"))
}

// accepts reports whether Accept names a media type, whatever its weight.
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

// wantsData reports whether the client asks for JSON rather than for pages.
func (c *call) wantsData() bool { return wantsURL(c.r) || !wantsPage(c.r) }
