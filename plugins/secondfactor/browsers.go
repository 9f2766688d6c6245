package secondfactor

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// browsers remembers the browsers that users have used a second factor in, and those that they trust. A trusted
// browser has a random token in its cookie and a record. The record is bound to the version of the user's factors.
type browsers struct {
	host     *core.PluginHost
	records  store.RecordStore
	remember time.Duration // Options.Remember
}

// browserUser is an entry of the cookie: a user who has used a second factor in this browser.
type browserUser struct {
	// User is a hash of the user ID.
	User string `json:"u"`
	// Token is the token of a trusted browser. It is empty if the user does not trust it.
	Token string `json:"t,omitempty"`
}

const (
	browserCookie = "second-factor-browser"
	browserTTL    = 180 * 24 * time.Hour
	// maxBrowserUsers is the number of users that a cookie remembers.
	maxBrowserUsers = 4
)

// trust is the value of a record of kind "device".
type trust struct {
	Version string `json:"v"`
}

func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// find returns the entry of a user, or nil.
func find(users []browserUser, userID string) *browserUser {
	for i := range users {
		if users[i].User == hashOf(userID)[:16] {
			return &users[i]
		}
	}
	return nil
}

// known reports whether the user has used a second factor in this browser before.
func (b *browsers) known(c *core.ActionRequest, userID string) bool {
	var users []browserUser
	return c.EncryptedCookie(browserCookie, &users) && find(users, userID) != nil
}

// trusted reports whether the user trusts the browser of a sign-in.
func (b *browsers) trusted(ctx context.Context, p *core.PendingSignIn, st *state) (bool, error) {
	var users []browserUser
	if b.remember < 0 || !p.EncryptedCookie(browserCookie, &users) {
		return false, nil
	}
	entry := find(users, p.User.ID)
	if entry == nil || entry.Token == "" {
		return false, nil
	}
	r, err := b.records.Record(ctx, kindDevice, hashOf(entry.Token, p.User.ID))
	switch {
	case errors.Is(err, core.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("secondfactor: read a trusted browser: %w", err)
	}
	var t trust
	if json.Unmarshal(r.Value, &t) != nil || !r.Expires.After(b.host.Now()) {
		return false, nil
	}
	version, err := b.version(ctx, p.User.ID, st)
	return err == nil && t.Version == version, err
}

// version returns the version of the user's factors. It includes the passkeys if they are a second factor, because
// other pages add and remove them.
func (b *browsers) version(ctx context.Context, userID string, st *state) (string, error) {
	if !st.Passkeys || b.host.Authenticators == nil {
		return st.Version, nil
	}
	keys, err := b.host.Authenticators.Authenticators(ctx, userID)
	if err != nil {
		return "", fmt.Errorf("secondfactor: list the passkeys: %w", err)
	}
	parts := []string{st.Version}
	for _, k := range keys {
		parts = append(parts, k.CredentialID)
	}
	return hashOf(parts...), nil
}

// accepted stores in the cookie that the user has used a second factor in this browser. If trusts is set, later
// sign-ins in it need none. A failure is logged: the sign-in continues, and the next one asks again.
func (b *browsers) accepted(ctx context.Context, c *core.ActionRequest, userID string, st *state, trusts bool) {
	entry := browserUser{User: hashOf(userID)[:16]}
	var users []browserUser
	if c.EncryptedCookie(browserCookie, &users) {
		if old := find(users, userID); old != nil {
			entry.Token = old.Token
		}
	}
	if trusts && b.remember > 0 {
		token, err := b.add(ctx, userID, st)
		if err != nil {
			b.host.Logger.WarnContext(ctx, "secondfactor: could not trust a browser", "user", userID, "error", err)
		}
		entry.Token = token
	}
	kept := []browserUser{entry}
	for _, u := range users {
		if u.User != entry.User && len(kept) < maxBrowserUsers {
			kept = append(kept, u)
		}
	}
	if err := c.SetEncryptedCookie(browserCookie, kept, browserTTL); err != nil {
		b.host.Logger.WarnContext(ctx, "secondfactor: could not remember a browser", "user", userID, "error", err)
	}
}

func (b *browsers) add(ctx context.Context, userID string, st *state) (token string, err error) {
	version, err := b.version(ctx, userID, st)
	if err != nil {
		return "", err
	}
	if token, err = b.host.NewToken(); err != nil {
		return "", err
	}
	value, err := json.Marshal(trust{version})
	if err != nil {
		return "", err
	}
	r := &store.Record{
		Kind: kindDevice, Key: hashOf(token, userID), UserID: userID, Value: value,
		Expires: b.host.Now().Add(b.remember),
	}
	return token, b.records.CreateRecord(ctx, r)
}

// count returns the number of browsers that the user trusts.
func (b *browsers) count(ctx context.Context, userID string, st *state) (n int, err error) {
	if b.remember < 0 || !st.enrolled() {
		return 0, nil
	}
	version, err := b.version(ctx, userID, st)
	if err != nil {
		return 0, err
	}
	all, err := b.records.UserRecords(ctx, userID, kindDevice)
	if err != nil {
		return 0, fmt.Errorf("secondfactor: list the trusted browsers: %w", err)
	}
	for _, r := range all {
		var t trust
		if json.Unmarshal(r.Value, &t) == nil && t.Version == version && r.Expires.After(b.host.Now()) {
			n++
		}
	}
	return n, nil
}

// forget ends the trust in all browsers of a user.
func (b *browsers) forget(ctx context.Context, userID string) error {
	if _, err := b.records.DeleteUserRecords(ctx, userID, kindDevice); err != nil {
		return fmt.Errorf("secondfactor: forget the trusted browsers: %w", err)
	}
	return nil
}
