package password

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
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

// newest returns the ID of the pepper for new hashes, and the password to hash.
func (p peppers) newest(password []byte) (id string, typed []byte) {
	if len(p) == 0 {
		return "", password
	}
	return p[0].ID, p[0].apply(password)
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
	return p[at].apply(password), nil
}

func (p *Pepper) apply(password []byte) []byte {
	mac := hmac.New(sha256.New, []byte(p.Key))
	mac.Write(password)
	return mac.Sum(nil)
}

const pepperPrefix = "{pepper:"

// withPepper adds the pepper's ID to a hash: "{pepper:2026-1}$argon2id$…".
func withPepper(id, hash string) hashed {
	if id == "" {
		return hashed(hash)
	}
	return hashed(pepperPrefix + id + "}" + hash)
}

// splitPepper returns the ID of the pepper of a stored hash, or "", and the hash without it.
func splitPepper(stored string) (id, hash string) {
	rest, ok := strings.CutPrefix(stored, pepperPrefix)
	id, hash, closed := strings.Cut(rest, "}")
	if !ok || !closed || id == "" {
		return "", stored
	}
	return id, hash
}

// PepperUse counts the stored passwords by the ID of their pepper. The ID "" counts those without one, with the hashes
// of other systems. A pepper of Options.Peppers that is missing in the result is no longer needed. PepperUse reads all
// passwords, page by page: call it before you remove a pepper, not in a request. The store must implement
// store.RecordLister; otherwise the error matches [core.ErrMissingStoreMethods].
func (p *Provider) PepperUse(ctx context.Context) (map[string]int, error) {
	m, err := p.onlyManagement()
	if err != nil {
		return nil, err
	}
	return m.pepperUse(ctx, -1)
}

// pepperUse counts the passwords of at most that many pages, or of all pages if pages is negative.
func (m *management) pepperUse(ctx context.Context, pages int) (map[string]int, error) {
	lister := m.host.RecordLister
	if lister == nil {
		return nil, fmt.Errorf("password: count the peppers: %w", core.ErrMissingStoreMethods)
	}
	counts := map[string]int{}
	for cursor := ""; pages != 0; pages-- {
		records, next, err := lister.ListRecords(ctx, kindPassword, "", cursor, store.MaxPage)
		if err != nil {
			return nil, fmt.Errorf("password: count the peppers: %w", err)
		}
		for _, r := range records {
			var s secret
			if err := json.Unmarshal(r.Value, &s); err != nil {
				return nil, fmt.Errorf("password: decode the record of user %q: %w", r.UserID, err)
			}
			id, _ := splitPepper(string(s.Hash))
			counts[id]++
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	return counts, nil
}

// The limits of what Advise reads.
const (
	advisePages = 20
	adviseTime  = 10 * time.Second
)

// Advise calls report for each weakness of the configuration, with its fix. Package doctor calls it after New. It reads
// a part of the stored passwords, and reports peppers that they need and Options.Peppers does not contain.
func (p *Provider) Advise(report func(what, fix string)) {
	m, err := p.onlyManagement()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), adviseTime)
	defer cancel()
	counts, err := m.pepperUse(ctx, advisePages)
	if err != nil { // the doctor has a check of the store
		return
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		if _, err := m.hashes.peppers.apply(id, nil); err != nil {
			report(fmt.Sprintf("%d users cannot sign in with their passwords, which need the pepper %q", counts[id], id),
				"add the pepper to password.Options.Peppers again, after the newest one")
		}
	}
}
