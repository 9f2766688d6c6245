// Package sessioncookies has the cookies with session tokens in a browser: those of the current session, those of an
// administrator's own session during an impersonation, and those of further accounts. Large tokens are split into
// chunks, and routers and proxies limit the size of all cookies together.
package sessioncookies

import (
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/internal/accountcookie"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/supersede"
)

// OtherHeaders is the space in bytes for everything else in a request's header: the browser's own fields, and the
// cookies of sign-ins in progress.
const OtherHeaders = 2500

// LimitError reports a session cookie that the router would refuse to read. The user would get status 431 until they
// delete the cookie.
type LimitError struct{ size, limit int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("the session cookie has %d bytes, and the router reads %d bytes of a request's header: "+
		"set its limit (ReadBufferSize of fiber.Config) to 16384 or more, or store less in the session", e.size, e.limit)
}

// Replacement is how a response of this process changed the session token of its request. A higher value takes
// precedence over a lower one.
type Replacement int

const (
	// Renewed means that the same session continues with a newer token.
	Renewed Replacement = iota + 1
	// Updated means that the same session continues with other claims.
	Updated
	// SignedOut means that the session has ended.
	SignedOut
	// Replaced means that another session started, or that the session got another ID.
	Replaced
)

// Memory remembers replaced session tokens.
type Memory = supersede.Memory[Replacement]

// Browser has the cookies of the browser that sent a request.
type Browser struct {
	Cookies *cookies.Set
	Jar     cookie.Jar
	// HeaderLimit is the number of bytes of a request's header that the router reads. Zero means no known limit.
	HeaderLimit int
	// Keys authenticate the cookies of further accounts. They are nil if no plugin allows several accounts.
	Keys accountcookie.Keys
}

// Actor returns the token of the administrator's own session.
func (b *Browser) Actor() cookie.Joined { return cookie.Join(b.Jar, b.Cookies.Session.Name()+"-actor") }

// ClearActor returns the cookies that remove the administrator's own session.
func (b *Browser) ClearActor() []cookie.Cookie { return b.clear(b.Actor()) }

func (b *Browser) clear(tokens cookie.Joined) (out []cookie.Cookie) {
	for _, name := range tokens.Present() {
		out = append(out, b.Cookies.Session.ClearName(name))
	}
	return out
}

// write returns the cookies for the chunks of a token.
func (b *Browser) write(chunks []cookie.Chunk, expires time.Time) []cookie.Cookie {
	spec, out := &b.Cookies.Session, make([]cookie.Cookie, 0, len(chunks))
	for _, chunk := range chunks {
		if chunk.Clear {
			out = append(out, spec.ClearName(chunk.Name))
			continue
		}
		c := spec.SetSession(chunk.Value, expires)
		c.Name = chunk.Name
		out = append(out, c)
	}
	return out
}

// checkSize returns a *LimitError if the router would refuse to read these cookies.
func (b *Browser) checkSize(all []cookie.Cookie) error {
	size := 0
	for _, c := range all {
		size += len(c.Name) + len(c.Value)
	}
	if b.HeaderLimit > 0 && size > b.HeaderLimit-OtherHeaders {
		return &LimitError{size, b.HeaderLimit}
	}
	return nil
}

// Carrier is the session token of a request, and its cookies or header field.
type Carrier struct {
	Browser
	// Tokens are the candidates for the token. With a bearer token they are only that token, even if it is invalid: a
	// client with a bearer token must never act as the user of a cookie.
	Tokens cookie.Joined
	// FromHeader reports that the token is from the Authorization header.
	FromHeader bool
	// Restored reports that the token is that of an administrator, after an impersonation.
	Restored bool
	// Waits reports that an impersonation has expired, and that a later request may restore the administrator's session.
	Waits bool
	// Renewed is the new token for a client with a bearer token.
	Renewed string

	memory   *Memory
	position uint64 // of memory when the request arrived
}

// Carrier returns the session token in the session cookie of a request that has just arrived.
func (b *Browser) Carrier(m *Memory) Carrier {
	return Carrier{
		Browser: *b, Tokens: cookie.Join(b.Jar, b.Cookies.Session.Name()), memory: m, position: m.Position(),
	}
}

