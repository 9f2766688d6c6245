package core

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/auditor"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/mailqueue"
	"github.com/latchkey-go/latchkey/core/internal/notices"
)

// AddEmailSender adds a sender for [BackgroundEmail]. A duplicate or incomplete sender is a configuration error.
func (h *PluginHost) AddEmailSender(s EmailSender) {
	h.attaching("AddEmailSender")
	if err := h.Auth.mail.AddSender(s); err != nil {
		h.fault("%w", err)
	}
}

// ErrMailQueueFull is returned by [ActionRequest.SendLater] if too many emails are waiting, of all clients or of this
// one. The plugin responds with status 503.
var ErrMailQueueFull = errors.New("core: too many emails wait to be sent")

func newMailQueue(c *Config, a *Auth) *mailqueue.Queue {
	failed := func(t ErrorType) func(context.Context, error) {
		return func(ctx context.Context, err error) { a.log.failure(ctx, errorf(t, "%w", err)) }
	}
	return mailqueue.New(mailqueue.Config{
		Records: a.store.Records, Lister: a.store.RecordLister, Keys: &a.plugins.seals, Rand: c.Rand, Now: c.Now,
		Retries: c.Mail.Retries, Theme: c.Theme, Locales: c.Locales, Calls: a.store.watch, Logger: c.Logger,
		Failed: failed(ErrAuth), NotListed: failed(ErrStore), Outside: mailOrigin{a.site.audit, nil},
		Made: a.plugins.noticeMade, Bounced: a.plugins.bouncedSince,
	})
}

// mailOrigin implements [mailqueue.Origin]. at is nil outside of a request.
type mailOrigin struct {
	audit *auditor.Auditor
	at    *arrival
}

// Note implements mailqueue.Origin.
func (o mailOrigin) Note(ctx context.Context, e audit.Event) { noteAt(ctx, o.audit, o.at, e) }

// Attrs implements mailqueue.Origin.
func (o mailOrigin) Attrs(subject string) (attrs []slog.Attr) {
	if o.at == nil {
		return nil
	}
	if subject != "" && len(o.at.secrets) > 0 {
		attrs = append(attrs, slog.String("subject", auditor.Subject(o.at.secrets[0], subject)))
	}
	return append(attrs, o.at.attrs()...)
}

// mailJob returns the job of an email. at is nil outside of a request.
func (ps *plugins) mailJob(
	ctx context.Context, at *arrival, lane string, e BackgroundEmail,
) (*mailqueue.Job, error) {
	j, err := ps.auth.mail.Job(ctx, mailOrigin{ps.auth.site.audit, at}, lane, e)
	if err != nil {
		return nil, errormarks.As(err, ErrAuth)
	}
	return j, nil
}

func (ps *plugins) notifyLater(ctx context.Context, at *arrival, e BackgroundEmail) {
	j, err := ps.mailJob(ctx, at, mailqueue.Notices, e)
	if err != nil {
		ps.auth.log.failure(ctx, errormarks.As(err, ErrAuth))
		return
	}
	ps.auth.mail.Notify(j)
}

// NotifyAround runs change and then sends e, which informs the user of the change, as Notify does. The email is stored
// before the change: if the process ends between the change and the email, another process sends it. If change returns
// an error, no email is sent and NotifyAround returns that error.
func (c *ActionRequest) NotifyAround(
	ctx context.Context, e BackgroundEmail, change func(ctx context.Context) error,
) error {
	j, err := c.plugins.mailJob(ctx, &c.in.arrival, mailqueue.Notices, e)
	if err != nil {
		return err
	}
	return c.plugins.aroundNotice(ctx, j, change)
}

// aroundNotice stores a notice, makes its change, and sends the notice. j may be nil.
func (ps *plugins) aroundNotice(ctx context.Context, j *mailqueue.Job, change func(ctx context.Context) error) error {
	if err := ps.auth.mail.Plan(ctx, nil, j); err != nil {
		return errormarks.As(err, ErrStore)
	}
	if err := change(ctx); err != nil {
		ps.auth.mail.Cancel(j, !refusesChange(err))
		return err
	}
	ps.auth.mail.Confirm(j)
	return nil
}

// SendLater sends an email that a client requested, for example a link, after the response. Each client, and all
// unidentified clients together, can have only a few emails waiting. A known browser ([Limits].KnownBrowsers) of
// e.Subject has a separate share. The error is [ErrMailQueueFull]. If emails are in memory only, they are lost when the
// process ends: call [Auth.FlushMail] before.
func (c *ActionRequest) SendLater(ctx context.Context, e BackgroundEmail) error {
	lane, quotas := mailqueue.Open, mailqueue.Client(c.in.client())
	if browser := c.plugins.limits.known.of(c.in, e.Subject); browser != "" {
		lane, quotas = mailqueue.Known, mailqueue.Browser(browser)
	}
	j, err := c.plugins.mailJob(ctx, &c.in.arrival, lane, e)
	if err != nil {
		return err
	}
	if !c.plugins.auth.mail.Add(j, quotas...) {
		return ErrMailQueueFull
	}
	return nil
}

// Notify sends a security notice after the response: an email that informs a user about a change of their account.
// Notices have a separate queue, so that no other email can delay them. If it is full, Notify sends the email before it
// returns. A failure is logged and audited.
func (c *ActionRequest) Notify(ctx context.Context, e BackgroundEmail) {
	c.plugins.notifyLater(ctx, &c.in.arrival, e)
}

// Notify is [ActionRequest.Notify] outside of a request to an action: in an event handler or in a program. Call it only
// after New has returned.
func (h *PluginHost) Notify(ctx context.Context, e BackgroundEmail) {
	h.plugins.notifyLater(ctx, nil, e)
}

// FlushMail makes one attempt for each background email of the Auth's plugins and waits for it. It returns the error of
// ctx if ctx ends first. Call it after the server's shutdown and before the process ends. An email that was not sent
// stays in the store for the next process. If emails are in memory only, FlushMail makes all remaining attempts without
// waiting in between, and the emails that fail are lost.
//
// It also sends the stored emails of processes that have ended. A program that starts and receives no requests calls it
// for that purpose. An Auth of [PerRequest] has no emails.
func (a *Auth) FlushMail(ctx context.Context) error {
	if a.mail == nil {
		return nil
	}
	return a.mail.Flush(ctx)
}

// bouncedSince reports whether a bounce of an address was reported at or after a time.
func (ps *plugins) bouncedSince(ctx context.Context, address string, since time.Time) bool {
	to, err := NormalizeEmail(address)
	return err == nil && ps.bounces().Since(ctx, to, since)
}

// noticeSender is the name of the sender of security notices.
const noticeSender = "notices"

// noticeMade reports whether the change of a notice was made; see [notices.Made].
func (ps *plugins) noticeMade(ctx context.Context, e *mailqueue.Entry) (bool, error) {
	var d notices.Data
	if e.Sender != noticeSender || e.ReadData(&d) != nil {
		return true, nil
	}
	return notices.Made(e.Email.Kind, d, func(userID, method string) (bool, error) {
		methods, err := ps.signInMethods(ctx, userID)
		return slices.ContainsFunc(methods, func(m SignInMethod) bool { return m.ID == method }), err
	})
}
