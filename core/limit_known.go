package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/random"
)

// A stranger who makes a name wait by guessing at it could lock its owner out. A browser in which the owner has signed
// in before is therefore told apart by a cookie, and what it attempts is counted against itself alone: it neither waits
// for strangers nor guesses more than they do. Somebody who takes the cookie gets that count, and nothing else.

// maxPeople is how many people a browser is known for, and knownFor how long.
const (
	maxPeople = 8
	knownFor  = 180 * 24 * time.Hour
)

// knownCookie is the name of the cookie among those of parts, and what its key is derived for.
const (
	knownCookie  = "known"
	knownPurpose = "known browser"
)

// knownBrowsers keeps the cookie. nil: off.
type knownBrowsers struct {
	seals *partSeals
	now   func() time.Time
}

// knownBrowser is what the cookie holds.
type knownBrowser struct {
	ID string `json:"b"`
	// People are hashes of ID and a name, the newest first.
	People []string `json:"p"`
}

func (b *knownBrowser) mark(name string) string {
	sum := sha256.Sum256([]byte(b.ID + "\x00" + name))
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

// of is the ID of a browser that is known for a name, empty for another.
func (k *knownBrowsers) of(c *call, name string) string {
	if k == nil || name == "" {
		return ""
	}
	b := k.read(c)
	mark, id := b.mark(name), ""
	for _, known := range b.People {
		if random.Same(known, mark) {
			id = b.ID
		}
	}
	return id
}

// remember makes the cookie of a browser in which the owner of a name has signed in.
func (k *knownBrowsers) remember(ctx context.Context, c *call, name string) []Cookie {
	if k == nil || name == "" {
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
	mark := b.mark(name)
	others := slices.DeleteFunc(b.People, func(known string) bool { return known == mark })
	b.People = append([]string{mark}, others[:min(len(others), maxPeople-1)]...)
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
