package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
	// Activity adds the page "Recent security activity", with a link on the account page: sign-ins, failed sign-ins and
	// changes, with browser and network. The store has at most 40 entries of a user, for 90 days, in one record. They are
	// written in the background, and can be lost if the process ends: Config.Audit is the complete log. The default is
	// false.
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
		h.AddEmailSender(core.EmailSender{Name: senderName, Mailer: a.options.Mail})
		h.NotifyMethodChanges("account", a.options.Mail)
		h.AddNoticeLink(a.handlers.disavowals.link)
		h.RememberBrowsers() // for emails about new browsers
	}
	if a.options.Activity {
		h.OnAudit(a.handlers.activities.receive)
		h.AddUserData(core.UserData{Name: "activity", Heading: textActivity,
			Read: func(ctx context.Context, userID string) (any, error) { return a.handlers.activities.of(ctx, userID) }})
	}
	if a.options.DownloadData != nil && !a.options.Download {
		h.AddConfigError("Options.DownloadData is set and Options.Download is false: set both, or neither")
	}
	for _, f := range a.options.Profile.Fields {
		if slices.Contains([]string{"", "name", "image", "csrfToken", "callbackUrl"}, f.Name) {
			h.AddConfigError(fmt.Sprintf("Options.Profile: a field has the name %q, which is reserved: use another one", f.Name))
		}
	}
	if len(a.options.Profile.Fields) > 0 && a.options.Profile.Save == nil {
		h.AddConfigError("Options.Profile.Save is nil: set a function that stores the fields")
	}
	if h.Store != nil && h.Accounts == nil {
		h.AddConfigError("the account page needs a Store that is a store.AccountStore too (package core/store)")
	}
	if a.options.Delete != nil && h.Store != nil && h.UserDeleter == nil {
		h.AddConfigError("Options.Delete needs a Store that is a store.UserDeleter too (package core/store)")
	}
	h.AddSignInGate(a.handlers.gate)
	if a.options.DeleteAfter != 0 {
		a.attachScheduled(h)
	}
	h.TrackPasskeys(core.PasskeyTracker{
		UserHandle: a.handlers.passkeys.userHandle, Added: a.handlers.passkeys.added,
	})
	h.AddWellKnown("passkey-endpoints", a.handlers.passkeys.endpoints)
	for _, action := range a.handlers.actions() {
		h.AddAction(action)
	}
	return nil
}

// attachScheduled registers the gate and the task of Options.DeleteAfter.
func (a *Account) attachScheduled(h *core.PluginHost) {
	switch {
	case a.options.DeleteAfter < 0:
		h.AddConfigError(fmt.Sprintf("Options.DeleteAfter is %v: it must not be negative", a.options.DeleteAfter))
	case a.options.Delete == nil:
		h.AddConfigError("Options.DeleteAfter is set and Options.Delete is nil: set both, or neither")
	case h.Store != nil && h.RecordLister == nil:
		h.AddConfigError("Options.DeleteAfter needs a Store that is a store.RecordLister too (package core/store)")
	}
	h.AddFinalSignInGate(a.handlers.schedule.gate)
	h.AddTask(a.handlers.schedule.run)
}

// handlers are the handlers of the plugin, one for each user action.
type handlers struct {
	pages          *pages
	reauth         *reauth
	unlinks        *unlinks
	passkeys       *passkeys
	sessionRevoker *sessionRevoker
	profiles       *profiles
	emails         *emails
	undos          *undos
	disavowals     *disavowals
	deletions      *deletions
	schedule       *schedule
	invitations    *invitations
	sender         *sender
	activities     *activities
	downloads      *downloads

	host *core.PluginHost
	// mails reports whether emails can be sent, deletes whether users can delete their account.
	mails, deletes bool
	downloading    bool // Options.Download
}

