package core

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

const (
	bounceKind = "email-bounce"      // kind of the records, and purpose of the digests of addresses that are their keys
	bounceFor  = 90 * 24 * time.Hour // lifetime of a record
)

// bounce is the value of a record.
type bounce struct {
	At time.Time `json:"at"` // of the last report
}

// ReportBounce reports that a mail server permanently refused an email to an address, or that its recipient
// complained about it. Call it in the webhook of your mail service, after you have verified the webhook's signature. Do
// not call it for temporary failures, which the mail service tries again.
//
// Config.Audit receives [audit.EmailBounced]. Emails to the address that wait for another attempt are given up; later
// emails are sent. For 90 days, or until the user verifies the address again, the account page asks its user to verify
// or to change it. Other pages do not, because that would reveal accounts. The marks need a store that
// stores records. ReportBounce can be called again, in any process, and is safe for concurrent use. It returns an error
// if the text is not an email address, or if the store fails.
func (a *Auth) ReportBounce(ctx context.Context, address string) error {
	if err := configured(a, "ReportBounce"); err != nil {
		return err
	}
	to, err := NormalizeEmail(address)
	if err != nil {
		return err
	}
	event := audit.Event{Name: audit.EmailBounced, Outcome: audit.Failed, Reason: audit.ReasonMail, Subject: to}
	if a.store.Store != nil {
		user, err := UserByMailbox(ctx, a.store.Store, address)
		switch {
		case err == nil:
			event.UserID, event.Subject = user.ID, ""
		case !errors.Is(err, ErrNotFound):
			return errorf(ErrStore, "ReportBounce: %w", err)
		}
	}
	if a.store.records != nil {
		if err := a.storeBounce(ctx, to, event.UserID); err != nil {
			return errorf(ErrStore, "ReportBounce: %w", err)
		}
	}
	noteAt(ctx, a.site.audit, nil, event)
	return nil
}

// storeBounce stores a report. Of concurrent reports one is stored, which is enough.
func (a *Auth) storeBounce(ctx context.Context, address, userID string) error {
	now := a.plugins.now()
	value, err := json.Marshal(bounce{now.UTC()})
	if err != nil {
		return err
	}
	r, err := a.plugins.bounceRecord(ctx, address)
	switch {
	case err == nil && r.UserID == userID:
		r.Value, r.Expires = value, now.Add(bounceFor)
		err = a.store.records.UpdateRecord(ctx, r)
	case err == nil: // the address has another user by now
		if _, err = a.store.records.DeleteRecord(ctx, bounceKind, r.Key); err != nil {
			break
		}
		fallthrough
	case errors.Is(err, ErrNotFound):
		err = a.store.records.CreateRecord(ctx, &store.Record{
			Kind: bounceKind, Key: digest(a.plugins.seals.Secrets[0], bounceKind, address), UserID: userID, Value: value,
			Expires: now.Add(bounceFor),
		})
	}
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// bounceKeys returns the keys of the record of an address, under all secrets.
func (ps *plugins) bounceKeys(address string) []string {
	keys := make([]string, len(ps.seals.Secrets))
	for i, secret := range ps.seals.Secrets {
		keys[i] = digest(secret, bounceKind, address)
	}
	return keys
}

// bounceRecord returns the record of an address, or [ErrNotFound].
func (ps *plugins) bounceRecord(ctx context.Context, address string) (*store.Record, error) {
	for _, key := range ps.bounceKeys(address) {
		r, err := ps.auth.store.records.Record(ctx, bounceKind, key)
		if !errors.Is(err, ErrNotFound) {
			return r, err
		}
	}
	return nil, ErrNotFound
}

// bouncedSince reports whether a bounce of an address was reported at or after a time. An error of the store is no
// reason to give up an email.
func (ps *plugins) bouncedSince(ctx context.Context, address string, since time.Time) bool {
	to, err := NormalizeEmail(address)
	if err != nil || ps.auth.store.records == nil {
		return false
	}
	r, err := ps.bounceRecord(ctx, to)
	var b bounce
	return err == nil && json.Unmarshal(r.Value, &b) == nil && !b.At.Before(since)
}

// Bounces reports whether [Auth.ReportBounce] was called for the address of a user after they verified it. records are
// the user's records.
func (h *PluginHost) Bounces(u *User, records []*store.Record) bool {
	to, err := NormalizeEmail(u.Email)
	if err != nil {
		return false
	}
	keys := h.plugins.bounceKeys(to)
	return slices.ContainsFunc(records, func(r *store.Record) bool {
		var b bounce
		return r.Kind == bounceKind && slices.Contains(keys, r.Key) && r.Expires.After(h.Now()) &&
			json.Unmarshal(r.Value, &b) == nil && b.At.After(u.EmailVerified)
	})
}
