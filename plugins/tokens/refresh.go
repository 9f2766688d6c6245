package tokens

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Tokens are encrypted, so that a text that this site did not issue never reaches the store. The prefixes let secret
// scanners recognize them.
const (
	accessPrefix  = "lka_"
	refreshPrefix = "lkr_"

	purposeAccess  = "tokens access"
	purposeRefresh = "tokens refresh"
)

// accessToken is the content of an access token.
type accessToken struct {
	Grant string `json:"g"`
	// Hash is the hash of the refresh token that was issued with it.
	Hash []byte `json:"h"`
}

// refreshToken is the content of a refresh token.
type refreshToken struct {
	Grant  string `json:"g"`
	Number int    `json:"n"`
	Secret string `json:"s"`
}

// tokenPair is an access token with its lifetime, and a refresh token.
type tokenPair struct {
	Access  string
	Scopes  []string
	TTL     time.Duration
	Refresh string
}

// pair returns the tokens of a grant whose newest secret is secret. The access token is for a resource or for this
// site.
func (t *Tokens) pair(ctx context.Context, g *grantRecord, secret, resource string) (*tokenPair, error) {
	now := t.host.Now()
	p := &tokenPair{TTL: min(t.options.AccessTTL, g.record.Expires.Sub(now)), Scopes: g.Scopes}
	refresh, err := t.host.Encrypt(purposeRefresh, refreshToken{g.ID, g.Number, secret}, g.record.Expires)
	if err != nil {
		return nil, err
	}
	p.Refresh = refreshPrefix + refresh
	if resource != "" {
		return p, t.signed(ctx, g, resource, p)
	}
	access, err := t.host.Encrypt(purposeAccess, accessToken{g.ID, g.Hash}, now.Add(p.TTL))
	p.Access = accessPrefix + access
	return p, err
}

// retryTime is how long a client that did not receive the response may send the same refresh token again.
const retryTime = 10 * time.Second

// errReused means that a refresh token was used that is no longer valid. Its grant has ended.
var errReused = errors.New("tokens: a refresh token was used again")

// maxTries is the number of attempts to change a record that other requests change too.
const maxTries = 20

// refresh replaces a refresh token. asked is the parameter resource. It returns [core.ErrNotFound] if the token is not
// valid or belongs to another app, errTarget if the user did not allow the resource, and errReused if the token was
// used before.
//
// Of all requests with one token, at most one gets a token that continues to work: each later one within retryTime
// replaces the successor that the one before got. Once a successor is used, the old token is two numbers behind, and
// using it ends the grant (RFC 9700 section 4.14.2).
func (t *Tokens) refresh(ctx context.Context, app *App, text, asked string) (*grantRecord, *tokenPair, error) {
	token, ok := t.parseRefresh(text)
	if !ok {
		return nil, nil, core.ErrNotFound
	}
	hash := sha256.Sum256([]byte(token.Secret))
	for range maxTries {
		g, err := t.find(ctx, token.Grant)
		if err != nil {
			return nil, nil, err
		}
		if g.App != app.ID {
			return nil, nil, core.ErrNotFound
		}
		newest := token.Number == g.Number && subtle.ConstantTimeCompare(hash[:], g.Hash) == 1
		before := token.Number == g.Number-1 && subtle.ConstantTimeCompare(hash[:], g.Previous) == 1
		switch {
		case newest:
			g.Previous, g.Rotated = g.Hash, t.host.Now()
		case before && t.host.Now().Sub(g.Rotated) <= retryTime:
			g.Number-- // the unused successor is replaced
		default:
			if err := t.delete(ctx, g.ID); err != nil {
				return nil, nil, err
			}
			return g, nil, errReused
		}
		resource, err := t.target(app, &g.permission, asked)
		if err != nil {
			return nil, nil, err
		}
		pair, err := t.renew(ctx, g, resource)
		if err != nil {
			return nil, nil, err
		}
		if err := t.records.UpdateRecord(ctx, g.record); !errors.Is(err, core.ErrConflict) {
			return g, pair, err
		}
	}
	return nil, nil, core.ErrConflict
}

func (t *Tokens) parseRefresh(text string) (token refreshToken, ok bool) {
	sealed, ok := strings.CutPrefix(text, refreshPrefix)
	return token, ok && t.host.Decrypt(purposeRefresh, sealed, &token) == nil
}