// Value returns the session token of the request, valid or not. It is empty if there is none.
func (c *Carrier) Value() string { return c.Tokens.Value() }

// SetOne returns the cookie for a session token in the usual case: one cookie replaces one cookie.
func (c *Carrier) SetOne(value string, expires time.Time) (one cookie.Cookie, ok bool) {
	if c.FromHeader || c.HeaderLimit != 0 || c.Restored || !c.Tokens.One(value) {
		return one, false
	}
	return c.Cookies.Session.SetSession(value, expires), true
}

// Set returns the cookies for a session token: one cookie, or numbered chunks. It clears chunks of the request that the
// new value does not use. If expires is zero, the browser deletes the cookies when it closes. A client with a bearer
// token gets no cookie; Renewed is set instead.
func (c *Carrier) Set(value string, expires time.Time) ([]cookie.Cookie, error) {
	if c.FromHeader {
		if value != c.Value() {
			c.Renewed = value
		}
		return nil, nil
	}
	if one, ok := c.SetOne(value, expires); ok {
		return []cookie.Cookie{one}, nil
	}
	spec, limit := &c.Cookies.Session, c.HeaderLimit
	chunks, err := c.Tokens.Replace(value)
	if err != nil {
		return nil, err
	}
	if limit > 0 && len(value)+len(chunks)*len(spec.Name())+c.accountBytes() > limit-OtherHeaders {
		return nil, &LimitError{len(value), limit}
	}
	out := c.write(chunks, expires)
	if c.Restored {
		out = append(out, c.ClearActor()...)
	}
	return out, nil
}

// Impersonate returns the cookies of an impersonation: those of its session, and those with the session of the request,
// the administrator's own. All last until ends, so that the end of the impersonation is noticed. The error is a
// *LimitError if the router would refuse to read them.
func (c *Carrier) Impersonate(session []cookie.Cookie, ends time.Time) ([]cookie.Cookie, error) {
	chunks, err := c.Actor().Replace(c.Value())
	if err != nil {
		return nil, err
	}
	for i, one := range session {
		if !one.HasMaxAge || one.MaxAge > 0 {
			session[i] = c.Cookies.Session.SetSession(one.Value, ends)
			session[i].Name = one.Name
		}
	}
	all := append(session, c.write(chunks, ends)...)
	return all, c.checkSize(all)
}

// Clear returns the cookies that remove the session from the browser.
func (c *Carrier) Clear() []cookie.Cookie { return append(c.clear(c.Tokens), c.ClearActor()...) }

// ClearEnded returns the cookies that clear an ended session. It returns none if the browser has a newer session.
func (c *Carrier) ClearEnded() []cookie.Cookie {
	by, since := c.memory.Of(c.Value(), c.position)
	if since || by == Replaced || by == Updated || c.Waits {
		return nil
	}
	return c.Clear()
}

// Outdated reports whether the cookies of the session are not the ones that its token needs.
func (c *Carrier) Outdated() bool {
	value := c.Value()
	if c.FromHeader || c.Tokens.One(value) || c.Restored {
		return c.Restored
	}
	chunks, err := c.Tokens.Replace(value)
	if err != nil || len(chunks) != len(c.Tokens.Present()) {
		return err == nil
	}
	for _, chunk := range chunks {
		if chunk.Clear {
			return true
		}
	}
	return false
}

// NoteReplaced records that the response to this request replaces the session token of the request.
func (c *Carrier) NoteReplaced(by Replacement) {
	if value := c.Value(); value != "" {
		c.position = c.memory.Note(value, by)
	}
}

// MayRenew reports whether the response to this request may set a cookie derived from the session token of the request.
// updates is true if the request changes the session, which outweighs a renewal or an earlier change.
func (c *Carrier) MayRenew(updates bool) bool {
	by, since := c.memory.Of(c.Value(), c.position)
	switch {
	case by == 0, c.FromHeader && by != SignedOut: // such a client stores its token itself
		return true
	}
	switch by {
	case Renewed:
		return updates || !since
	case Updated:
		return updates
	}
	return false
}

// Replaced reports whether another response has replaced the session of this request.
func (c *Carrier) Replaced() bool { return !c.MayRenew(false) }
