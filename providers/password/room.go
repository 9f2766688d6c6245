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

// pending is the record of a sign-up that waits for its proof. Its key is the digest of the token in the letter. Before
// the proof nothing is written to users: an address that was typed is nobody's yet.
type pending struct {
	Email    string `json:"email"`
	Typed    string `json:"typed,omitempty"` // as the browser sent it; empty: Email
	Name     string `json:"name,omitempty"`
	Hash     hashed `json:"hash"`
	Callback string `json:"callback,omitempty"`
}

// typed is the address as the browser sent it, for lookups of users.
func (p *pending) typed() string { return cmp.Or(p.Typed, p.Email) }

// waiting is a sign-up that waits, with its record.
type waiting struct {
	pending
	record *store.Record
}

// waitingRoom is where sign-ups are until their proof.
type waitingRoom struct {
	links *links
	// invited: only those may sign up whose address was invited.
	invited bool
}

// in is the same room in the records of a transaction.
func (r *waitingRoom) in(records store.RecordStore) *waitingRoom {
	return &waitingRoom{r.links.in(records), r.invited}
}

// enter keeps a sign-up, and returns the token that its letter holds.
func (r *waitingRoom) enter(ctx context.Context, p pending) (token string, record *store.Record, err error) {
	if token, err = r.links.host.NewToken(); err != nil {
		return "", nil, err
	}
	if record, err = r.links.keep(ctx, kindSignUp, token, "", p, signUpFor); err != nil {
		return "", nil, fmt.Errorf("password: keep the sign-up: %w", err)
	}
	return token, record, nil
}

// find is the sign-up of a token; nil: there is none, or it has expired.
func (r *waitingRoom) find(ctx context.Context, token string) (*waiting, error) {
	record, err := r.links.first(ctx, kindSignUp, r.links.keys(kindSignUp, token))
	if err != nil || record == nil {
		return nil, err
	}
	out := &waiting{record: record}
	if err := json.Unmarshal(record.Value, &out.pending); err != nil {
		return nil, fmt.Errorf("password: a sign-up cannot be read: %w", err)
	}
	return out, nil
}

// admits reports whether an address may sign up.
func (r *waitingRoom) admits(ctx context.Context, address string) (bool, error) {
	if !r.invited {
		return true, nil
	}
	record, err := r.links.first(ctx, kindInvitation, r.links.host.Digests(kindInvitation, address))
	return record != nil, err
}

// use uses a sign-up up. core.ErrNotFound: it is used, or not invited any more.
func (r *waitingRoom) use(ctx context.Context, w *waiting) error {
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

// drop removes a sign-up whose token nobody will have. What stays behind an error expires.
func (r *waitingRoom) drop(ctx context.Context, record *store.Record) {
	if err := r.links.use(ctx, record); err != nil && !errors.Is(err, core.ErrNotFound) {
		r.links.host.Logger.WarnContext(ctx, "password: a sign-up that leads nowhere was not deleted", "error", err)
	}
}
