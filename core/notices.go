package core

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
)

// noticeSender is the name of the sender of security notices.
const noticeSender = "notices"

// NotifyMethodChanges enables the security notices of [ActionRequest.NotifySecurity], and those that core sends when a
// passkey or an account was added or removed: [mailkind.PasskeyAdded], [mailkind.PasskeyRemoved],
// [mailkind.AccountLinked], [mailkind.AccountUnlinked]. action is the plugin's page where the owner can secure the
// account; the email links to it. If several plugins call NotifyMethodChanges, the first one counts. A nil mailer is
// ignored.
func (h *PluginHost) NotifyMethodChanges(action string, mailer Mailer) {
	h.attaching("NotifyMethodChanges")
	if h.plugins.notices.mailer == nil && mailer != nil {
		h.plugins.notices.mailer, h.plugins.notices.action = mailer, action
		h.AddEmailSender(EmailSender{Name: noticeSender, Mailer: mailer, Write: h.plugins.composeNotice})
	}
}

// CanNotify reports whether security notices are emailed: whether a plugin called [PluginHost.NotifyMethodChanges] with
// a mailer. It is valid after New has returned.
func (h *PluginHost) CanNotify() bool { return h.plugins.notices.mailer != nil }

// AddNoticeLink registers the function that makes the link "This wasn't me" of a security notice to a verified address.
// link returns an action with its query, such as "account/secure?token=…", and its expiry. The page must ask for
// confirmation before it changes anything. If several plugins call AddNoticeLink, the first one counts. Without it, the
// link is the action of [PluginHost.NotifyMethodChanges]. The link of [mailkind.FactorGuessed] starts a password reset,
// if the user has a password.
func (h *PluginHost) AddNoticeLink(
	link func(ctx context.Context, n SecurityNotice) (action string, expires time.Time, err error),
) {
	h.attaching("AddNoticeLink")
	if h.plugins.notices.link == nil {
		h.plugins.notices.link = link
	}
}

