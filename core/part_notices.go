package core

import (
	"context"
	"errors"
	"slices"
)

// notices is how users are emailed about changes of their sign-in methods.
type notices struct {
	mailer Mailer
	// action is the page where the owner secures the account.
	action string
}

// Notices sends users an email when a sign-in method was added or removed: [LetterPasskeyAdded],
// [LetterPasskeyRemoved], [LetterAccountLinked], [LetterAccountUnlinked]. The emails are sent as by [Call.Notify],
// after the change was committed. action is the plugin's page where the owner can secure the account; the email links
// to it. If several plugins call Notices, the first one counts. A nil mailer is ignored.
func (h *Host) Notices(action string, mailer Mailer) {
	h.attaching("Notices")
	if h.parts.notices.mailer == nil && mailer != nil {
		h.parts.notices = notices{mailer, action}
	}
}

// NotifyMethod emails a user about a sign-in method that was added or removed in this request, if a plugin called
// [Host.Notices]. The address must be verified, by its user or by a linked provider: an unverified address may belong
// to another person. provider is the ID of the provider. A failure is logged.
func (c *Call) NotifyMethod(ctx context.Context, kind LetterKind, userID, provider string) {
	if c.parts.notices.mailer == nil {
		return
	}
	users := c.parts.auth.store.Store
	user, err := guarded("Store.User", func() (*User, error) { return present(users.User(ctx, userID)) })
	if err != nil {
		c.in.log.failure(ctx, errorf(ErrStore, "notify a user: %w", err), c.in.attrs()...)
		return
	}
	c.parts.notify(ctx, &c.in.arrival, kind, user, provider)
}

func (ps *parts) notify(ctx context.Context, v *arrival, kind LetterKind, user *User, provider string) {
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
		verified = slices.ContainsFunc(linked, func(a *Account) bool { return a.EmailProved == user.Email })
	}
	if !verified {
		return
	}
	l := Letter{To: to, Kind: kind, At: ps.now(), Theme: ps.auth.pages.theme, Locale: v.language(), Request: v.r}
	if kind == LetterAccountLinked || kind == LetterAccountUnlinked {
		l.Service = ps.providerName(provider)
	}
	if v.base != "" {
		l.Host, l.URL = hostOf(v.origin), Secret(v.base+"/"+ps.notices.action)
		l.Peer, _ = v.peer(v.r)
	}
	ps.auth.mail.notify(ctx, v, BackgroundEmail{Letter: l, Mailer: ps.notices.mailer, UserID: user.ID})
}

// added records a sign-in method that was added to a user, and emails them unless the user is new.
func (w *writer) added(ctx context.Context, u *User, id string, kind LetterKind, provider string) {
	isNew := w.made != nil && w.made.ID == u.ID
	ctx = context.WithoutCancel(ctx) // that of a transaction ends with it
	w.announce(func() {
		w.parts.noteMethod(ctx, w.at, u.ID, id)
		if !isNew {
			w.parts.notify(ctx, w.at, kind, u, provider)
		}
	})
}

// ResetStarter registers the plugin's function that starts a password reset in the browser of a request, without an
// email. It returns the address of the page where the user chooses a password.
func (h *Host) ResetStarter(start func(ctx context.Context, c *Call, userID string) (url string, err error)) {
	h.attaching("ResetStarter")
	h.parts.reset = start
}

// StartReset starts a password reset in this browser for a user whose mailbox the request has shown access to, by the
// function of [Host.ResetStarter]. It returns the address of the page where the user chooses a password, and an empty
// string if no plugin keeps passwords.
func (c *Call) StartReset(ctx context.Context, userID string) (url string, err error) {
	if c.in.r.Method != "POST" {
		return "", errors.New("core: Call.StartReset: an action of GET cannot start a reset")
	}
	if c.parts.reset == nil {
		return "", nil
	}
	return c.parts.reset(ctx, c, userID)
}
