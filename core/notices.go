package core

import (
	"context"
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
		h.AddEmailSender(EmailSender{Name: noticeSender, Mailer: mailer})
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
			if err := c.plugins.removeMethod(ctx, &m); err != nil {
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
// The URL is empty if no plugin makes such links. The recipient's address must be verified.
func (c *ActionRequest) NoticeLink(ctx context.Context, n SecurityNotice) (url Secret, expires time.Time) {
	return c.plugins.noticeLink(ctx, &c.in.arrival, n)
}

func (ps *plugins) noticeLink(ctx context.Context, v *arrival, n SecurityNotice) (url Secret, expires time.Time) {
	if v.base == "" {
		return "", time.Time{}
	}
	if n.At.IsZero() {
		n.At = ps.now()
	}
	action := ""
	err := guard("NoticeLink", func() (err error) { action, expires, err = ps.noticeAction(ctx, n); return err })
	if err != nil {
		v.log.failure(ctx, errorf(ErrAuth, "link of a security notice: %w", err), v.attrs()...)
	}
	if err != nil || action == "" {
		return "", time.Time{}
	}
	return Secret(v.base + "/" + action), expires
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
	v := h.Auth.site.unsettled(&Request{})
	if h.Auth.site.pinned {
		v.place = h.Auth.site.pinnedPlace // shared and immutable
	}
	h.plugins.notifySecurity(ctx, &v, nil, n)
}

// notifySecurity reports and emails a notice. at is the request for the audit event, or nil outside of a request.
func (ps *plugins) notifySecurity(ctx context.Context, v, at *arrival, n SecurityNotice) {
	if n.Audit.Name != "" {
		n.Audit.UserID, n.Audit.Provider = n.UserID, or(n.Audit.Provider, n.Provider)
		n.Audit.Outcome = audit.Outcome(or(string(n.Audit.Outcome), string(audit.OK)))
		noteAt(ctx, v.audit, at, n.Audit)
	}
	if ps.notices.mailer == nil || ps.auth.store.Store == nil {
		return
	}
	user, err := ps.auth.store.User(ctx, n.UserID)
	if err != nil {
		v.log.failure(ctx, errorf(ErrStore, "notify a user: %w", err), v.attrs()...)
		return
	}
	ps.notify(ctx, v, user, n)
}

// notify emails a user. It does not report the notice to Config.Audit.
func (ps *plugins) notify(ctx context.Context, v *arrival, user *User, n SecurityNotice) {
	if ps.notices.mailer == nil || user == nil || user.Email == "" {
		return
	}
	to, err := NormalizeEmail(user.Email)
	if err != nil {
		return
	}
	verified := !user.EmailVerified.IsZero()
	if !verified {
		linked, err := ps.auth.store.linked(ctx, user)
		if err != nil {
			v.log.failure(ctx, errorf(ErrStore, "notify a user: %w", err), v.attrs()...)
			return
		}
		verified = slices.ContainsFunc(linked, func(a *Account) bool { return a.VerifiedEmail == user.Email })
	}
	if !verified {
		return
	}
	if n.At.IsZero() {
		n.At = ps.now()
	}
	l := Email{To: to, Kind: n.Kind, At: n.At, Theme: ps.auth.pages.theme, Locale: v.language()}
	if v.r.Method != "" {
		l.Request = v.r
	}
	if n.Kind == mailkind.AccountLinked || n.Kind == mailkind.AccountUnlinked {
		l.Service = ps.providerName(n.Provider)
	}
	if v.base != "" {
		l.Host, l.URL = hostOf(v.origin), Secret(v.base+"/"+or(n.Action, ps.notices.action))
		if n.Action == "" {
			if url, expires := ps.noticeLink(ctx, v, n); url != "" {
				l.URL, l.Expires = url, expires
			}
		}
		l = l.withClient(v)
	}
	ps.auth.mail.notify(ctx, v, BackgroundEmail{Sender: noticeSender, Email: l, UserID: user.ID})
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

// added records a sign-in method that was added to a user, and emails them unless the user is new.
func (w *writer) added(ctx context.Context, u *User, id string, kind mailkind.Kind, provider string) {
	isNew := w.made != nil && w.made.ID == u.ID
	ctx = context.WithoutCancel(ctx) // the context of a transaction ends with the transaction
	w.afterCommit(func() {
		w.plugins.noteMethod(ctx, w.at, u.ID, id)
		if !isNew {
			w.plugins.notify(ctx, w.at, u, SecurityNotice{Kind: kind, UserID: u.ID, Provider: provider, Method: id})
		}
	})
}
