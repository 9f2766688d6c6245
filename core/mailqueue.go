package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/auditor"
	"github.com/latchkey-go/latchkey/core/internal/records"
	"github.com/latchkey-go/latchkey/core/internal/redact"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/outbox"
	"github.com/latchkey-go/latchkey/ui"
)

// BackgroundEmail is an email that a plugin sends after the response: see [ActionRequest.SendLater],
// [ActionRequest.Notify] and [PluginHost.Notify]. If sending fails, it is tried again, see [MailConfig]. If the store
// is a store.RecordLister, the email is stored before the response, encrypted, and survives the end of the process.
type BackgroundEmail struct {
	// Sender is the name of an [EmailSender] that the plugin has added. It is required.
	Sender string
	// Email is the email. Fields that [EmailSender].Write sets may be empty. Its Kind is required: it is in logs, audit
	// events and metrics.
	Email Email
	// Data is passed to Write and Undo as JSON. It may contain secrets. It must be small: the stored email has at most 8
	// KiB.
	Data any
	// UserID is the user that the email is about. Subject is the identifier that a client typed, if it may belong to no
	// user. Both are in log lines and audit events; Subject only as a keyed hash.
	UserID, Subject string
}

// EmailSender sends the background emails of a plugin.
type EmailSender struct {
	// Name identifies the sender in stored emails. It is unique within an Auth, for example the plugin's name.
	Name string
	// Mailer sends the emails. It is required.
	Mailer Mailer
	// Write, if not nil, runs in the background and returns the email to send instead of e, so that the response time does
	// not reveal the result of a lookup in Write. data is [BackgroundEmail].Data. Write is called again if it returns an
	// error, or in another process after a crash, so it must be idempotent. If the returned Email has no To, no email is
	// sent.
	Write func(ctx context.Context, e Email, data json.RawMessage) (Email, error)
	// Undo, if not nil, is called after the last attempt has failed, with the result of Write if there is one. It deletes
	// the records that Write created. It must be idempotent too.
	Undo func(ctx context.Context, e Email, data json.RawMessage)
}

// AddEmailSender adds a sender for [BackgroundEmail]. A duplicate or incomplete sender is a configuration error.
func (h *PluginHost) AddEmailSender(s EmailSender) {
	h.attaching("AddEmailSender")
	q := h.Auth.mail
	switch {
	case s.Name == "" || s.Mailer == nil:
		h.fault("an EmailSender needs a Name and a Mailer")
	case q.senders[s.Name] != nil:
		h.fault("the EmailSender %q was added twice: give it another Name", s.Name)
	default:
		q.senders[s.Name] = &s
	}
}

// MailConfig configures emails that are sent in the background.
type MailConfig struct {
	// Retries are the waits between the attempts to send an email. A random tenth is added. Nil means 10 seconds and 1, 2,
	// 5, 10, 15 and 15 minutes, which are eight attempts in 50 minutes. An empty slice means one attempt.
	Retries []time.Duration
}

// ErrMailQueueFull is returned by [ActionRequest.SendLater] if too many emails are waiting, of all clients or of this
// one. The plugin responds with status 503.
var ErrMailQueueFull = errors.New("core: too many emails wait to be sent")

// The limits of the mail queue.
const (
	mailAttemptTimeout = 30 * time.Second // for one attempt: Write and the delivery
	mailOpenSenders    = 4
	mailOpenWaiting    = 256
	mailKnownSenders   = 2
	mailKnownWaiting   = 128
	mailNoticeSenders  = 2
	mailNoticeWaiting  = 512
	mailNoticePerUser  = 16
	// mailPerClient is the maximum number of emails of one client in the queue. Wider IPv6 networks are allowed two and
	// four times as many (see limit.Networks), and all unidentified clients together mailUnidentified.
	mailPerClient    = 6
	mailUnidentified = 96
	mailPerBrowser   = 4
)

