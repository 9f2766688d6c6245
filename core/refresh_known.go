package core

import (
	"crypto/sha256"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/flight"
	"github.com/latchkey-go/latchkey/core/internal/once"
)

const (
	// refreshLeeway is how long an access token must still last, so that it does not end on its way.
	refreshLeeway = time.Minute
	// refreshTimeout bounds a refresh, which goes on when nobody waits for it: it may have spent the refresh token.
	refreshTimeout = 30 * time.Second
	// refreshedFor is how long those who come late with a spent refresh token get what it was exchanged for. Requests that
	// a browser sent at the same time all carry the old one.
	refreshedFor = time.Minute
)

// refreshes are the refreshes under way, and what those of the last minute brought.
type refreshes struct {
	underWay flight.Group[refreshKey, *Account]
	known    once.Memory[refreshKey, refreshed]
}

func newRefreshes(now func() time.Time) *refreshes {
	r := &refreshes{}
	r.underWay.Timeout, r.known.Now = refreshTimeout, now
	return r
}

// keep remembers what a refresh brought for callers that come late.
func (r *refreshes) keep(key refreshKey, known refreshed) {
	r.known.Put(key, known, r.known.Now().Add(refreshedFor))
}

// refreshed is what a refresh brought. Tokens that the store did not take are not stored: the old ones are spent, so
// the next caller stores these.
type refreshed struct {
	account *Account
	stored  bool
}

// refreshKey is a hash of refresh and access token. Where refresh tokens stay the same, the access token tells a caller
// that comes late from one that has the new token and wants another.
type refreshKey [sha256.Size]byte

func refreshKeyOf(account *Account) refreshKey {
	tokens := string(account.RefreshToken) + "\x00" + string(account.AccessToken)
	return sha256.Sum256([]byte(account.Provider + "\x00" + tokens))
}