func newHandlers(h *core.PluginHost, o *Options) *handlers {
	records := h.Records()
	notes := &passkeyNotes{records, h.Logger}
	overviews := &overviews{h, records, notes, o.PasskeyNames}
	locks := &locks{records, h.Now, h.Logger}
	links := &links{h, records}
	sender := &sender{h, o.Mail}
	undos := &undos{h, links, &restores{h, links, locks}}
	reauth := &reauth{h, o.Fresh}
	schedule := &schedule{h, records, links, sender, o}
	keys := &passkeys{h, overviews, locks, notes}
	activities := &activities{host: h, records: records, waiting: map[string][]Activity{}}
	pages := &pages{
		host: h, overviews: overviews, reauth: reauth, passkeys: keys, mails: o.Mail != nil, deletes: o.Delete != nil,
		deleteAfter: o.DeleteAfter, profile: o.Profile, downloading: o.Download, activity: o.Activity,
	}
	return &handlers{
		host: h, downloading: o.Download, mails: o.Mail != nil, deletes: o.Delete != nil,
		pages:          pages,
		profiles:       &profiles{h, pages, locks, o.Profile},
		reauth:         reauth,
		unlinks:        &unlinks{h, overviews, locks},
		passkeys:       keys,
		sessionRevoker: &sessionRevoker{},
		emails:         &emails{h, links, sender, undos, locks, o.Code},
		undos:          undos,
		disavowals:     &disavowals{h, links, undos, undos.restores},
		deletions:      &deletions{h, sender, o.Delete, schedule},
		schedule:       schedule,
		invitations:    &invitations{h, records, sender}, sender: sender,
		activities: activities, downloads: &downloads{h, overviews, o.DownloadData},
	}
}

// signedIn is a guard that accepts every signed-in user.
var signedIn = []core.Guard{func(context.Context, *core.Session) error { return nil }}

// actions returns the actions of the plugin. Each type of handlers lists its own.
func (s *handlers) actions() []core.Action {
	groups := []interface {
		actions(r *reauth) []core.Action
	}{s.pages, s.reauth, s.profiles, s.unlinks, s.passkeys, s.sessionRevoker}
	if s.mails {
		groups = append(groups, s.emails, s.undos, s.disavowals)
	}
	if s.deletes {
		groups = append(groups, s.deletions)
	}
	if s.pages.activity {
		groups = append(groups, s.activities)
	}
	if s.downloading {
		groups = append(groups, s.downloads)
	}
	if s.schedule.on() {
		groups = append(groups, s.schedule)
	}
	var all []core.Action
	for _, g := range groups {
		all = append(all, g.actions(s.reauth)...)
	}
	for i := range all {
		all[i].Name = "account"
		d := descriptions[all[i].Method+" "+all[i].Verb]
		all[i].Summary, all[i].Input, all[i].Output = d.summary, d.input, d.output
		if all[i].Require != nil {
			all[i].Handle = requireUser(all[i].Handle)
		}
	}
	return all
}

// requireUser wraps a handler with the response to users that the store no longer has.
func requireUser(handle handler) handler {
	return func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		response, err := handle(ctx, c)
		if errors.Is(err, core.ErrNotFound) {
			return userGone(ctx, c)
		}
		return response, err
	}
}

// gate never stops a sign-in. It stores the time a passkey was used, and deletes the user's invitation, which
// Callbacks.SignIn has applied by now. Failures are only logged, so that they do not prevent the sign-in.
func (s *handlers) gate(ctx context.Context, p *core.PendingSignIn) (next string, err error) {
	if p.Linking {
		return "", nil
	}
	s.passkeys.used(ctx, p)
	if err := s.invitations.use(ctx, p.User); err != nil {
		s.host.Logger.WarnContext(ctx, "account: could not delete a used invitation", "error", err)
	}
	return "", nil
}

// userGone responds to a request of a user that the store no longer has, because an encrypted session cookie can
// outlive its user. Browsers are signed out and redirected to the sign-in page. Programs get a 401.
func userGone(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	problem := &core.Problem{Status: http.StatusUnauthorized, Code: codeReauth}
	if c.Request.Method != http.MethodPost { // GET does not change the session; the next sign-in replaces it
		if c.WantsJSON {
			return nil, problem
		}
		return c.Redirect(c.URL("signin")), nil
	}
	if err := c.SignOut(ctx); err != nil {
		return nil, fmt.Errorf("account: sign out a deleted user: %w", err)
	}
	if c.WantsJSON {
		return nil, problem
	}
	return c.Redirect(c.URL("signin")), nil
}