// The lanes of the mail queue, which are the prefixes of the keys of stored emails: security notices, which are listed
// first, emails that known browsers request, and all other emails. One kind of traffic cannot delay the others.
const (
	laneNotices = "1-"
	laneKnown   = "2-"
	laneOpen    = "3-"
)

var mailLanes = map[string]outbox.Limits{
	laneNotices: {Senders: mailNoticeSenders, Capacity: mailNoticeWaiting},
	laneKnown:   {Senders: mailKnownSenders, Capacity: mailKnownWaiting},
	laneOpen:    {Senders: mailOpenSenders, Capacity: mailOpenWaiting},
}

const (
	outboxKind  = "outbox"       // kind of the records, and purpose of their encryption key
	outboxEvery = time.Minute    // time between two searches of a process
	outboxFor   = 24 * time.Hour // lifetime of a record
)

// mailQueue sends the emails of an Auth in the background.
type mailQueue struct {
	*outbox.Queue[*mail]
	log     *reporter
	audit   *auditor.Auditor
	watch   watch
	rand    io.Reader
	now     func() time.Time
	plugins *plugins
	// made reports whether the change of a notice was made, and bounced whether a bounce of an address was reported since.
	made    func(ctx context.Context, m *mail) (bool, error)
	bounced func(ctx context.Context, address string, since time.Time) bool
	locales []ui.Locale
	theme   Theme
	senders map[string]*EmailSender // by name
	due     atomic.Int64            // when the next search begins, in Unix milliseconds
}

// mail is an email in the queue.
type mail struct {
	BackgroundEmail
	data    json.RawMessage
	sender  *EmailSender
	at      *arrival // nil outside of a request
	written *Email   // the result of Write
}

type mailJob = outbox.Job[*mail]

func newMailQueue(c *Config, a *Auth) *mailQueue {
	q := &mailQueue{
		log: a.log, audit: a.site.audit, watch: watch{c.Observe, a.log}, rand: c.Rand, now: c.Now, plugins: &a.plugins,
		locales: c.Locales, theme: c.Theme, senders: map[string]*EmailSender{},
	}
	retries := c.Mail.Retries
	if retries == nil {
		retries = []time.Duration{
			10 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute,
			15 * time.Minute,
		}
	}
	options := outbox.Config{
		Kind: outboxKind, Now: c.Now, Lifetime: outboxFor, Slack: mailAttemptTimeout, Retries: retries,
		Lane: func(key string) (string, outbox.Limits) {
			prefix := key[:min(len(key), len(laneOpen))]
			limits, ok := mailLanes[prefix]
			if !ok {
				return "", limits
			}
			return prefix, limits
		},
	}
	if a.store.records != nil && a.store.listing != nil {
		options.Records, options.List = records.Of(a.store.records), records.List(a.store.listing)
	}
	q.Queue = outbox.New(options, q)
	return q
}

// job returns the job for an email.
func (q *mailQueue) job(ctx context.Context, at *arrival, lane string, e BackgroundEmail) (*mailJob, error) {
	m := &mail{BackgroundEmail: e, sender: q.senders[e.Sender], at: at}
	if m.sender == nil {
		return nil, errorf(ErrAuth, "email of kind %q: no EmailSender %q was added", string(e.Email.Kind), e.Sender)
	}
	var err error
	if e.Data != nil {
		if m.data, err = json.Marshal(e.Data); err != nil {
			return nil, errorf(ErrAuth, "data of an email: %w", err)
		}
	}
	m.Email.ID, err = randomHex(q.rand, 16)
	return &mailJob{Key: lane + m.Email.ID, Value: m, Context: context.WithoutCancel(ctx)}, err
}

// storedMail is the encrypted content of a record: an email can contain a link that grants access.
type storedMail struct {
	Sender  string          `json:"sender"`
	Email   plainEmail      `json:"email"`
	Data    json.RawMessage `json:"data,omitempty"`
	UserID  string          `json:"user,omitempty"`
	Subject string          `json:"subject,omitempty"`
}

