package core

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/accounts"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/mailqueue"
	"github.com/latchkey-go/latchkey/core/internal/notices"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
)

// NotifyMethodChanges enables the security notices of [ActionRequest.NotifySecurity], and those that core sends when a
// passkey or an account was added or removed: [mailkind.PasskeyAdded], [mailkind.PasskeyRemoved],
// [mailkind.AccountLinked], [mailkind.AccountUnlinked]. action is the plugin's page where the owner can secure the
// account; the email links to it. If several plugins call NotifyMethodChanges, the first one counts. A nil mailer is
// ignored.
func (h *PluginHost) NotifyMethodChanges(action string, mailer Mailer) {
	h.attaching("NotifyMethodChanges")
	if h.plugins.notifier != nil || mailer == nil {
		return
	}
	h.plugins.notifier = mailer
	w := &notices.Writer{
		Links: &h.plugins.noticeLinks, Page: action, Service: h.plugins.providerName,
		User:     func(ctx context.Context, id string) (*User, error) { return h.Auth.store.User(ctx, id) },
		Accounts: h.Auth.store.Linked,
		LinkFailed: func(ctx context.Context, err error) {
			h.Auth.log.failure(ctx, errorf(ErrAuth, "%w", err))
		},
	}
	h.AddEmailSender(EmailSender{
		Name: noticeSender, Mailer: mailer,
		Write: func(ctx context.Context, l Email, data json.RawMessage) (Email, error) {
			l, err := w.Write(ctx, l, data)
			if err != nil {
				err = errorf(ErrStore, "notify a user: %w", err)
			}
			return l, err
		},
	})
}

// CanNotify reports whether security notices are emailed: whether a plugin called [PluginHost.NotifyMethodChanges] with
// a mailer. It is valid after New has returned.
func (h *PluginHost) CanNotify() bool { return h.plugins.notifier != nil }

// AddNoticeLink registers the function that makes the link "This wasn't me" of a security notice to a verified address.
// link returns an action with its query, such as "account/secure?token=…", and its expiry. The page must ask for
// confirmation before it changes anything. If several plugins call AddNoticeLink, the first one counts. Without it, the
// link is the action of [PluginHost.NotifyMethodChanges]. The link of [mailkind.FactorGuessed] starts a password reset,
// if the user has a password.
func (h *PluginHost) AddNoticeLink(
	link func(ctx context.Context, n SecurityNotice) (action string, expires time.Time, err error),
) {
	h.attaching("AddNoticeLink")
	if h.plugins.noticeLinks.Secure == nil {
		h.plugins.noticeLinks.Secure = link
	}
}

// AddNoticeReversal registers a function that reverses what the plugin has changed, when the owner of an account has
// confirmed that a change was not theirs: for example, it removes the factor n.Method. The user's sessions have ended.
// It must be idempotent.
func (h *PluginHost) AddNoticeReversal(reverse func(ctx context.Context, c *ActionRequest, n SecurityNotice) error) {
	h.attaching("AddNoticeReversal")
	h.needs(reverse != nil, "the function of AddNoticeReversal")
	h.plugins.reversals = append(h.plugins.reversals, reverse)
}

// ReverseNotice reverses a change that the owner of the account has not made, as far as possible: it removes the
// passkey or the account n.Method if it was added, and calls the functions of [PluginHost.AddNoticeReversal]. It does
// not end sessions. Call it only for a link that was sent to the user's verified address, in a POST.
func (c *ActionRequest) ReverseNotice(ctx context.Context, n SecurityNotice) error {
	if c.in.r.Method != http.MethodPost {
		return errNeedsPost
	}
	if n.Kind == mailkind.PasskeyAdded || n.Kind == mailkind.AccountLinked {
		all, err := c.plugins.signInMethods(ctx, n.UserID)
		if err != nil {
			return err
		}
		for _, m := range all {
			if m.ID != n.Method {
				continue
			}
			if err := c.plugins.methods().Remove(ctx, &m.method); err != nil {
				return errorf(ErrStore, "remove a sign-in method: %w", err)
			}
		}
	}
	for _, reverse := range c.plugins.reversals {
		if err := guard("NoticeReversal", func() error { return reverse(ctx, c, n) }); err != nil {
			return err
		}
	}
	return nil
}

