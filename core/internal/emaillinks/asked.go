// Package emaillinks remembers sign-in links that were sent by email: in the browsers that requested them, and in the
// store.
package emaillinks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/random"
)

// Opening a sign-in link signs a user in as its recipient. An attacker could therefore make a user open a link to the
// attacker's account, and the user would work there without noticing (login CSRF). A cookie therefore remembers that
// this browser requested the link, as a keyed hash of token and address. In any other browser, and in one that has a
// session, a page with a button is shown first (docs/protocol.md §9.3).

// maxAskedLinks is the number of requested links that a browser remembers.
const maxAskedLinks = 4

// Asked reads and writes the cookie with the links that a browser has requested.
type Asked struct {
	Secrets  []string
	Provider string
	MaxAge   time.Duration // lifetime of a link and of the cookie
}

// Browser has the cookies of a request, and the specification of the cookie.
type Browser struct {
	Jar  cookie.Jar
	Spec *cookies.Spec
}

// mark returns the cookie's entry for a link: 16 bytes of an HMAC, so that an attacker with the cookie cannot guess
// even a short token.
func (l *Asked) mark(secret, token, address string) string {
	mac := hmac.New(sha256.New, []byte("link asked for here\x00"+secret))
	mac.Write([]byte(l.Provider + "\x00" + address + "\x00" + token))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// markSize is the length of a mark.
const markSize = 22

// in returns the marks in the cookie, the newest first.
func (l *Asked) in(b Browser) []string {
	value, _ := b.Jar.Get(b.Spec.Name())
	marks := strings.SplitN(value, ".", maxAskedLinks+1)
	return slices.DeleteFunc(marks, func(mark string) bool { return len(mark) != markSize })
}

// Remember returns the cookie with a link added. It expires when the link does.
func (l *Asked) Remember(b Browser, token, address string) cookie.Cookie {
	marks := append([]string{l.mark(l.Secrets[0], token, address)}, l.in(b)...)
	return l.cookie(b, marks[:min(len(marks), maxAskedLinks)])
}

// Forget returns the cookie without a link that was used.
func (l *Asked) Forget(b Browser, token, address string) []cookie.Cookie {
	marks := l.in(b)
	at := l.find(b, token, address)
	switch {
	case at < 0:
		return nil
	case len(marks) == 1:
		return []cookie.Cookie{b.Spec.Clear()}
	}
	return []cookie.Cookie{l.cookie(b, slices.Delete(marks, at, at+1))}
}

func (l *Asked) cookie(b Browser, marks []string) cookie.Cookie {
	c := b.Spec.Set(strings.Join(marks, "."))
	c.HasMaxAge, c.MaxAge = true, int(l.MaxAge.Seconds())
	return c
}

// find returns the index of a link's mark in the cookie, or -1 if this browser did not request the link. It compares
// all marks, in constant time.
func (l *Asked) find(b Browser, token, address string) int {
	found := -1
	for _, secret := range l.Secrets {
		want := l.mark(secret, token, address)
		for i, mark := range l.in(b) {
			if random.Same(mark, want) {
				found = i
			}
		}
	}
	return found
}

// Has reports whether this browser has requested a link.
func (l *Asked) Has(b Browser, token, address string) bool { return l.find(b, token, address) >= 0 }

// Hash returns the lower-case hex SHA-256 of value followed by secret. Auth.js protects CSRF cookies and the tokens of
// sign-in links with it.
func Hash(value, secret string) string {
	sum := sha256.Sum256([]byte(value + secret))
	return hex.EncodeToString(sum[:])
}

// Hashes returns the accepted hashes of value: one for each secret, and one for all secrets joined with commas, which
// is the hash that Auth.js computes for a list of secrets.
func Hashes(value string, secrets []string) []string {
	var all []string
	for _, s := range secrets {
		all = append(all, Hash(value, s))
	}
	if len(secrets) > 1 {
		all = append(all, Hash(value, strings.Join(secrets, ",")))
	}
	return all
}