// plainEmail is an Email with its secrets in the JSON. Fields that the configuration or a request provides are omitted.
type plainEmail struct {
	emailFields
	URL, Token, Code       string
	Theme, Locale, Request *struct{} `json:",omitempty"`
	Language               string    `json:",omitempty"`
}

type emailFields Email

// Encode implements outbox.Handler.
func (q *mailQueue) Encode(m *mail) (json.RawMessage, error) {
	l := m.Email
	sealed, err := q.plugins.seals.seal(outboxKind, storedMail{
		m.Sender, plainEmail{
			emailFields: emailFields(l), URL: string(l.URL), Token: string(l.Token), Code: string(l.Code),
			Language: l.Locale.Tag,
		}, m.data, m.UserID, m.Subject,
	}, time.Time{})
	if err != nil {
		return nil, err
	}
	return json.Marshal(sealed)
}

// Decode implements outbox.Handler. Theme and language of the email are those of the configuration.
func (q *mailQueue) Decode(_ string, data json.RawMessage) (*mail, error) {
	var sealed string
	if err := json.Unmarshal(data, &sealed); err != nil {
		return nil, err
	}
	var stored storedMail
	if err := q.plugins.seals.open(outboxKind, sealed, &stored); err != nil {
		return nil, err
	}
	m := &mail{sender: q.senders[stored.Sender], data: stored.Data}
	if m.sender == nil {
		return nil, fmt.Errorf("no plugin has the EmailSender %q", stored.Sender)
	}
	p := stored.Email
	l := Email(p.emailFields)
	l.URL, l.Token, l.Code, l.Theme = Secret(p.URL), Secret(p.Token), Secret(p.Code), q.theme
	if i := slices.IndexFunc(q.locales, func(each ui.Locale) bool { return each.Tag == p.Language }); i >= 0 {
		l.Locale = q.locales[i]
	}
	m.BackgroundEmail = BackgroundEmail{Sender: stored.Sender, Email: l, UserID: stored.UserID, Subject: stored.Subject}
	return m, nil
}

// Made implements outbox.Handler.
func (q *mailQueue) Made(j *mailJob) (bool, error) { return q.made(j.Context, j.Value) }

// perhaps searches for emails that are due, in the background and at most once in outboxEvery.
func (q *mailQueue) perhaps() {
	if q == nil || !q.Persistent() || len(q.senders) == 0 {
		return
	}
	now := q.now().UnixMilli()
	due := q.due.Load()
	if now >= due && q.due.CompareAndSwap(due, now+outboxEvery.Milliseconds()) {
		go q.collect(context.Background())
	}
}

func (q *mailQueue) collect(ctx context.Context) {
	if err := q.Collect(ctx, ""); err != nil {
		q.log.failure(ctx, errorf(ErrStore, "list the emails that are due: %w", err))
	}
}

// Fail implements outbox.Handler.
func (q *mailQueue) Fail(ctx context.Context, err error) {
	q.log.failure(ctx, errorf(ErrAuth, "an email in the store: %w", err))
}

// Warn implements outbox.Handler. The email is sent anyway, or by another process later.
func (q *mailQueue) Warn(j *mailJob, err error) {
	q.log.logger.LogAttrs(j.Context, slog.LevelWarn, "auth: the stored copy of an email was not updated",
		q.attrs(j, err)...)
}

// Retrying implements outbox.Handler.
func (q *mailQueue) Retrying(j *mailJob, err error, wait time.Duration) {
	q.log.logger.LogAttrs(j.Context, slog.LevelWarn, "auth: an email was not sent and will be tried again",
		append(q.attrs(j, err), slog.Duration("after", wait))...)
}

