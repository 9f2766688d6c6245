package core

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/random"
)

// A visitor who opens a sign-in link is signed in as its recipient. A stranger can therefore have a visitor work under
// the stranger's own account by making them open a link to it (login CSRF). The browser that asked for a link is
// remembered in a cookie, as a keyed hash of token and address; in other browsers, and where a session is there, a page
// with a button comes first (docs/protocol.md §9.3).

// maxAskedLinks is how many links a browser is remembered to have asked for.
const maxAskedLinks = 4

// linkMark is what the cookie holds of a link: 16 bytes of an HMAC, from which even a short token cannot be guessed.
func (f *emailFlow) linkMark(secret, token, address string) string {
	mac := hmac.New(sha256.New, []byte("link asked for here\x00"+secret))
	mac.Write([]byte(f.ID + "\x00" + address + "\x00" + token))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// markSize is the length of a mark.
const markSize = 22

// askedLinks lists the marks of the cookie, the newest first.
func (f *emailFlow) askedLinks(c *call) []string {
	value, _ := c.jar.Get(c.cookies.askedLinks.name())
	return slices.DeleteFunc(strings.SplitN(value, ".", maxAskedLinks+1), func(mark string) bool { return len(mark) != markSize })
}

// rememberLink makes the cookie that remembers a link besides those asked for before. It lives as long as the link works.
func (f *emailFlow) rememberLink(c *call, token, address string) Cookie {
	marks := append([]string{f.linkMark(f.secrets[0], token, address)}, f.askedLinks(c)...)
	return f.askedCookie(c, marks[:min(len(marks), maxAskedLinks)])
}

// forgetLink takes a link that was used out of the cookie.
func (f *emailFlow) forgetLink(c *call, token, address string) []Cookie {
	marks := f.askedLinks(c)
	at := f.askedFor(c, token, address)
	switch {
	case at < 0:
		return nil
	case len(marks) == 1:
		spec := &c.cookies.askedLinks
		return []Cookie{spec.clear(spec.name())}
	}
	return []Cookie{f.askedCookie(c, slices.Delete(marks, at, at+1))}
}

func (f *emailFlow) askedCookie(c *call, marks []string) Cookie {
	cookie := c.cookies.askedLinks.set(strings.Join(marks, "."))
	cookie.HasMaxAge, cookie.MaxAge = true, int(f.MaxAge.Seconds())
	return cookie
}

// askedFor finds the mark of a link among those that this browser asked for, -1 when it did not. It takes the same time for each.
func (f *emailFlow) askedFor(c *call, token, address string) int {
	found := -1
	for _, secret := range f.secrets {
		want := f.linkMark(secret, token, address)
		for i, mark := range f.askedLinks(c) {
			if random.Same(mark, want) {
				found = i
			}
		}
	}
	return found
}

// asksFirst reports whether a request for a link is answered with the page that has the button. Only its POST uses the
// token then. Where links are always confirmed no browser is remembered.
func (f *emailFlow) asksFirst(c *call) bool {
	token, address := c.query.Get("token"), c.query.Get("email")
	if c.r.Method == "POST" || f.ConfirmLink == Off || token == "" {
		return false
	}
	return c.session.cookie.Any() || f.askedFor(c, token, address) < 0
}