// AddNoticeReversal registers a function that reverses what the plugin has changed, when the owner of an account has
// confirmed that a change was not theirs: for example, it removes the factor n.Method. The user's sessions have ended.
// It must be idempotent.
func (h *PluginHost) AddNoticeReversal(reverse func(ctx context.Context, c *ActionRequest, n SecurityNotice) error) {
	h.attaching("AddNoticeReversal")
	h.plugins.notices.reversal = append(h.plugins.notices.reversal, reverse)
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
	for _, reverse := range c.plugins.notices.reversal {
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
	action := ""
	err = guard("NoticeLink", func() (err error) { action, expires, err = c.plugins.noticeAction(ctx, n); return err })
	if err != nil {
		return "", time.Time{}, errorf(ErrAuth, "link of a security notice: %w", err)
	}
	if action == "" {
		return "", time.Time{}, nil
	}
	return Secret(base + "/" + action), expires, nil
}

// noticeAction returns the action of the link in a notice, or "". Guessed codes changed nothing that could be reversed,
// and their sender knows the password: that link starts a password reset.
func (ps *plugins) noticeAction(ctx context.Context, n SecurityNotice) (action string, expires time.Time, err error) {
	if n.Kind == mailkind.FactorGuessed && ps.resetLink != nil {
		action, expires, err = ps.resetLink(ctx, n.UserID)
		if !errors.Is(err, ErrNotFound) {
			return action, expires, err
		}
	}
	if ps.notices.link == nil {
		return "", time.Time{}, nil
	}
	return ps.notices.link(ctx, n)
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
	n.Audit.UserID, n.Audit.Provider = n.UserID, or(n.Audit.Provider, n.Provider)
	n.Audit.Outcome = audit.Outcome(or(string(n.Audit.Outcome), string(audit.OK)))
	noteAt(v.pending.Reported(ctx, n.Audit), v.audit, at, n.Audit)
}

// noticeUser returns the recipient of notices, or nil if none are sent.
func (ps *plugins) noticeUser(ctx context.Context, id string) (*User, error) {
	if ps.notices.mailer == nil || ps.auth.store.Store == nil {
		return nil, nil
	}
	return ps.auth.store.User(ctx, id)
}

// notify emails a user. It does not report the notice to Config.Audit.
func (ps *plugins) notify(ctx context.Context, v *arrival, user *User, n SecurityNotice) {
	j, err := ps.noticeJob(ctx, v, user, n)
	switch {
	case err != nil:
		v.log.failure(ctx, asError(err, ErrAuth), v.attrs()...)
	case j != nil:
		ps.auth.mail.sendNotice(j)
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
		told.UserID, told.Provider = n.UserID, or(told.Provider, n.Provider)
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
	return ps.auth.mail.around(ctx, j, change)
}

// noticeData is the data of a notice in the mail queue. The link in the email is made when the email is delivered, so
// that a notice can be stored in the transaction of its change.
type noticeData struct {
	UserID   string `json:"user"`
	Provider string `json:"provider,omitempty"`
	Method   string `json:"method,omitempty"`
	// Base is the URL of the actions. It is empty outside of a request without Config.URL.
	Base string `json:"base,omitempty"`
	// Action is SecurityNotice.Action.
	Action string `json:"action,omitempty"`
	// Verified reports that the user had verified the address. Otherwise a linked provider must have.
	Verified bool `json:"verified,omitempty"`
}

// noticeJob returns the job of a notice to a user, or nil if none is sent.
func (ps *plugins) noticeJob(ctx context.Context, v *arrival, user *User, n SecurityNotice) (*mailJob, error) {
	if ps.notices.mailer == nil || user == nil || user.Email == "" {
		return nil, nil
	}
	to, err := NormalizeEmail(user.Email)
	if err != nil { // not an address
		return nil, nil //nolint:nilerr // such a user gets no email
	}
	if n.At.IsZero() {
		n.At = ps.now()
	}
	l := Email{To: to, Kind: n.Kind, At: n.At, Theme: ps.auth.pages.theme, Locale: v.language()}
	if v.r.Method != "" {
		l.Request = v.r
	}
	if v.base != "" {
		l.Host = hostOf(v.origin)
		l = l.withClient(v)
	}
	j, err := ps.auth.mail.job(ctx, v, laneNotices, BackgroundEmail{
		Sender: noticeSender, Email: l, UserID: user.ID,
		Data: noticeData{user.ID, n.Provider, n.Method, v.base, n.Action, !user.EmailVerified.IsZero()},
	})
	if err == nil {
		j.Checkable = n.addsMethod()
	}
	return j, err
}

// addsMethod reports whether a sign-in method was added, which can be looked up.
func (n *SecurityNotice) addsMethod() bool {
	return n.Method != "" && (n.Kind == mailkind.PasskeyAdded || n.Kind == mailkind.AccountLinked)
}

// composeNotice adds the link to a notice. If the user is gone or has another address by now, a link to reset their
// password is not sent to the old address. An address that no one has verified gets no email.
func (ps *plugins) composeNotice(ctx context.Context, l Email, data json.RawMessage) (Email, error) {
	var d noticeData
	if err := json.Unmarshal(data, &d); err != nil {
		return Email{}, err
	}
	user, err := ps.auth.store.User(ctx, d.UserID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Email{}, errorf(ErrStore, "notify a user: %w", err)
	}
	if err == nil && !d.Verified {
		linked, err := ps.auth.store.linked(ctx, user)
		if err != nil {
			return Email{}, errorf(ErrStore, "notify a user: %w", err)
		}
		d.Verified = slices.ContainsFunc(linked, func(a *Account) bool { return SameMailbox(a.VerifiedEmail, l.To) })
	}
	if !d.Verified {
		return Email{}, nil
	}
	if l.Kind == mailkind.AccountLinked || l.Kind == mailkind.AccountUnlinked {
		l.Service = ps.providerName(d.Provider)
	}
	if d.Base == "" {
		return l, nil
	}
	l.URL = Secret(d.Base + "/" + or(d.Action, ps.notices.action))
	if err != nil || d.Action != "" || l.Kind == mailkind.FactorGuessed && !SameMailbox(user.Email, l.To) {
		return l, nil
	}
	n := SecurityNotice{
		Kind: l.Kind, UserID: d.UserID, Provider: d.Provider, Method: d.Method, At: l.At, Address: l.To,
	}
	action, expires := "", time.Time{}
	err = guard("NoticeLink", func() (err error) { action, expires, err = ps.noticeAction(ctx, n); return err })
	switch {
	case err != nil: // the email is more important than its link
		ps.auth.log.failure(ctx, errorf(ErrAuth, "link of a security notice: %w", err))
	case action != "":
		l.URL, l.Expires = Secret(d.Base+"/"+action), expires
	}
	return l, nil
}

// noticeMade reports whether the change of a notice was made, for a process that ended or failed in between. It reports
// true if that cannot be known: a needless notice is better than none.
func (ps *plugins) noticeMade(ctx context.Context, m *mail) (bool, error) {
	var d noticeData
	if m.Sender != noticeSender || json.Unmarshal(m.data, &d) != nil {
		return true, nil
	}
	if n := (SecurityNotice{Kind: m.Email.Kind, Method: d.Method}); !n.addsMethod() {
		return true, nil
	}
	methods, err := ps.signInMethods(ctx, d.UserID)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return slices.ContainsFunc(methods, func(m SignInMethod) bool { return m.ID == d.Method }), err
}

// AddClient returns e with the network and the device of this request's client, for a security notice. The network is
// left out if the client is not identified, because it would be that of a proxy. Call AddClient only if the recipient's
// address is verified: another person who reads the mailbox must not learn where the user is.
func (c *ActionRequest) AddClient(e Email) Email { return e.withClient(&c.in.arrival) }

func (e Email) withClient(at *arrival) Email {
	if from := at.client(); from.identified {
		e.Peer = from.network
	}
	browser, system := ui.Device(at.header("User-Agent"))
	e.Device = strings.Trim(browser+", "+system, ", ")
	return e
}

// addedEvents are the audit events of new sign-in methods.
var addedEvents = map[mailkind.Kind]audit.Name{
	mailkind.PasskeyAdded: audit.PasskeyAdded, mailkind.AccountLinked: audit.AccountLinked,
}