// Send implements outbox.Handler. It returns a panic as an error.
func (q *mailQueue) Send(j *mailJob) error {
	ctx, cancel := context.WithTimeout(j.Context, mailAttemptTimeout)
	defer cancel()
	m := j.Value
	if m.sender.Write != nil && m.data != nil && m.written == nil {
		err := guard("write of email "+string(m.Email.Kind), func() error {
			written, err := m.sender.Write(ctx, m.Email, m.data)
			if err == nil {
				written.Kind = mailkind.Kind(or(string(written.Kind), string(m.Email.Kind)))
				written.ID = m.Email.ID
				m.written = &written
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	email := m.email()
	if email.To == "" {
		return nil
	}
	expires, stored := j.Stored()
	if j.Attempts > 0 && stored && q.bounced(ctx, email.To, expires.Add(-outboxFor)) {
		return outbox.Final(errBounced)
	}
	call := observe.Call{Target: observe.Mail, Name: string(email.Kind)}
	err := watchedOnly(ctx, q.watch, call, func(ctx context.Context) error { return email.Send(ctx, m.sender.Mailer) })
	return hideRecipient(err, email)
}

// email returns the result of Write, or before that the email that was queued.
func (m *mail) email() Email {
	if m.written != nil {
		return *m.written
	}
	return m.Email
}

// hideRecipient returns err with a text that omits the recipient's address, which the errors of mail servers contain.
func hideRecipient(err error, l Email) error {
	if err == nil {
		return nil
	}
	return &redactedError{redact.Redacted{Err: err, Secrets: []string{l.To, l.Recipient()}}}
}

// GiveUp implements outbox.Handler. It logs and audits an email that was not sent, and calls Undo.
func (q *mailQueue) GiveUp(j *mailJob, err error) {
	m := j.Value
	q.log.logger.LogAttrs(j.Context, slog.LevelError, "auth: an email was not sent", q.attrs(j, err)...)
	event := audit.Event{
		Name: audit.EmailFailed, Outcome: audit.Failed, Reason: audit.ReasonMail, UserID: m.UserID,
		Email: string(m.Email.Kind),
	}
	if m.UserID == "" {
		event.Subject = m.Subject
	}
	noteAt(j.Context, q.audit, m.at, event)
	q.Remove(j)
	if m.sender.Undo == nil || m.data == nil {
		return
	}
	ctx, cancel := context.WithTimeout(j.Context, mailAttemptTimeout)
	defer cancel()
	undo := func() error { m.sender.Undo(ctx, m.email(), m.data); return nil }
	if err := guard("undo of email "+string(m.Email.Kind), undo); err != nil {
		q.log.failure(ctx, errorf(ErrAuth, "undo of an email: %w", err))
	}
}

// attrs returns the log attributes of an email, without its address and link.
func (q *mailQueue) attrs(j *mailJob, err error) []slog.Attr {
	m := j.Value
	attrs := []slog.Attr{slog.Any("error", err), slog.String("email", string(m.Email.Kind)),
		slog.Int("attempt", j.Attempts+1)}
	if m.UserID != "" {
		attrs = append(attrs, slog.String("user_id", m.UserID))
	} else if m.at != nil && m.Subject != "" && len(m.at.secrets) > 0 {
		attrs = append(attrs, slog.String("subject", auditor.Subject(m.at.secrets[0], m.Subject)))
	}
	if m.at != nil {
		attrs = append(attrs, m.at.attrs()...)
	}
	return attrs
}

// notify queues a security notice. If the lane is full, it sends the notice immediately, before the response: a notice
// is never dropped because of other emails.
func (q *mailQueue) notify(ctx context.Context, at *arrival, e BackgroundEmail) {
	j, err := q.job(ctx, at, laneNotices, e)
	if err != nil {
		q.log.failure(ctx, asError(err, ErrAuth))
		return
	}
	q.sendNotice(j)
}

// NotifyAround runs change and then sends e, which informs the user of the change, as Notify does. The email is stored
// before the change: if the process ends between the change and the email, another process sends it. If change returns
// an error, no email is sent and NotifyAround returns that error.
func (c *ActionRequest) NotifyAround(
	ctx context.Context, e BackgroundEmail, change func(ctx context.Context) error,
) error {
	q := c.plugins.auth.mail
	j, err := q.job(ctx, &c.in.arrival, laneNotices, e)
	if err != nil {
		return err
	}
	return q.around(ctx, j, change)
}

// around stores a notice, makes its change, and sends the notice. j may be nil.
func (q *mailQueue) around(ctx context.Context, j *mailJob, change func(ctx context.Context) error) error {
	if err := q.plan(ctx, nil, j); err != nil {
		return err
	}
	if err := change(ctx); err != nil {
		q.cancel(j, err)
		return err
	}
	q.confirm(j)
	return nil
}

// plan stores a notice before its change, or in the transaction of its change if tx is not nil.
func (q *mailQueue) plan(ctx context.Context, tx store.RecordStore, j *mailJob) error {
	if j == nil {
		return nil
	}
	var within outbox.Records
	if tx != nil {
		within = records.Of(tx)
	}
	if err := q.Plan(ctx, within, j); err != nil {
		return errorf(ErrStore, "store a security notice: %w", err)
	}
	return nil
}

// cancel deletes a planned notice, because its change was not made. If the result of the change is unknown, and it can
// be looked up, the notice stays: a process that looks for emails that are due decides.
func (q *mailQueue) cancel(j *mailJob, cause error) {
	if j != nil {
		q.Cancel(j, !refusesChange(cause))
	}
}

// confirm sends a planned notice whose change was made.
func (q *mailQueue) confirm(j *mailJob) {
	if j != nil {
		q.Confirm(j, q.noticeQuota(j))
	}
}

func (q *mailQueue) sendNotice(j *mailJob) { q.AddOrSend(j, q.noticeQuota(j)) }

func (q *mailQueue) noticeQuota(j *mailJob) outbox.Quota {
	return outbox.Quota{Key: "user " + or(j.Value.UserID, j.Value.Email.To), Most: mailNoticePerUser}
}

// SendLater sends an email that a client requested, for example a link, after the response. Each client, and all
// unidentified clients together, can have only a few emails waiting. A known browser ([Limits].KnownBrowsers) of
// e.Subject has a separate share. The error is [ErrMailQueueFull]. If emails are in memory only, they are lost when the
// process ends: call [Auth.FlushMail] before.
func (c *ActionRequest) SendLater(ctx context.Context, e BackgroundEmail) error {
	q, at := c.plugins.auth.mail, &c.in.arrival
	lane, quotas := laneOpen, mailQuotas(at.client())
	if browser := c.plugins.limits.known.of(c.in, e.Subject); browser != "" {
		lane, quotas = laneKnown, []outbox.Quota{{Key: "browser " + browser, Most: mailPerBrowser}}
	}
	j, err := q.job(ctx, at, lane, e)
	if err != nil {
		return err
	}
	if !q.Add(j, quotas...) {
		return ErrMailQueueFull
	}
	return nil
}

// mailQuotas returns the quotas of a client in the open lane.
func mailQuotas(from client) []outbox.Quota {
	if !from.identified {
		return []outbox.Quota{{Key: "unidentified", Most: mailUnidentified}}
	}
	quotas := make([]outbox.Quota, 0, 3)
	for i, network := range limit.Networks(from.network) {
		quotas = append(quotas, outbox.Quota{Key: network.String(), Most: mailPerClient << i})
	}
	return quotas
}

// Notify sends a security notice after the response: an email that informs a user about a change of their account.
// Notices have a separate queue, so that no other email can delay them. If it is full, Notify sends the email before it
// returns. A failure is logged and audited.
func (c *ActionRequest) Notify(ctx context.Context, e BackgroundEmail) {
	c.plugins.auth.mail.notify(ctx, &c.in.arrival, e)
}

// Notify is [ActionRequest.Notify] outside of a request to an action: in an event handler or in a program. Call it only
// after New has returned.
func (h *PluginHost) Notify(ctx context.Context, e BackgroundEmail) { h.Auth.mail.notify(ctx, nil, e) }

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
	if len(a.mail.senders) > 0 {
		a.mail.collect(ctx)
	}
	return a.mail.Flush(ctx)
}

// errBounced says that an email is not tried again, because its address bounces.
var errBounced = errors.New("the address bounces (Auth.ReportBounce)")
