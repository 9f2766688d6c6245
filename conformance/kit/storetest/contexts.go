package storetest

import (
	"context"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// contexts are the cases of cancelled contexts.
type contexts struct{ *kit }

func (k contexts) writeNothing() {
	ctx, cancel := context.WithCancel(k.Context())
	cancel()
	_, err := k.store.CreateUser(ctx, &core.User{ID: uuid("u1"), Email: "ada@example.com"})
	k.want(err, context.Canceled)
	_, err = k.store.UserByEmail(k.Context(), "ada@example.com")
	k.want(err, core.ErrNotFound)
}

func (k contexts) changeNothing() {
	u := k.user("u1", "ada@example.com")
	ctx, cancel := context.WithCancel(k.Context())
	cancel()
	k.want(k.store.LinkAccount(ctx, k.account(u, "p", "1")), context.Canceled)
	_, err := k.store.UserByAccount(k.Context(), "p", "1")
	k.want(err, core.ErrNotFound)
	changed := *u
	changed.Name = "changed"
	_, err = k.store.UpdateUser(ctx, &changed)
	k.want(err, context.Canceled)
	got, err := k.store.User(k.Context(), u.ID)
	k.must(err)
	k.same(got, u)
	_, err = k.store.User(ctx, u.ID)
	k.want(err, context.Canceled)
	if is[store.SessionStore](k.store) {
		k.session(u, "s1", base)
		again := &store.Session{Token: "s2", UserID: u.ID, Expires: base}
		k.want(k.sessions().CreateSession(ctx, again), context.Canceled)
		k.want(k.sessions().UpdateSession(ctx, "s1", base.Add(time.Hour)), context.Canceled)
		_, err = k.sessions().DeleteSession(ctx, "s1")
		k.want(err, context.Canceled)
		_, _, err = k.sessions().SessionAndUser(k.Context(), "s2")
		k.want(err, core.ErrNotFound)
		session, _, err := k.sessions().SessionAndUser(k.Context(), "s1")
		k.must(err)
		if !session.Expires.Equal(base) {
			k.Errorf("extended to %v", session.Expires)
		}
	}
	if is[store.VerificationTokenStore](k.store) {
		k.token("ada@example.com", "t1")
		_, err = k.tokens().UseVerificationToken(ctx, "ada@example.com", "t1")
		k.want(err, context.Canceled)
		_, err = k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "t1")
		k.must(err)
	}
	if is[store.RecordStore](k.store) {
		records(k).cancelled(ctx, u)
	}
	if d, ok := k.store.(store.UserDeleter); ok {
		k.want(d.DeleteUser(ctx, u.ID), context.Canceled)
		_, err = k.store.User(k.Context(), u.ID)
		k.must(err)
	}
}