// NoticeLink returns the URL of the link "This wasn't me" for an email that the plugin sends itself, and its expiry.
// The URL is empty if no plugin makes such links. The recipient's address must be verified. Call it before the change
// that the email describes, and do not make the change if it returns an error.
func (c *ActionRequest) NoticeLink(
	ctx context.Context, n SecurityNotice,
) (url Secret, expires time.Time, err error) {
	base := c.in.base
	if base == "" {
		return "", time.Time{}, nil
	}
	if n.At.IsZero() {
		n.At = c.plugins.now()
	}
	action, expires, err := c.plugins.noticeLinks.Action(ctx, n)
	switch {
	case err != nil:
		return "", time.Time{}, errorf(ErrAuth, "%w", err)
	case action == "":
		return "", time.Time{}, nil
	}
	return Secret(base + "/" + action), expires, nil
}

// NotifySecurity reports a change that this request has made and committed: it calls Config.Audit, and emails the user
// if a plugin called [PluginHost.NotifyMethodChanges]. The email has the time, the device and the network of this
// request. The user's address must be verified, by its user or by a linked provider: an unverified address may belong
// to another person. The email is sent in the background as by [ActionRequest.Notify]. A failure is logged.
func (c *ActionRequest) NotifySecurity(ctx context.Context, n SecurityNotice) {
	c.plugins.notifySecurity(ctx, &c.in.arrival, &c.in.arrival, n)
}

// NotifySecurity is [ActionRequest.NotifySecurity] outside of a request to an action, for example in a program for
// support. Call it only after New has returned. The email has no device and no network. It has a link only if
// Config.URL is set.
func (h *PluginHost) NotifySecurity(ctx context.Context, n SecurityNotice) {
	h.plugins.notifySecurity(ctx, h.noRequest(), nil, n)
}

// notifySecurity reports and emails a notice. at is the request for the audit event, or nil outside of a request.
func (ps *plugins) notifySecurity(ctx context.Context, v, at *arrival, n SecurityNotice) {
	ps.auditNotice(ctx, v, at, n)
	user, err := ps.noticeUser(ctx, n.UserID)
	if err != nil {
		v.log.failure(ctx, errorf(ErrStore, "notify a user: %w", err), v.attrs()...)
		return
	}
	ps.notify(ctx, v, user, n)
}

func (ps *plugins) auditNotice(ctx context.Context, v, at *arrival, n SecurityNotice) {
	if n.Audit.Name == "" {
		return
	}
	n.Audit.UserID, n.Audit.Provider = n.UserID, cmp.Or(n.Audit.Provider, n.Provider)
	n.Audit.Outcome = audit.Outcome(cmp.Or(string(n.Audit.Outcome), string(audit.OK)))
	noteAt(v.pending.Reported(ctx, n.Audit), v.audit, at, n.Audit)
}

// noticeUser returns the recipient of notices, or nil if none are sent.
func (ps *plugins) noticeUser(ctx context.Context, id string) (*User, error) {
	if ps.notifier == nil || ps.auth.store.Store == nil {
		return nil, nil
	}
	return ps.auth.store.User(ctx, id)
}

// notify emails a user. It does not report the notice to Config.Audit.
func (ps *plugins) notify(ctx context.Context, v *arrival, user *User, n SecurityNotice) {
	j, err := ps.noticeJob(ctx, v, user, n)
	switch {
	case err != nil:
		v.log.failure(ctx, errormarks.As(err, ErrAuth), v.attrs()...)
	case j != nil:
		ps.auth.mail.Notify(j)
	}
}

// NotifyChange runs change, which makes the change that n describes, and then reports it as NotifySecurity does. The
// email is stored before the change: if the process ends between the change and the email, another process sends it. If
// change returns an error, no email is sent and NotifyChange returns that error.
func (c *ActionRequest) NotifyChange(
	ctx context.Context, n SecurityNotice, change func(ctx context.Context) error,
) error {
	return c.plugins.notifyChange(ctx, &c.in.arrival, &c.in.arrival, n, change)
}

// NotifyChange is [ActionRequest.NotifyChange] outside of a request to an action: see [PluginHost.NotifySecurity].
func (h *PluginHost) NotifyChange(
	ctx context.Context, n SecurityNotice, change func(ctx context.Context) error,
) error {
	return h.plugins.notifyChange(ctx, h.noRequest(), nil, n, change)
}

