package core

import (
	"context"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/ui"
)

// SecurityNotice describes a security-relevant change of an account, such as a passkey that was added. Core reports it
// to Config.Audit and emails the user.
type SecurityNotice struct {
	// Kind is the kind of the email.
	Kind EmailKind
	// UserID is the user whose account changed.
	UserID string
	// Provider is the ID of the provider in [EmailAccountLinked] and [EmailAccountUnlinked]. It is empty in other kinds.
	Provider string
	// Audit is the audit event, if Audit.Name is not empty. Core adds the user, the provider and, if it is empty, the
	// outcome [audit.OK].
	Audit audit.Event
}

// noticeSender is the name of the sender of security notices.
const noticeSender = "notices"

// notices configures the security notices.
type notices struct {
	mailer Mailer
	// action is the page where the owner secures the account.
	action string
}

// NotifyMethodChanges enables the security notices of [ActionRequest.NotifySecurity], and those that core sends when a
// passkey or an account was added or removed: [EmailPasskeyAdded], [EmailPasskeyRemoved], [EmailAccountLinked],
// [EmailAccountUnlinked]. action is the plugin's page where the owner can secure the account; the email links to it. If
// several plugins call NotifyMethodChanges, the first one counts. A nil mailer is ignored.
func (h *PluginHost) NotifyMethodChanges(action string, mailer Mailer) {
	h.attaching("NotifyMethodChanges")
	if h.plugins.notices.mailer == nil && mailer != nil {
		h.plugins.notices = notices{mailer, action}
		h.AddEmailSender(EmailSender{Name: noticeSender, Mailer: mailer})
	}
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
		v.origin, v.base = h.Auth.site.pinnedOrigin, h.Auth.site.pinnedOrigin+h.Auth.site.publicBase
	}
	h.plugins.notifySecurity(ctx, &v, nil, n)
}

// notifySecurity reports and emails a notice. at is the request for the audit event, or nil outside of a request.
func (ps *plugins) notifySecurity(ctx context.Context, v, at *arrival, n SecurityNotice) {
	if n.Audit.Name != "" {
		n.Audit.UserID, n.Audit.Provider = n.UserID, or(n.Audit.Provider, n.Provider)
		n.Audit.Outcome = audit.Outcome(or(string(n.Audit.Outcome), string(audit.OK)))
		v.audit.note(ctx, at, n.Audit)
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
	l := Email{To: to, Kind: n.Kind, At: ps.now(), Theme: ps.auth.pages.theme, Locale: v.language()}
	if v.r.Method != "" {
		l.Request = v.r
	}
	if n.Kind == EmailAccountLinked || n.Kind == EmailAccountUnlinked {
		l.Service = ps.providerName(n.Provider)
	}
	if v.base != "" {
		l.Host, l.URL = hostOf(v.origin), Secret(v.base+"/"+ps.notices.action)
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
