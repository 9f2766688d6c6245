package guest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/random"
)

// create stores a new guest.
func (g *Guests) create(ctx context.Context) (user *core.User, err error) {
	id, err := random.UUID(g.host.Rand)
	if err != nil {
		return nil, err
	}
	value, err := json.Marshal(note{Made: g.host.Now().Unix()})
	if err != nil {
		return nil, err
	}
	err = g.atomically(ctx, func(ctx context.Context, tx core.Store, records store.RecordStore) error {
		if user, err = tx.CreateUser(ctx, &core.User{ID: id, Null: store.NullEmail}); err != nil {
			return err
		}
		return records.CreateRecord(ctx, &store.Record{Kind: kindGuest, Key: user.ID, UserID: user.ID, Value: value})
	})
	if err != nil && user != nil && g.host.Transactor == nil {
		undo := g.host.UserDeleter.DeleteUser(context.WithoutCancel(ctx), user.ID)
		err = errors.Join(err, undo)
	}
	if err != nil {
		return nil, core.NewError(core.ErrStore, fmt.Errorf("create a guest: %w", err))
	}
	return user, nil
}

// atomically calls f with the store of a transaction and its records, or with the store itself if it has no
// transactions.
func (g *Guests) atomically(
	ctx context.Context, f func(ctx context.Context, tx core.Store, records store.RecordStore) error,
) error {
	if g.host.Transactor == nil {
		return f(ctx, g.host.Store, g.host.Records())
	}
	return g.host.Transactor.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
		records, err := recordsOf(tx)
		if err != nil {
			return err
		}
		return f(ctx, tx, records)
	})
}

// active implements [core.ProvisionalUsers].
func (g *Guests) active(ctx context.Context, userID string) (bool, error) {
	_, n, err := find(ctx, g.host.Records(), userID)
	return n != nil && n.Phase == active, err
}

// upgrade implements [core.ProvisionalUsers].
func (g *Guests) upgrade(ctx context.Context, tx core.Store, guestID string, user *core.User) (*core.User, error) {
	records, err := recordsOf(tx)
	if err != nil {
		return nil, err
	}
	r, n, err := find(ctx, records, guestID)
	switch {
	case err != nil:
		return nil, err
	case n == nil || n.Phase != active:
		return nil, core.ErrNotFound
	}
	if err := g.change(ctx, records, r, n, upgraded); err != nil {
		return nil, err
	}
	full, err := tx.User(ctx, guestID)
	if err != nil {
		return nil, err
	}
	if full, err = tx.UpdateUser(ctx, filledIn(full, user)); err != nil {
		return nil, err
	}
	if sessions, ok := tx.(store.SessionLister); ok {
		if _, err := sessions.DeleteSessions(ctx, guestID); err != nil {
			return nil, err
		}
	}
	return full, g.addWork(ctx, records, guestID, work{})
}

// filledIn returns the guest with the data of a sign-in. It does not overwrite the data that the application has set.
func filledIn(guest, user *core.User) *core.User {
	u := guest.Clone()
	u.Email, u.EmailVerified = user.Email, user.EmailVerified
	if u.Name == "" {
		u.Name = user.Name
	}
	if u.Image == "" {
		u.Image = user.Image
	}
	u.Null = 0
	for null, text := range map[store.Nulls]string{
		store.NullEmail: u.Email, store.NullName: u.Name, store.NullImage: u.Image,
	} {
		if text == "" {
			u.Null |= (guest.Null | user.Null) & null
		}
	}
	for name, value := range user.Extra {
		if _, taken := u.Extra[name]; !taken {
			if u.Extra == nil {
				u.Extra = core.Members{}
			}
			u.Extra[name] = value
		}
	}
	return u
}

// signedIn implements [core.ProvisionalUsers]: it merges a guest into the user who has just signed in. First it stores
// that; only an error of that step fails the sign-in. If the rest fails, the task tries again. Of concurrent sign-ins
// one merges the guest. Without transactions, the record of the guest decides; the task adds the record of the work if
// the process ends in between.
func (g *Guests) signedIn(ctx context.Context, guestID, userID string) error {
	w := work{Existing: userID}
	err := g.atomically(ctx, func(ctx context.Context, _ core.Store, records store.RecordStore) error {
		r, n, err := find(ctx, records, guestID)
		switch {
		case err != nil:
			return err
		case n == nil || n.Phase != active:
			return core.ErrConflict
		}
		n.Existing = userID
		if err := g.change(ctx, records, r, n, merging); err != nil {
			return err
		}
		return g.addWork(ctx, records, guestID, w)
	})
	switch {
	case errors.Is(err, core.ErrConflict): // another sign-in was first
		return nil
	case err != nil:
		return fmt.Errorf("store that a guest is merged: %w", err)
	}
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), mergeTime)
	defer end()
	if err := g.finish(ctx, guestID, w); err != nil {
		g.host.Logger.ErrorContext(ctx, "guest: a merge failed and is tried again", "guest", guestID, "error", err)
	}
	return nil
}