// notifyChange makes a change and reports it. at is the request for the audit event, or nil outside of a request.
func (ps *plugins) notifyChange(
	ctx context.Context, v, at *arrival, n SecurityNotice, change func(ctx context.Context) error,
) error {
	user, err := ps.noticeUser(ctx, n.UserID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return errorf(ErrStore, "notify a user: %w", err)
	}
	if n.Audit.Name != "" {
		told := n.Audit
		told.UserID, told.Provider = n.UserID, cmp.Or(told.Provider, n.Provider)
		if err := v.announce(ctx, nil, told); err != nil {
			return err
		}
	}
	if err := ps.notifyAround(ctx, v, user, n, change); err != nil {
		if at == nil {
			v.pending.Cancel(!refusesChange(err))
		}
		return err
	}
	ps.auditNotice(ctx, v, at, n)
	return nil
}

// notifyAround stores a notice, runs change, and sends the notice.
func (ps *plugins) notifyAround(
	ctx context.Context, v *arrival, user *User, n SecurityNotice, change func(ctx context.Context) error,
) error {
	j, err := ps.noticeJob(ctx, v, user, n)
	if err != nil {
		return err
	}
	return ps.aroundNotice(ctx, j, change)
}

// noticeJob returns the job of a notice to a user, or nil if none is sent.
func (ps *plugins) noticeJob(
	ctx context.Context, v *arrival, user *User, n SecurityNotice,
) (*mailqueue.Job, error) {
	if n.At.IsZero() {
		n.At = ps.now()
	}
	l, data, ok := notices.New(user, n, v.base)
	if ps.notifier == nil || !ok {
		return nil, nil
	}
	l.Theme, l.Locale = ps.auth.pages.theme, v.language()
	if v.r.Method != "" {
		l.Request = v.r
	}
	if v.base != "" {
		l.Host = v.at.Host
		l = v.describeIn(l)
	}
	j, err := ps.mailJob(ctx, v, mailqueue.Notices, BackgroundEmail{
		Sender: noticeSender, Email: l, UserID: user.ID, Data: data,
	})
	if err == nil {
		j.Checkable = notices.Checkable(n.Kind, n.Method)
	}
	return j, err
}

// AddClient returns e with the network and the device of this request's client, for a security notice. The network is
// left out if the client is not identified, because it would be that of a proxy. Call AddClient only if the recipient's
// address is verified: another person who reads the mailbox must not learn where the user is.
func (c *ActionRequest) AddClient(e Email) Email { return c.in.describeIn(e) }

func (v *arrival) describeIn(e Email) Email {
	if network, identified := v.client(); identified {
		e.Peer = network
	}
	browser, system := ui.Device(v.header("User-Agent"))
	e.Device = strings.Trim(browser+", "+system, ", ")
	return e
}

// Add implements [accounts.Effects]. It emails the user unless they are new. The email is stored in the same
// transaction, or before write if the store has none.
func (e *linkEffects) Add(
	ctx context.Context, a *accounts.Attempt, m accounts.Method, write func(ctx context.Context) error,
) (err error) {
	var j *mailqueue.Job
	if !m.NewUser {
		n := SecurityNotice{Kind: m.Kind, UserID: m.User.ID, Provider: m.Provider, Method: m.ID}
		if j, err = e.plugins.noticeJob(ctx, e.at, m.User, n); err != nil {
			return err
		}
	}
	if err := a.AnnounceChange(ctx, audit.Event{Name: addedEvents[m.Kind], UserID: m.User.ID}); err != nil {
		return err
	}
	mail, records := e.plugins.auth.mail, a.Records()
	if records != nil || !a.InTransaction() {
		if err := mail.Plan(ctx, records, j); err != nil {
			return errormarks.As(err, ErrStore)
		}
	}
	if err := write(ctx); err != nil {
		if !a.InTransaction() {
			mail.Cancel(j, !refusesChange(err))
		}
		return err
	}
	ctx = context.WithoutCancel(ctx) // the context of a transaction ends with the transaction
	a.AfterCommit(func() {
		e.plugins.noteMethod(ctx, e.at, m.User.ID, m.ID)
		mail.Confirm(j)
	})
	return nil
}

// addedEvents are the audit events of new sign-in methods.
var addedEvents = map[mailkind.Kind]audit.Name{
	mailkind.PasskeyAdded: audit.PasskeyAdded, mailkind.AccountLinked: audit.AccountLinked,
}
