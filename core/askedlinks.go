package core

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/random"
)

// Who opens a sign-in link is signed in as its recipient. A stranger can therefore make somebody work under the stranger's own
// account by making them open a link to it (login CSRF). The browser that asked for a link is remembered in a cookie, as a keyed
// hash of token and address; anywhere else, and where somebody is signed in, a page with a button comes first.

// maxAskedLinks is how many links a browser is remembered to have asked for.
const maxAskedLinks = 4

// linkMark is what the cookie holds of a link: 16 bytes of an HMAC, which tell nothing about a short token.
func linkMark(secret string, p *EmailProvider, token, address string) string {
	mac := hmac.New(sha256.New, []byte("link asked for here\x00"+secret))
	mac.Write([]byte(p.ID + "\x00" + address + "\x00" + token))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// markSize is the length of a mark.
const markSize = 22

// askedLinks lists the marks of the cookie, the newest first.
func (x *exchange) askedLinks() []string {
	value, _ := x.jar.Get(x.cookies.askedLinks.name())
	return slices.DeleteFunc(strings.SplitN(value, ".", maxAskedLinks+1), func(mark string) bool { return len(mark) != markSize })
}

// rememberLink makes the cookie that remembers a link besides those asked for before. It lives as long as the link works.
func (x *exchange) rememberLink(p *EmailProvider, token, address string) Cookie {
	marks := append([]string{linkMark(x.secrets[0], p, token, address)}, x.askedLinks()...)
	return x.askedCookie(p, marks[:min(len(marks), maxAskedLinks)])
}

// forgetLink takes a link that was used out of the cookie.
func (x *exchange) forgetLink(p *EmailProvider, token, address string) []Cookie {
	marks := x.askedLinks()
	at := x.askedFor(p, token, address)
	switch {
	case at < 0:
		return nil
	case len(marks) == 1:
		spec := &x.cookies.askedLinks
		return []Cookie{spec.clear(spec.name())}
	}
	return []Cookie{x.askedCookie(p, slices.Delete(marks, at, at+1))}
}

func (x *exchange) askedCookie(p *EmailProvider, marks []string) Cookie {
	c := x.cookies.askedLinks.set(strings.Join(marks, "."))
	c.HasMaxAge, c.MaxAge = true, int(p.MaxAge.Seconds())
	return c
}

// askedFor finds the mark of a link among those that this browser asked for, -1 when it did not. It takes the same time for each.
func (x *exchange) askedFor(p *EmailProvider, token, address string) int {
	found := -1
	for _, secret := range x.secrets {
		want := linkMark(secret, p, token, address)
		for i, mark := range x.askedLinks() {
			if random.Same(mark, want) {
				found = i
			}
		}
	}
	return found
}

// asksFirst tells whether a request for a link is answered with the page that has the button. Only its POST uses the token then. Where
// links are always confirmed no browser is remembered.
func (x *exchange) asksFirst(p *EmailProvider) bool {
	token, address := x.query.Get("token"), x.query.Get("email")
	if x.r.Method == "POST" || p.ConfirmLink == Off || token == "" {
		return false
	}
	return x.sessionCookie().Any() || x.askedFor(p, token, address) < 0
}
