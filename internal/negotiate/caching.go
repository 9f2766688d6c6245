package negotiate

import (
	"net/http"
	"strings"
)

// Caching is the caching policy that the handler has set in Cache-Control (RFC 9111 section 5.2.2).
type Caching struct {
	Public bool // shared caches may store the response
	Closed bool // no shared cache may store it, or none without revalidation
	Timed  bool // max-age allows any cache to store it
}

// CachingOf reads Cache-Control.
func CachingOf(h http.Header) (c Caching) {
	for directive := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, valued := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "public", "s-maxage":
			c.Public = true
		case "private", "no-cache", "no-store":
			c.Closed = c.Closed || !valued // with field names, the directive applies to these fields only
		case "max-age":
			c.Timed = value != "0"
		}
	}
	return c
}

// Lasting reports whether a cache may store the response for some time.
func (c Caching) Lasting() bool { return c.Timed && !c.Closed }

// Varies reports whether a Vary value contains a field name, or "*". Names are compared as a whole: X-Cookie-Notice
// is not Cookie.
func Varies(vary, field string) bool {
	for name := range strings.SplitSeq(vary, ",") {
		if name = strings.TrimSpace(name); name == "*" || strings.EqualFold(name, field) {
			return true
		}
	}
	return false
}

// AddVary adds a field name to Vary, unless it contains the name (RFC 9110 section 12.5.5).
func AddVary(h http.Header, field string) {
	if !Varies(strings.Join(h.Values("Vary"), ","), field) {
		h.Add("Vary", field)
	}
}

// JoinVary adds a field name to the single value of Vary, unless it contains the name.
func JoinVary(h http.Header, field string) {
	switch vary := h.Get("Vary"); {
	case vary == "":
		h.Set("Vary", field)
	case !Varies(vary, field):
		h.Set("Vary", vary+", "+field)
	}
}

// MissingVary returns the names in the Vary value more that are not in values, separated by commas.
func MissingVary(values []string, more string) string {
	said := strings.Join(values, ",")
	var missing []string
	for name := range strings.SplitSeq(more, ",") {
		if name = strings.TrimSpace(name); name != "" && !Varies(said, name) {
			missing = append(missing, name)
		}
	}
	return strings.Join(missing, ", ")
}

// IsPage reports whether a Content-Type is an HTML page. An empty one counts as a page, because net/http then detects
// the type from the body.
func IsPage(contentType string) bool {
	const page = "text/html"
	return contentType == "" || len(contentType) >= len(page) && strings.EqualFold(contentType[:len(page)], page)
}
