package tokens

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/store"
)

// kindGrant is the kind of the records of grants. The key of a record is the ID of the grant.
const kindGrant = "app-grant"

// Grant is the sign-in of a user in an app. All tokens that the app gets by refreshing belong to it.
type Grant struct {
	// ID is public, and identifies the grant in logs.
	ID string `json:"id"`
	// UserID is the user who is signed in.
	UserID string `json:"-"`
	// App is the ID of the app.
	App string `json:"app"`
	// Scopes are the operations that the user permitted.
	Scopes []string `json:"scopes"`
	// Resources are the services that the app can get signed access tokens for. If it is empty, its access tokens are for
	// this site.
	Resources []string `json:"resources,omitempty"`
	// Created is when the user signed in, and Used when the app last got tokens.
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`
	// Expires is when the grant ends if the app does not refresh its tokens before.
	Expires time.Time `json:"expires"`
	// SessionID, AuthTime and Methods are those of the session in which the user let the app sign in, as [core.Session]
	// describes them.
	SessionID string       `json:"-"`
	AuthTime  time.Time    `json:"-"`
	Methods   []amr.Method `json:"-"`
}

// stored is the value of a record.
type stored struct {
	permission
	App       string       `json:"app"`
	Created   time.Time    `json:"created"`
	Used      time.Time    `json:"used"`
	SessionID string       `json:"session,omitempty"`
	AuthTime  time.Time    `json:"auth_time,omitzero"`
	Methods   []amr.Method `json:"methods,omitempty"`
	// Number counts the refresh tokens of the grant. Hash is the SHA-256 of the newest secret, and Previous that of the
	// secret before.
	Number   int    `json:"number"`
	Hash     []byte `json:"hash"`
	Previous []byte `json:"previous,omitempty"`
	// Rotated is when the secret before was first replaced.
	Rotated time.Time `json:"rotated,omitzero"`
}

// grantRecord is a stored grant and its record.
type grantRecord struct {
	ID, UserID string
	stored
	record *store.Record
}

func readGrant(r *store.Record) (*grantRecord, error) {
	g := &grantRecord{ID: r.Key, UserID: r.UserID, record: r}
	if err := json.Unmarshal(r.Value, &g.stored); err != nil {
		return nil, fmt.Errorf("tokens: the record of grant %s is malformed: %w", r.Key, err)
	}
	return g, nil
}

func (g *grantRecord) public() Grant {
	return Grant{
		ID: g.ID, UserID: g.UserID, App: g.App, Scopes: g.Scopes, Resources: g.Resources, Created: g.Created,
		Used: g.Used, Expires: g.record.Expires, SessionID: g.SessionID, AuthTime: g.AuthTime, Methods: g.Methods,
	}
}

// find returns the grant of a token, or [core.ErrNotFound]. No token lives longer than its grant.
func (t *Tokens) find(ctx context.Context, id string) (*grantRecord, error) {
	r, err := t.records.Record(ctx, kindGrant, id)
	if err != nil {
		return nil, err
	}
	return readGrant(r)
}

// accepts reports whether an access token with this hash was issued with the newest refresh token or the one before.
func (g *grantRecord) accepts(hash []byte) bool {
	newest := subtle.ConstantTimeCompare(hash, g.Hash)
	before := subtle.ConstantTimeCompare(hash, g.Previous)
	return len(hash) > 0 && newest|before == 1
}

// approval is what a user has allowed an app in the browser.
type approval struct {
	UserID    string       `json:"user"`
	SessionID string       `json:"session,omitempty"`
	AuthTime  time.Time    `json:"auth_time,omitzero"`
	Methods   []amr.Method `json:"methods,omitempty"`
}

func approvalOf(s *core.Session) approval {
	return approval{s.UserID, s.ID, s.AuthTime, slices.Clone(s.Methods)}
}

// create stores a new grant and returns it with its first tokens, for a resource or for this site. It returns
// [core.ErrNotFound] if the user has been deleted.
func (t *Tokens) create(
	ctx context.Context, app *App, allowed permission, by approval, resource string,
) (*grantRecord, *tokenPair, error) {
	id, err := randomText(t.host.Rand, 16)
	if err != nil {
		return nil, nil, err
	}
	now := t.host.Now()
	g := &grantRecord{
		ID: id, UserID: by.UserID,
		stored: stored{
			permission: allowed, App: app.ID, Created: now, SessionID: by.SessionID, AuthTime: by.AuthTime, Methods: by.Methods,
		},
		record: &store.Record{Kind: kindGrant, Key: id, UserID: by.UserID},
	}
	pair, err := t.renew(ctx, g, resource)
	if err != nil {
		return nil, nil, err
	}
	if err := t.endOldest(ctx, by.UserID); err != nil {
		return nil, nil, err
	}
	if err := t.records.CreateRecord(ctx, g.record); err != nil {
		return nil, nil, fmt.Errorf("tokens: %w", err)
	}
	err = t.host.CheckUser(ctx, by.UserID) // the user may have been banned meanwhile
	if err == nil {
		return g, pair, nil
	}
	failed := t.delete(ctx, g.ID)
	if errors.Is(err, core.ErrAccessDenied) && failed == nil {
		err = invalid("invalid_grant", "The user cannot sign in.")
	}
	return nil, nil, errors.Join(err, failed)
}

// endOldest makes room for one more grant of a user.
func (t *Tokens) endOldest(ctx context.Context, userID string) error {
	all, err := t.Of(ctx, userID)
	if err != nil {
		return err
	}
	for len(all) >= t.options.MaxGrants && len(all) > 0 {
		last := all[len(all)-1]
		all = all[:len(all)-1]
		if err := t.delete(ctx, last.ID); err != nil {
			return err
		}
	}
	return nil
}

// renew gives a grant a new refresh token, and sets its record to be stored. The access token is for a resource or for
// this site.
func (t *Tokens) renew(ctx context.Context, g *grantRecord, resource string) (*tokenPair, error) {
	now := t.host.Now()
	secret, err := randomText(t.host.Rand, 32)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(secret))
	g.Number, g.Hash, g.Used = g.Number+1, hash[:], now
	g.record.Expires = now.Add(t.options.IdleTimeout)
	if last := g.Created.Add(t.options.MaxAge); last.Before(g.record.Expires) {
		g.record.Expires = last
	}
	g.record.Expires = g.record.Expires.Truncate(time.Millisecond)
	if g.record.Value, err = json.Marshal(g.stored); err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	return t.pair(ctx, g, secret, resource)
}

func randomText(random io.Reader, n int) (string, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("tokens: random bytes: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// Of returns the grants of a user, the most recently used first. Expired grants are left out.
func (t *Tokens) Of(ctx context.Context, userID string) ([]Grant, error) {
	if t.host == nil {
		return nil, errNotReady
	}
	records, err := t.records.UserRecords(ctx, userID, kindGrant)
	if err != nil {
		return nil, fmt.Errorf("tokens: list grants: %w", err)
	}
	grants := []Grant{}
	for _, r := range records {
		g, err := readGrant(r)
		if err != nil {
			return nil, err
		}
		if r.Expires.After(t.host.Now()) {
			grants = append(grants, g.public())
		}
	}
	slices.SortFunc(grants, func(a, b Grant) int {
		return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.ID, b.ID))
	})
	return grants, nil
}

var errNotReady = errors.New("tokens: the plugin is not attached to an Auth: add it to Config.Plugins")

// End ends a grant of a user. Its tokens stop working with the next request in every process. End returns
// [core.ErrNotFound] if the user has no such grant.
func (t *Tokens) End(ctx context.Context, userID, id string) error {
	if t.host == nil {
		return errNotReady
	}
	r, err := t.records.Record(ctx, kindGrant, id)
	switch {
	case err != nil:
		return err
	case r.UserID != userID || userID == "":
		return core.ErrNotFound
	}
	return t.delete(ctx, id)
}

// delete deletes the record of a grant. A grant that has ended is no error.
func (t *Tokens) delete(ctx context.Context, id string) error {
	_, err := t.records.DeleteRecord(ctx, kindGrant, id)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("tokens: end a grant: %w", err)
	}
	return nil
}

// endAll ends the grants of a user whose sessions end. Codes that were not used yet end too.
func (t *Tokens) endAll(ctx context.Context, userID string) error {
	for _, kind := range []string{kindCode, kindApproval, kindGrant} {
		if _, err := t.records.DeleteUserRecords(ctx, userID, kind); err != nil {
			return fmt.Errorf("tokens: end the grants of a user: %w", err)
		}
	}
	return nil
}
