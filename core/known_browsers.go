package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/random"
)

// An attacker whose attempts use up the limit of a name could lock out its owner. Therefore a cookie identifies a
// browser in which the owner has signed in before, by any method. Attempts of this browser are counted separately:
// attackers cannot make it wait, and it gets no more guesses than they have. An attacker who steals the cookie gets the
// use of that separate count and nothing else.

// maxPeople is the maximum number of users in the cookie. knownFor is the lifetime of the cookie.
const (
	maxPeople = 8
	knownFor  = 180 * 24 * time.Hour
)

// knownCookie is the name of the cookie among the plugin cookies. knownPurpose is the purpose that its encryption key
// is derived for.
const (
	knownCookie  = "known"
	knownPurpose = "known browser"
)

// knownBrowsers reads and writes the cookie. It is nil if known browsers are off.
type knownBrowsers struct {
	seals *partSeals
	now   func() time.Time
}

// knownBrowser is the content of the cookie.
type knownBrowser struct {
	ID string `json:"b"`
	// People contains an entry for each user, the most recent first. An entry contains the hashes of the browser's ID with
	// each name of the user, separated by dots.
	People []string `json:"p"`
}

// marks returns the entry of a user with these names.
func (b *knownBrowser) marks(names []string) string {
	var all []string
	for _, name := range names {
		if mark := b.mark(name); name != "" && !slices.Contains(all, mark) {
			all = append(all, mark)
		}
	}
	return strings.Join(all, ".")
}

// mark returns the hash of a name in its canonical form. The Limiter counts names that differ only in accents as one,
// but they can belong to different users. A browser that is known for one of them is not known for the others.
func (b *knownBrowser) mark(name string) string {
	sum := sha256.Sum256([]byte(b.ID + "\x00" + canonicalName(name)))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

func (k *knownBrowsers) read(c *call) (b knownBrowser) {
	spec := c.partCookie(knownCookie)
	value, there := c.jar.Get(spec.name())
	if !there || k.seals.open(knownPurpose, value, &b) != nil {
		return knownBrowser{}
	}
	return b
}

// of returns the ID of a browser that is known for a name, and "" for other browsers.
func (k *knownBrowsers) of(c *call, name string) string {
	if k == nil || name == "" {
		return ""
	}
	b := k.read(c)
	mark, id := b.mark(name), ""
	for _, person := range b.People {
		for known := range strings.SplitSeq(person, ".") {
			if random.Same(known, mark) {
				id = b.ID
			}
		}
	}
	return id
}

// anyID returns the ID of a browser that is known for at least one name, and "" for other browsers.
func (k *knownBrowsers) anyID(c *call) string {
	if k == nil {
		return ""
	}
	if b := k.read(c); len(b.People) > 0 {
		return b.ID
	}
	return ""
}

// remember returns the cookie for a browser in which a user with these names has signed in. The names are the text that
// the user typed, their email address and their ID.
func (k *knownBrowsers) remember(ctx context.Context, c *call, names ...string) []Cookie {
	if k == nil || strings.Join(names, "") == "" {
		return nil
	}
	b := k.read(c)
	if b.ID == "" {
		id, err := randomHex(c.rand, 16)
		if err != nil {
			c.log.failure(ctx, asError(err, ErrAuth), c.attrs()...)
			return nil
		}
		b.ID = id
	}
	marks := b.marks(names)
	others := slices.DeleteFunc(b.People, func(person string) bool {
		for mark := range strings.SplitSeq(marks, ".") {
			if slices.Contains(strings.Split(person, "."), mark) {
				return true
			}
		}
		return false
	})
	b.People = append([]string{marks}, others[:min(len(others), maxPeople-1)]...)
	expires := k.now().Add(knownFor)
	sealed, err := k.seals.seal(knownPurpose, b, expires)
	if err != nil {
		c.log.failure(ctx, asError(err, ErrAuth), c.attrs()...)
		return nil
	}
	spec := c.partCookie(knownCookie)
	cookie := spec.setUntil(sealed, expires)
	cookie.HasMaxAge, cookie.MaxAge = true, int(knownFor.Seconds())
	return []Cookie{cookie}
}
