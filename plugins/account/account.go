package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Options configures [New]. The zero value shows the account page without the forms that change the email address and
// delete the account.
type Options struct {
	// Fresh is the maximum time since the last sign-in for sensitive changes: linking or unlinking an account, passkeys,
	// the email address and account deletion. If the sign-in is older, the user signs in again and returns to the account
	// page, which offers the change again to the same user only. The default is 15 minutes.
	Fresh time.Duration
	// Mail sends emails to the new and the old address after a change, to deleted users and to people who are invited. If
	// Mail is nil, users cannot change their address and [Account.Invite] returns an error.
	Mail core.Mailer
	// Delete is called before a user is deleted, to delete the application's own data about the user. An error stops the
	// deletion: a *[core.Problem] is shown to the user, any other error is logged and answered with a generic failure. If
	// a later step fails, Delete is called again for the same user, after their data is already deleted. If Delete is
	// nil, users cannot delete their account.
	Delete func(ctx context.Context, u *core.User) error
}

// Account is the plugin that serves the account page. [New] creates one, and it belongs to one Auth. Its methods work
// after core.New has returned and are safe for concurrent use.
type Account struct {
	options  Options
	handlers *handlers // nil before Attach
}

// New returns an Account for [core.Config.Plugins].
func New(o Options) *Account {
	if o.Fresh == 0 {
		o.Fresh = defaultFresh
	}
	return &Account{options: o}
}

const (
	defaultFresh = 15 * time.Minute
	// endSessionsWithin is the maximum time since the last sign-in for ending sessions (OWASP ASVS 5.0, 7.5.2).
	endSessionsWithin = time.Hour
	// workTimeout limits the work under an account lock. A lock expires after lockTTL, in case its holder died.
	workTimeout, lockTTL = 5 * time.Second, 30 * time.Second
	changeTTL            = 24 * time.Hour
	undoTTL              = 7 * 24 * time.Hour
	inviteTTL            = 7 * 24 * time.Hour
)

// The kinds of store records.
const (
	kindPassword = "password" // of the password plugin
	kindReset    = "reset"    // of the password plugin
	kindPasskey  = "passkey"
	kindChange   = "email-change"
	kindUndo     = "email-undo"
	kindLock     = "account-lock"
	kindInvite   = "invite"
)

// ErrLastMethod is returned by [Account.Unlink] and [Account.RemovePasskey] if the user could not sign in afterwards.
var ErrLastMethod = errors.New("account: this is the user's last sign-in method")

// Mailer returns Options.Mail, which may be nil. Package doctor uses it to check the mail configuration.
func (a *Account) Mailer() core.Mailer { return a.options.Mail }

// Attach implements [core.Plugin].
func (a *Account) Attach(h *core.PluginHost) error {
	if a.handlers != nil {
		return errors.New("already attached to an Auth: call account.New for each Auth")
	}
	a.handlers = newHandlers(h, &a.options)
	h.RequireRecentSignInToLink(a.options.Fresh)
	h.VerifiesEmail()
	if a.options.Mail != nil {
		h.EmailsLinks()
	}
	h.EndsSessions()
	if m, ok := a.options.Mail.(core.ConfiguredMailer); ok {
		if err := m.Configure(h.Getenv); err != nil {
			return fmt.Errorf("Options.Mail: %w", err)
		}
	}
	if a.options.Mail != nil {
		h.NotifyMethodChanges("account", a.options.Mail)
	}
	if h.Store != nil && h.Accounts == nil {
		h.AddConfigError("the account page needs a Store that is a store.AccountStore too (package core/store)")
	}
	if a.options.Delete != nil && h.Store != nil && h.UserDeleter == nil {
		h.AddConfigError("Options.Delete needs a Store that is a store.UserDeleter too (package core/store)")
	}
	h.AddSignInGate(a.handlers.gate)
	for _, action := range a.handlers.actions() {
		h.AddAction(action)
	}
	return nil
}
