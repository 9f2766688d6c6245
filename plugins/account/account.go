package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Account is the plugin that serves the account page. [New] creates one, and it belongs to one Auth. Its methods work
// after core.New has returned and are safe for concurrent use.
type Account struct {
	options  Options
	handlers *handlers // nil before Attach
}

// New returns an Account for Config.Plugins.
func New(o Options) *Account {
	if o.Fresh == 0 {
		o.Fresh = defaultFresh
	}
	return &Account{options: o}
}

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
		all[i].Describe(descriptions)
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

// Overview returns the account of a user. If ctx is the context of a request that passed the request hook, the result
// marks the current session. It returns [core.ErrNotFound] if there is no such user. It makes four to six calls to the
// store.
func (a *Account) Overview(ctx context.Context, userID string) (*Overview, error) {
	v, err := a.handlers.pages.overviews.load(ctx, userID, "")
	if err != nil {
		return nil, err
	}
	return &v.Overview, nil
}

// Invite emails an invitation. It replaces an earlier invitation of the same address. It requires Options.Mail. If the
// address already has an account, Invite still sends the email, and its link opens the sign-in page.
func (a *Account) Invite(ctx context.Context, i Invitation) error {
	return a.handlers.invitations.invite(ctx, i)
}

// Invitation returns the open invitation of an email address. Callbacks.SignIn can use it to decide about a new user
// and to apply Data. The caller must check that the address is verified: by Account.VerifiedEmail of a provider, by a
// sign-in link, or by EmailVerified of a stored user, which is set for users who sign up with a password. It returns
// [core.ErrNotFound] if there is no invitation, or if it has expired or was used.
func (a *Account) Invitation(ctx context.Context, email string) (*Invitation, error) {
	return a.handlers.invitations.find(ctx, email)
}

// NamePasskey renames a user's passkey. The name has at most 64 printable characters; "" removes it. id is the ID of a
// [Passkey]. NamePasskey returns [core.ErrNotFound] if the user has no such passkey.
func (a *Account) NamePasskey(ctx context.Context, userID, id, name string) error {
	return a.handlers.passkeys.name(ctx, userID, id, name)
}

// RemovePasskey removes a user's passkey. id is the ID of a [Passkey]. It returns [ErrLastMethod] if the user could not
// sign in afterwards, and [core.ErrNotFound] if the user has no such passkey. The authenticator still has its private
// key, which is no longer accepted.
func (a *Account) RemovePasskey(ctx context.Context, userID, id string) error {
	return a.handlers.passkeys.remove(ctx, userID, id)
}

// Unlink removes a linked account of a user. It returns [ErrLastMethod] if the user could not sign in afterwards. It
// returns [core.ErrNotFound] if the user has no such account, or if the account belongs to a passkey; use RemovePasskey
// for that.
func (a *Account) Unlink(ctx context.Context, userID, provider, accountID string) error {
	return a.handlers.unlinks.unlink(ctx, userID, provider, accountID)
}

// Activity returns the recent security activity of a user, the newest first. It is empty if Options.Activity is false.
func (a *Account) Activity(ctx context.Context, userID string) ([]Activity, error) {
	if !a.options.Activity {
		return []Activity{}, nil
	}
	return a.handlers.activities.of(ctx, userID)
}

// ScheduleDeletion schedules the deletion of a user after Options.DeleteAfter, for example for an administrator, and
// emails the user. It returns the time of the deletion. If the deletion is scheduled already, its time stays. The
// sessions and credentials of the user do not end: call [core.Auth.EndSessions]. It returns [core.ErrNotFound] if there
// is no such user, and an error if Options.DeleteAfter or Config.URL is not set.
func (a *Account) ScheduleDeletion(ctx context.Context, userID string) (due time.Time, err error) {
	if a.handlers == nil || !a.handlers.schedule.on() {
		return due, errors.New("account: ScheduleDeletion needs Options.Delete and Options.DeleteAfter: set both")
	}
	s := a.handlers.schedule
	user, err := s.host.Store.User(ctx, userID)
	if err != nil {
		return due, err
	}
	if err := s.check(ctx, user); err != nil {
		return due, err
	}
	page, err := s.host.URL("account/keep")
	if err != nil {
		return due, err
	}
	address, err := url.Parse(page)
	if err != nil {
		return due, err
	}
	return s.create(ctx, user, scheduler{
		host: address.Host, language: s.host.Locale.Tag,
		url: func(query ...string) (string, error) { return s.host.URL("account/keep", query...) },
		notify: func(email core.Email, change func(ctx context.Context) error) error {
			if err := change(ctx); err != nil || s.sender.mail == nil || email.To == "" {
				return err
			}
			email.Theme, email.Host, email.Locale = s.host.Theme, address.Host, s.host.Locale
			s.host.Notify(ctx, core.BackgroundEmail{Sender: senderName, Email: email, UserID: userID})
			return nil
		},
	})
}
