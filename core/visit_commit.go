package core

import (
	"strings"
	"sync"
)

// collected is what a visit sets with the answer. It is safe for concurrent use.
type collected struct {
	mu        sync.Mutex
	cookies   []Cookie // to be set
	tokenOut  bool     // a form of the page carries the CSRF token
	borne     bool     // the session was presented in a header
	localeOut bool     // the page may be in the language of the visitor
	committed bool     // nothing is collected any more
}

// keep keeps cookies for Commit; false: it is too late to set them.
func (o *collected) keep(at *arrival, cookies []Cookie) bool {
	if len(cookies) == 0 {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.committed {
		return false
	}
	if at.byBearer() { // it keeps no cookies
		return true
	}
	o.cookies = append(o.cookies, cookies...)
	return true
}

// note notes one of the facts.
func (o *collected) note(fact *bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	*fact = true
}

// written reports whether the collecting has ended.
func (o *collected) written() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.committed
}

// vary says that a page follows the language of its visitor: one on which a component was drawn, and one that is
// streamed and may draw it yet, where perhaps is true.
func (o *collected) vary(h HeaderWriter, perhaps bool) {
	const field = "Accept-Language"
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.localeOut && !perhaps {
		return
	}
	if !follows(varyOf(h), field) {
		h.Add("Vary", field)
	}
}

// caching is what a handler says of who may keep its answer.
type caching struct{ unsaid, public, lasting bool }

func cachingOf(h HeaderWriter) caching {
	said := h.Get("Cache-Control")
	if said == "" {
		return caching{unsaid: true}
	}
	return caching{public: isPublic(said), lasting: lasts(said)}
}

// write adds the cookies that were collected to the header of an answer, and ends the collecting.
func (o *collected) write(at *arrival, h HeaderWriter, caching caching) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.committed {
		return
	}
	o.committed = true
	personal := o.tokenOut || o.borne
	for _, c := range o.cookies {
		if caching.public && strings.HasPrefix(c.Name, at.cookies.session.name()) {
			continue
		}
		h.Add("Set-Cookie", c.String())
		personal = true
	}
	o.cookies = nil
	if !personal {
		return
	}
	if caching.unsaid || caching.lasting && !caching.public {
		h.Add("Cache-Control", "private")
	}
	vary := varyOf(h)
	if !follows(vary, "Cookie") {
		h.Add("Vary", "Cookie")
	}
	if at.bearers && !follows(vary, "Authorization") {
		h.Add("Vary", "Authorization")
	}
}

// varyOf returns all values of the Vary field, or the first one if the header cannot list them.
func varyOf(h HeaderWriter) string {
	if all, ok := h.(interface{ Values(name string) []string }); ok {
		return strings.Join(all.Values("Vary"), ",")
	}
	return h.Get("Vary")
}

// leave ends the collecting without an answer: the auth routes answer in place of a page, and set their own cookies.
func (o *collected) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.committed = true
}

// isPublic reports whether Cache-Control lets shared caches keep an answer (RFC 9111 section 5.2.2).
func isPublic(cacheControl string) bool {
	for directive := range strings.SplitSeq(strings.ToLower(cacheControl), ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(directive), "=")
		if name == "public" || name == "s-maxage" {
			return true
		}
	}
	return false
}

// lasts reports whether Cache-Control gives an answer a time for which any cache may keep it: max-age without "private"
// and the like is no less than an invitation (RFC 9111 section 3).
func lasts(cacheControl string) (lasting bool) {
	for directive := range strings.SplitSeq(strings.ToLower(cacheControl), ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(directive), "="); name {
		case "private", "no-store", "no-cache":
			return false
		case "max-age":
			lasting = value != "0"
		}
	}
	return lasting
}

// isPage reports whether a Content-Type is that of a page; empty: net/http looks at the body.
func isPage(contentType string) bool {
	const page = "text/html"
	return contentType == "" || len(contentType) >= len(page) && strings.EqualFold(contentType[:len(page)], page)
}
