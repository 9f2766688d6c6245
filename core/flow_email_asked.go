package core

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/random"
)

// A visitor who opens a sign-in link is signed in as its recipient. A stranger can therefore have a visitor work under
// the stranger's own account by making them open a link to it (login CSRF). The browser that asked for a link is
// remembered in a cookie, as a keyed hash of token and address; in other browsers, and where a session is there, a page
// with a button comes first (docs/protocol.md §9.3).

// maxAskedLinks is how many links a browser is remembered to have asked for.
const maxAskedLinks = 4

// askedLinks are the links that a browser asked for, as its cookie remembers them.
type askedLinks struct {
	secrets  []string
	provider string
	maxAge   time.Duration // of a link, and so of the cookie
}

// mark is what the cookie holds of a link: 16 bytes of an HMAC, from which even a short token cannot be guessed.
func (l *askedLinks) mark(secret, token, address string) string {
	mac := hmac.New(sha256.New, []byte("link asked for here\x00"+secret))
	mac.Write([]byte(l.provider + "\x00" + address + "\x00" + token))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// markSize is the length of a mark.
const markSize = 22

// in lists the marks of the cookie, the newest first.
func (l *askedLinks) in(c *call) []string {
	value, _ := c.jar.Get(c.cookies.askedLinks.name())
	marks := strings.SplitN(value, ".", maxAskedLinks+1)
	return slices.DeleteFunc(marks, func(mark string) bool { return len(mark) != markSize })
}

// remember makes the cookie that remembers a link besides those asked for before. It lives as long as the link works.
func (l *askedLinks) remember(c *call, token, address string) Cookie {
	marks := append([]string{l.mark(l.secrets[0], token, address)}, l.in(c)...)
	return l.cookie(c, marks[:min(len(marks), maxAskedLinks)])
}

// forget takes a link that was used out of the cookie.
func (l *askedLinks) forget(c *call, token, address string) []Cookie {
	marks := l.in(c)
	at := l.find(c, token, address)
	switch {
	case at < 0:
		return nil
	case len(marks) == 1:
		spec := &c.cookies.askedLinks
		return []Cookie{spec.clear(spec.name())}
	}
	return []Cookie{l.cookie(c, slices.Delete(marks, at, at+1))}
}

func (l *askedLinks) cookie(c *call, marks []string) Cookie {
	cookie := c.cookies.askedLinks.set(strings.Join(marks, "."))
	cookie.HasMaxAge, cookie.MaxAge = true, int(l.maxAge.Seconds())
	return cookie
}

// find finds the mark of a link among those that this browser asked for, -1 when it did not. It takes the same time for
// each.
func (l *askedLinks) find(c *call, token, address string) int {
	found := -1
	for _, secret := range l.secrets {
		want := l.mark(secret, token, address)
		for i, mark := range l.in(c) {
			if random.Same(mark, want) {
				found = i
			}
		}
	}
	return found
}
