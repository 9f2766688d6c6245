package password

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// pendingSignUp is the record of an unverified sign-up. Its key is the digest of the token in the email. The user is
// created only after the verification, because the address may belong to another person.
type pendingSignUp struct {
	Email    string `json:"email"`
	Typed    string `json:"typed,omitempty"` // as the browser sent it, if it differs from Email
	Name     string `json:"name,omitempty"`
	Hash     hashed `json:"hash"`
	Callback string `json:"callback,omitempty"`
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

// in returns a signUpStore that uses the records of a transaction.
func (r *signUpStore) in(records store.RecordStore) *signUpStore {
	return &signUpStore{r.links.in(records), r.invited}
}

// enter stores a sign-up and returns the token for its email.
func (r *signUpStore) enter(ctx context.Context, p pendingSignUp) (token string, record *store.Record, err error) {
	if token, err = r.links.host.NewToken(); err != nil {
		return "", nil, err
	}
	if record, err = r.links.keep(ctx, kindSignUp, token, "", p, signUpTTL); err != nil {
		return "", nil, fmt.Errorf("password: store the sign-up: %w", err)
	}
	return token, record, nil
}

// find returns the sign-up of a token. It is nil if there is none or it has expired.
func (r *signUpStore) find(ctx context.Context, token string) (*storedSignUp, error) {
	record, err := r.links.first(ctx, kindSignUp, r.links.keys(kindSignUp, token))
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

// drop deletes a sign-up if its link is not sent, so that it cannot be confirmed. If that fails, the record expires.
func (r *signUpStore) drop(ctx context.Context, record *store.Record) {
	if err := r.links.use(ctx, record); err != nil && !errors.Is(err, core.ErrNotFound) {
		r.links.host.Logger.WarnContext(ctx, "password: could not delete a sign-up whose link was not sent", "error", err)
	}
}
