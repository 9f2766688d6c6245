// Package pageheaders collects the cookies and the caching headers that a visit adds to the page of an application,
// until the header of the response is written.
package pageheaders

import (
	"net/http"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/internal/negotiate"
)

// Part is what a page depends on.
type Part uint8

// The parts.
const (
	Token   Part = 1 << iota // a form of the page contains the CSRF token
	Session                  // the session was read
	Locale                   // a component was rendered in the user's language
)

// Renewal is the session that the cookies renew or clear.
type Renewal interface {
	// Replaced reports whether another response has replaced the session, so that the cookies must not be set.
	Replaced() bool
}

// Headers is the content that a visit adds to the response. It is safe for concurrent use.
type Headers struct {
	mu        sync.Mutex
	cookies   []setCookie
	parts     Part
	committed bool    // the collection has ended
	renewal   Renewal // nil: none
}

type setCookie struct{ name, line string }

// Keep collects a cookie, by its name and the value of Set-Cookie. It returns false if it is too late to set it. stores
// is false for a client that stores no cookies.
func (o *Headers) Keep(name, line string, stores bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.committed && stores {
		o.cookies = append(o.cookies, setCookie{name, line})
	}
	return !o.committed
}

// RenewedBy sets the session that the cookies renew or clear.
func (o *Headers) RenewedBy(r Renewal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewal = r
}

// Note records a part of the page. It returns false if the header of the response was already written.
func (o *Headers) Note(p Part) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.parts |= p
	return !o.committed
}

// Written reports whether the collection has ended.
func (o *Headers) Written() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.committed
}

// VaryLocale adds "Vary: Accept-Language" if a localized component was rendered, or if a streamed page may still render
// one (perhaps is true).
func (o *Headers) VaryLocale(h http.Header, perhaps bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.parts&Locale != 0 || perhaps {
		negotiate.AddVary(h, "Accept-Language")
	}
}

// Write writes the collected cookies and caching headers to the header of a response, and ends the collection. session
// is the name of the session cookie. bearer reports whether sessions are also read from the header Authorization.
func (o *Headers) Write(h http.Header, caching negotiate.Caching, session string, bearer bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.committed {
		return
	}
	o.committed = true
	personal := o.parts&(Token|Session) != 0
	late := len(o.cookies) > 0 && o.renewal != nil && o.renewal.Replaced()
	for _, c := range o.cookies {
		if (caching.Public || late) && strings.HasPrefix(c.name, session) {
			continue
		}
		h.Add("Set-Cookie", c.line)
		personal = true
	}
	o.cookies = nil
	if !personal {
		return
	}
	if !caching.Public && !caching.Closed {
		h.Add("Cache-Control", "private")
	}
	negotiate.AddVary(h, "Cookie")
	if bearer {
		negotiate.AddVary(h, "Authorization")
	}
}

// Leave ends the collection without a response. The auth routes respond instead of a page and set their own cookies.
func (o *Headers) Leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.committed = true
}
