package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Options are the choices of [New]. The zero value shows the account page, without a change of address and without a
// way to delete the account.
type Options struct {
	// Fresh is how old the proof of who the visitor is may be for a change: linking, unlinking, passkeys, address,
	// deletion. An older one leads to the sign-in page and back to the page, which offers what was asked for once more, to
	// the same user alone. Zero: 15 minutes.
	Fresh time.Duration
	// Mail delivers letters: to a new address and to the old one, after a deletion, to people who are invited. nil: no
	// change of address, and no invitations.
	Mail core.Mailer
	// Delete is asked before a user is deleted: it removes what the application keeps of them. Its error stops the
	// deletion; a *[core.Problem] tells the visitor why, any other is answered as a failure and logged. It is called
	// again when a later step failed, for a user whose things are gone already. nil: people cannot delete themselves.
	Delete func(ctx context.Context, u *core.User) error
}

// Account is the part that lets people look after their account. [New] makes one; it is attached to one Auth. Its
// methods work once core.New has returned, and are safe for concurrent use.
type Account struct {
	options Options
	stories *stories // nil before Attach
}

// New returns an Account for Config.Parts.
func New(o Options) *Account {
	if o.Fresh == 0 {
		o.Fresh = freshFor
	}
	return &Account{options: o}
}

const (
	freshFor = 15 * time.Minute
	// endWithin is how old the proof may be for ending sessions (OWASP ASVS 5.0, 7.5.2).
	endWithin = time.Hour
	// workFor bounds what is done while an account is locked; a lock that was left behind is good for lockFor.
	workFor, lockFor = 5 * time.Second, 30 * time.Second
	changeFor        = 24 * time.Hour
	undoFor          = 7 * 24 * time.Hour
	inviteFor        = 7 * 24 * time.Hour
)

// The kinds of records.
const (
	kindPassword = "password" // of the part that keeps passwords
	kindReset    = "reset"    // of that part too
	kindPasskey  = "passkey"
	kindChange   = "email-change"
	kindUndo     = "email-undo"
	kindLock     = "account-lock"
	kindInvite   = "invite"
)

// ErrLastMethod is the answer of [Account.Unlink] and [Account.RemovePasskey] where the user could not sign in any
// more.
var ErrLastMethod = errors.New("account: this is the user's last way to sign in")

// Mailer is Options.Mail, which package doctor asks whether it could deliver; nil: there is none.
func (a *Account) Mailer() core.Mailer { return a.options.Mail }

// Attach implements [core.Part].
func (a *Account) Attach(h *core.Host) error {
	if a.stories != nil {
		return errors.New("it is attached to an Auth already: make one with account.New for each Auth")
	}
	a.stories = storiesOf(h, &a.options)
	h.FreshLinks(a.options.Fresh)
	h.ProvesEmail()
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
		h.Notices("account", a.options.Mail)
	}
	if h.Store != nil && h.Accounts == nil {
		h.Fault("the account page needs a Store that is a store.AccountStore too (package core/store)")
	}
	if a.options.Delete != nil && h.Store != nil && h.UserDeleter == nil {
		h.Fault("Options.Delete needs a Store that is a store.UserDeleter too (package core/store)")
	}
	h.Gate(a.stories.gate)
	for _, action := range a.stories.actions() {
		h.Action(action)
	}
	return nil
}
