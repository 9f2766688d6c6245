package core

import (
	"strings"
	"sync"
)

// collected is what a visit adds to the response. It is safe for concurrent use.
type collected struct {
	mu          sync.Mutex
	cookies     []Cookie   // to be set
	tokenOut    bool       // a form of the page carries the CSRF token
	sessionRead bool       // the response depends on the session
	localeOut   bool       // the page may be in the user's language
	committed   bool       // nothing is collected any more
	renewal     *presented // the session that cookies renew; nil: none
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

// renewedBy notes the session that later cookies renew or clear.
func (o *collected) renewedBy(p *presented) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewal = p
}

// note sets one of the flags; false: the header of the response has been written.
func (o *collected) note(flag *bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	*flag = true
	return !o.committed
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

// caching is what the Cache-Control of a handler says (RFC 9111 section 5.2.2).
type caching struct {
	public bool // shared caches may keep the response
	closed bool // no shared cache may, or none without asking again
	timed  bool // max-age lets any cache keep it for a time
}

func cachingOf(h HeaderWriter) (c caching) {
	for directive := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, valued := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "public", "s-maxage":
			c.public = true
		case "private", "no-cache", "no-store":
			c.closed = c.closed || !valued // with field names it is about those fields alone
		case "max-age":
			c.timed = value != "0"
		}
	}
	return c
}

// lasting reports whether any cache may keep a response for a time.
func (c caching) lasting() bool { return c.timed && !c.closed }

// write adds the cookies that were collected to the header of an answer, and ends the collecting.
func (o *collected) write(at *arrival, h HeaderWriter, caching caching) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.committed {
		return
	}
	o.committed = true
	personal := o.tokenOut || o.sessionRead
	late := len(o.cookies) > 0 && o.renewal != nil && !o.renewal.mayRenew(false)
	for _, c := range o.cookies {
		if (caching.public || late) && strings.HasPrefix(c.Name, at.cookies.session.name()) {
			continue
		}
		h.Add("Set-Cookie", c.String())
		personal = true
	}
	o.cookies = nil
	if !personal {
		return
	}
	if !caching.public && !caching.closed {
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

// isPage reports whether a Content-Type is that of a page; empty: net/http looks at the body.
func isPage(contentType string) bool {
	const page = "text/html"
	return contentType == "" || len(contentType) >= len(page) && strings.EqualFold(contentType[:len(page)], page)
}
