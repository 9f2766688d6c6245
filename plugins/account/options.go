package account

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
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
	// Code adds a six-digit code to the email that confirms a new address, for users who read it on another device. After
	// the request, a page has an input for the code. It works once, for ten minutes, and only in the browser and the
	// session that requested the change. The link works as without a code. The default is false.
	Code bool
	// Delete is called before a user is deleted, to delete the application's own data about the user. An error stops the
	// deletion: a *[core.Problem] is shown to the user, any other error is logged and answered with a generic failure. If
	// a later step fails, Delete is called again for the same user, after their data is already deleted. If Delete is
	// nil, users cannot delete their account.
	Delete func(ctx context.Context, u *core.User) error
	// DeleteAfter is the time between the user's request and the deletion. The request ends the sessions, refresh tokens
	// and API keys of the user. A sign-in before the deletion shows a page with a button that keeps the account, and so
	// does the link of an email that Mail sends. A background task then calls Delete and deletes the user, within about
	// ten minutes if the site has requests. The store must be a [store.RecordLister]. Zero deletes immediately. Before you
	// set it to zero again, wait until the scheduled deletions have run.
	DeleteAfter time.Duration
	// CheckDelete, if not nil, is called when a user requests a deletion with DeleteAfter. An error refuses the request,
	// as an error of Delete does without DeleteAfter. It must change nothing.
	CheckDelete func(ctx context.Context, u *core.User) error
	// Profile are fields of the application in the form that changes the name and the picture. The zero value adds none.
	Profile ProfileFields
	// Activity adds the page "Recent security activity", and a link to it: sign-ins, failed sign-ins and changes, with
	// browser and network. The store has at most 40 entries of a user, for 90 days, in one record. They are written in the
	// background, and can be lost if the process ends: Config.Audit is the complete log. The default is false.
	Activity bool
	// Download adds a button that downloads the user's data as JSON: the account page and the data of plugins. The
	// default is false.
	Download bool
	// DownloadData returns the application's data about a user for the file, or nil. Its JSON form must not contain
	// secrets. It needs Download and may be nil.
	DownloadData func(ctx context.Context, u *core.User) (any, error)
	// PasskeyNames adds names of products that store passkeys, by AAGUID in lower case, to those that the account page
	// knows (docs/account.md). They must not change after New.
	PasskeyNames map[string]string
}

// ProfileFields are fields of the application in the form that changes the name and the picture, such as a time zone.
type ProfileFields struct {
	// Fields are the inputs, in this order. Name must be neither "name", "image", "csrfToken" nor "callbackUrl". Labels
	// are translated by the key "label." and the Label.
	Fields []ui.Field
	// Load returns the current values by the name of the field. It is called for each view of the page. If it is nil, the
	// form starts with the values of Fields.
	Load func(ctx context.Context, u *core.User) (map[string]string, error)
	// Save is required with Fields. It validates and stores the values, before the name and the picture are stored. The
	// browser can send any values. A *[core.Problem] refuses them: its Text or Detail is shown at the field that it names,
	// or else at the last one, and the form keeps the typed values. Any other error is logged and answered with a general
	// failure.
	Save func(ctx context.Context, u *core.User, values map[string]string) error
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
	kindNotMe    = "not-me"
	kindLock     = "account-lock"
	kindInvite   = "invite"
	kindDeletion = "account-deletion"
	kindKeep     = "account-keep"
	// kindRemoved marks a user who has removed a passkey. The browser creates none without a prompt.
	kindRemoved = "passkey-removed"
)

// ErrLastMethod is returned by [Account.Unlink] and [Account.RemovePasskey] if the user could not sign in afterwards.
var ErrLastMethod = errors.New("account: this is the user's last sign-in method")

// signedIn is a guard that accepts every signed-in user.
var signedIn = []core.Guard{func(context.Context, *core.Session) error { return nil }}
