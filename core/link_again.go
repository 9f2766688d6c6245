package core

import (
	"context"
	"errors"
	"slices"
	"time"
)

// linkAttempts is how often a sign-in is tried while others of the same person get in its way.
const linkAttempts = 5

// linkPause is how long a sign-in waits for an account that is being linked on a store without transactions; twice as
// long the next time, linkPauses times.
const (
	linkPause  = 25 * time.Millisecond
	linkPauses = 6
)

// settled finds or makes the user of an identity. A person who signs in twice at once, in two tabs or on two devices,
// is let in twice: what the other sign-in has written by then, this one looks up in a new transaction.
func (l *linker) settled(ctx context.Context, v *arrival, id *identity, here visitor) (who member, err error) {
	owner := id.account.UserID
	for n := 1; ; n++ {
		w := l.writer(v, owner)
		w.authentication = func(userID string) authentication { return id.authenticatedAt(l.now(), userID) }
		who, err = w.settle(ctx, id, here)
		if err == nil || n == linkAttempts || !w.overtaken(ctx, id, err) {
			return who, err
		}
	}
}

// overtaken reports whether an attempt failed because another sign-in of the same person was faster, so that the next
// attempt finds what that one has written: the store says so, or the rules refused the address and the user who has it
// has the account too by now.
//
// On a store without transactions the user is there before the account is: a user without any account and without a
// proved address may be about to get this one, and is waited for.
func (w *writer) overtaken(ctx context.Context, id *identity, err error) bool {
	switch {
	case errors.Is(err, ErrConflict):
		return true
	case w.refused == nil || id.passkey != nil || w.store.accounts == nil:
		return false
	}
	for n := range linkPauses {
		linked, err := w.store.linked(ctx, w.refused)
		if err != nil || len(linked) > 0 {
			return err == nil && slices.ContainsFunc(linked, id.isAccount)
		}
		if w.store.tx != nil || !w.refused.EmailVerified.IsZero() || !pause(ctx, linkPause<<n) {
			return false
		}
	}
	return false
}

// pause waits, and reports whether the request is still there afterwards.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
