// Package knownbrowser has the content of the cookie that identifies a browser in which a user has signed in before. It
// contains no names, only hashes of them.
package knownbrowser

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/internal/mailaddr"
	"github.com/latchkey-go/latchkey/internal/random"
)

// maxPeople is the maximum number of users in the cookie.
const maxPeople = 8

// Browser is the content of the cookie. Names that are spelled differently but have the same canonical form are equal.
type Browser struct {
	// ID is random.
	ID string `json:"b"`
	// People contains an entry for each user, the most recent first. An entry contains the hashes of the browser's ID with
	// each name of the user, separated by dots.
	People []string `json:"p"`
}

// mark returns the hash of a name. Limits count names that differ only in accents as one, but they can belong to
// different users. A browser that is known for one of them is not known for the others.
func (b *Browser) mark(name string) string {
	sum := sha256.Sum256([]byte(b.ID + "\x00" + mailaddr.Canonical(name)))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Knows reports whether a user with this name has signed in.
func (b *Browser) Knows(name string) bool {
	mark, knows := b.mark(name), false
	for _, person := range b.People {
		for known := range strings.SplitSeq(person, ".") {
			if random.Same(known, mark) {
				knows = true
			}
		}
	}
	return knows
}

// Remember adds a user with these names as the most recent one. Empty names are ignored. A browser without an ID gets
// one from source.
func (b *Browser) Remember(source io.Reader, names []string) (err error) {
	if b.ID == "" {
		if b.ID, err = random.Hex(source, 16); err != nil {
			return err
		}
	}
	var marks []string
	for _, name := range names {
		if mark := b.mark(name); strings.TrimSpace(name) != "" && !slices.Contains(marks, mark) {
			marks = append(marks, mark)
		}
	}
	others := slices.DeleteFunc(b.People, func(person string) bool {
		return slices.ContainsFunc(marks, func(mark string) bool { return slices.Contains(strings.Split(person, "."), mark) })
	})
	b.People = append([]string{strings.Join(marks, ".")}, others[:min(len(others), maxPeople-1)]...)
	return nil
}
