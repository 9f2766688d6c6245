package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/bounces"
	"github.com/latchkey-go/latchkey/core/store"
)

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
	if a.store.Records != nil {
		if err := a.plugins.bounces().Add(ctx, to, event.UserID); err != nil {
			return errorf(ErrStore, "ReportBounce: %w", err)
		}
	}
	noteAt(ctx, a.site.audit, nil, event)
	return nil
}

// bounces returns the reports in the store.
func (ps *plugins) bounces() *bounces.Bounces {
	return &bounces.Bounces{Records: ps.auth.store.Records, Secrets: ps.seals.Secrets, Now: ps.now}
}

// Bounces reports whether [Auth.ReportBounce] was called for the address of a user after they verified it. records are
// the user's records.
func (h *PluginHost) Bounces(u *User, records []*store.Record) bool {
	to, err := NormalizeEmail(u.Email)
	if err != nil {
		return false
	}
	return h.plugins.bounces().In(records, to, u.EmailVerified)
}
