package password

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Pepper is a secret that all password hashes are computed with, in addition to the salt of each. An attacker who has
// copied the database, but not the secret, cannot guess the passwords (the keyed hash of NIST SP 800-63B-4 section
// 3.1.1.2).
type Pepper struct {
	// ID identifies the pepper in stored hashes, for example "2026-1": 1 to 32 lower-case letters, digits and hyphens.
	// Never change the Key of an ID that was in use.
	ID string
	// Key has at least 32 bytes. Create it with "latchkey secret", and store it and its backup apart from the database.
	// Without it, no user can sign in with their password. It must not be one of Config.Secrets, which are replaced
	// regularly.
	Key core.Secret
}

// peppers are Options.Peppers, the newest first.
type peppers []Pepper

const minPepperKey = 32

var pepperID = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// check reports configuration errors. They do not contain the keys.
func (p peppers) check(h *core.PluginHost) {
	for i, each := range p {
		sameID := func(o Pepper) bool { return o.ID == each.ID }
		sameKey := func(o Pepper) bool { return hmac.Equal([]byte(o.Key), []byte(each.Key)) }
		switch {
		case !pepperID.MatchString(each.ID):
			h.AddConfigError(fmt.Sprintf("Peppers[%d].ID is %q: use 1 to 32 lower-case letters, digits and hyphens, such as "+
				"2026-1", i, each.ID))
		case slices.IndexFunc(p, sameID) < i:
			h.AddConfigError(fmt.Sprintf("Peppers[%d].ID is %q, as in another entry: each pepper needs its own", i, each.ID))
		case len(each.Key) < minPepperKey:
			h.AddConfigError(fmt.Sprintf("Peppers[%d].Key has %d bytes: use at least %d random bytes, as latchkey secret "+
				"prints", i, len(each.Key), minPepperKey))
		case slices.IndexFunc(p, sameKey) < i:
			h.AddConfigError(fmt.Sprintf("Peppers[%d].Key is that of another entry: remove one", i))
		}
	}
}

// newestID returns the ID of the pepper for new hashes, or "".
func (p peppers) newestID() string {
	if len(p) == 0 {
		return ""
	}
	return p[0].ID
}

// apply returns the password to hash for a stored hash that was made with the pepper id. An empty id means no pepper.
func (p peppers) apply(id string, password []byte) ([]byte, error) {
	if id == "" {
		return password, nil
	}
	at := slices.IndexFunc(p, func(each Pepper) bool { return each.ID == id })
	if at < 0 {
		return nil, fmt.Errorf("the hash needs the pepper %q: add it to Options.Peppers again", id)
	}
	mac := hmac.New(sha256.New, []byte(p[at].Key))
	mac.Write(password)
	return mac.Sum(nil), nil
}

const pepperPrefix = "{pepper:"

// splitPepper returns the ID of the pepper of a stored hash, or "", and the hash without it.
func splitPepper(stored string) (id, hash string) {
	rest, ok := strings.CutPrefix(stored, pepperPrefix)
	id, hash, closed := strings.Cut(rest, "}")
	if !ok || !closed || id == "" {
		return "", stored
	}
	return id, hash
}
