package password

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// signUpTTL is the lifetime of a sign-up link.
const signUpTTL = 24 * time.Hour

// pendingSignUp is the record of an unverified sign-up. Its key is the digest of the token in the email. The user is
// created only after the verification, because the address may belong to another person.
type pendingSignUp struct {
	Email    string `json:"email"`
	Typed    string `json:"typed,omitempty"` // as the browser sent it, if it differs from Email
	Name     string `json:"name,omitempty"`
	Username string `json:"username,omitempty"` // normalized; another user may have it
	Hash     hashed `json:"hash"`
	Callback string `json:"callback,omitempty"`
	// Values are those of Options.SignUpFields.
	Values map[string]string `json:"values,omitempty"`
}

// typed returns the address as the browser sent it, for lookups of users.
func (p *pendingSignUp) typed() string { return cmp.Or(p.Typed, p.Email) }

// storedSignUp is a pending sign-up with its record.
type storedSignUp struct {
	pendingSignUp
	record *store.Record
}

// signUpStore stores pending sign-ups.
type signUpStore struct {
	links *links
	// invited reports whether sign-up requires an invitation.
	invited bool
}

// find returns the sign-up of a token, or errLink if there is none or it has expired.
func (r *signUpStore) find(ctx context.Context, token string) (*storedSignUp, error) {
	w, err := r.first(ctx, r.links.keys(kindSignUp, token))
	if err == nil && w == nil {
		err = errLink
	}
	return w, err
}

// first returns the first sign-up with one of these keys, or nil.
func (r *signUpStore) first(ctx context.Context, keys []string) (*storedSignUp, error) {
	record, err := r.links.first(ctx, kindSignUp, keys)
	if err != nil || record == nil {
		return nil, err
	}
	out := &storedSignUp{record: record}
	if err := json.Unmarshal(record.Value, &out.pendingSignUp); err != nil {
		return nil, fmt.Errorf("password: decode a sign-up: %w", err)
	}
	return out, nil
}

// admits reports whether an address can sign up.
func (r *signUpStore) admits(ctx context.Context, address string) (bool, error) {
	if !r.invited {
		return true, nil
	}
	record, err := r.links.first(ctx, kindInvitation, r.links.host.Digests(kindInvitation, address))
	return record != nil, err
}

// use uses up a sign-up. It returns core.ErrNotFound if it was used or is no longer invited.
func (r *signUpStore) use(ctx context.Context, w *storedSignUp) error {
	ok, err := r.admits(ctx, w.Email)
	if err != nil {
		return err
	}
	if !ok {
		return core.ErrNotFound
	}
	if err := r.links.use(ctx, w.record); err != nil {
		return fmt.Errorf("password: use the sign-up: %w", err)
	}
	return nil
}

// startedSignUps is the cookie of the browser that signed up. It contains the digests of the tokens, newest first. In
// this browser the link needs one click. In any other it asks for the password, because an attacker may have signed up
// with the victim's address and hopes that the victim opens the link.
type startedSignUps struct {
	Digests []string `json:"d"`
}

const (
	signUpCookie = "password-signup"
	// maxSignUps is the number of sign-ups that a browser remembers, for example two tabs and a mistyped address.
	maxSignUps = 5
)

// startedBy reports whether the browser of a request started the sign-up of a token.
func (r *signUpStore) startedBy(c *core.ActionRequest, token string) bool {
	var known startedSignUps
	keys := r.links.keys(kindSignUp, token)
	if len(keys) == 0 || !c.EncryptedCookie(signUpCookie, &known) {
		return false
	}
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(known.Digests, key) })
}
