package storetest

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// addresses are the cases of an address that moves from one user to another.
type addresses struct{ *kit }

// moves removes the address from one user and gives it to a new one. Core does this when another person than that user
// verifies the address.
func (k addresses) moves(ctx context.Context, s core.Store, from *core.User) (to *core.User, err error) {
	left := *from
	left.Email = ""
	if _, err := s.UpdateUser(ctx, &left); err != nil {
		return nil, err
	}
	return s.CreateUser(ctx, &core.User{ID: uuid("new"), Email: from.Email, EmailVerified: base})
}

// moved checks that the new user has the address, and the old user has everything else.
func (k addresses) moved(old, owner *core.User) {
	k.Helper()
	got, err := k.store.UserByEmail(k.Context(), "ada@example.com")
	k.must(err)
	if got.ID != owner.ID || !got.EmailVerified.Equal(base) {
		k.Errorf("the address belongs to %s, proved at %v", got.ID, got.EmailVerified)
	}
	got, err = k.store.UserByAccount(k.Context(), "p", "1")
	k.must(err)
	if got.ID != old.ID || got.Email != "" || got.Name != old.Name || !got.EmailVerified.IsZero() {
		k.Errorf("the old user reads %+v", got)
	}
	if old.ID == owner.ID {
		k.Error("both are one user")
	}
}

func (k addresses) freed() {
	old := k.user("u1", "ada@example.com")
	k.must(k.store.LinkAccount(k.Context(), k.account(old, "p", "1")))
	if s, ok := k.store.(store.SessionStore); ok {
		k.must(s.CreateSession(k.Context(), &store.Session{Token: "s1", UserID: old.ID, Expires: base}))
	}
	owner, err := k.moves(k.Context(), k.store, old)
	k.must(err)
	k.moved(old, owner)
	if s, ok := k.store.(store.SessionStore); ok {
		_, u, err := s.SessionAndUser(k.Context(), "s1")
		k.must(err)
		if u.ID != old.ID || u.Email != "" {
			k.Errorf("the session of the old user shows %s, %q", u.ID, u.Email)
		}
	}
	back := *old
	_, err = k.store.UpdateUser(k.Context(), &back)
	k.want(err, core.ErrConflict)
	k.moved(old, owner)
}

func (k addresses) freedInside() {
	old := k.user("u1", "ada@example.com")
	k.must(k.store.LinkAccount(k.Context(), k.account(old, "p", "1")))
	inside := func(do func(ctx context.Context, tx core.Store) error) error {
		return k.store.(store.Transactor).InTransaction(k.Context(), do)
	}
	err := inside(func(ctx context.Context, tx core.Store) error {
		if _, err := k.moves(ctx, tx, old); err != nil {
			return err
		}
		return errTest
	})
	k.want(err, errTest)
	got, err := k.store.UserByEmail(k.Context(), "ada@example.com")
	k.must(err)
	k.same(got, old)
	var owner *core.User
	k.must(inside(func(ctx context.Context, tx core.Store) (err error) {
		if owner, err = k.moves(ctx, tx, old); err == nil {
			err = tx.LinkAccount(ctx, k.account(owner, "p", "2"))
		}
		return err
	}))
	k.moved(old, owner)
	got, err = k.store.UserByAccount(k.Context(), "p", "2")
	k.must(err)
	k.same(got, owner)
}
