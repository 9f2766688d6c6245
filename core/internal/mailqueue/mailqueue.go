// Package mailqueue sends emails in the background, with package outbox: it has the lanes and quotas of emails, their
// stored form, and the log lines and audit events of emails that were not sent.
package mailqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/internal/records"
	"github.com/latchkey-go/latchkey/core/internal/redact"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mail"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/outbox"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/purposekey"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/ui"
)

// The lanes of the queue, which are the prefixes of the keys of stored emails: security notices, which are listed
// first, emails that known browsers request, and all other emails. One kind of traffic cannot delay the others.
const (
	Notices = "1-"
	Known   = "2-"
	Open    = "3-"
)

var lanes = map[string]outbox.Limits{
	Notices: {Senders: 2, Capacity: 512}, Known: {Senders: 2, Capacity: 128}, Open: {Senders: 4, Capacity: 256},
}

func laneOf(key string) (string, outbox.Limits) {
	prefix := key[:min(len(key), len(Open))]
	limits, ok := lanes[prefix]
	if !ok {
		return "", limits
	}
	return prefix, limits
}

// The limits of emails in a lane. perClient applies to a client with an address; wider IPv6 networks are allowed two
// and four times as many (see limit.Networks).
const (
	perUser      = 16 // in lane Notices
	perBrowser   = 4  // in lane Known
	perClient    = 6  // in lane Open
	unidentified = 96 // in lane Open, of all clients without an address together
)

const (
	attemptTimeout = 30 * time.Second // for one attempt: Write and the delivery
	kind           = "outbox"         // of the records, and purpose of their encryption key
	every          = time.Minute      // time between two searches of a process
	lifetime       = 24 * time.Hour   // of a record
)

var defaultRetries = []time.Duration{
	10 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 15 * time.Minute,
}

// Config configures a queue.
type Config struct {
	// Records and Lister are the store. If one of them is nil, emails are in memory only.
	Records store.RecordStore
	Lister  store.RecordLister
	Keys    *purposekey.Keys
	Rand    io.Reader
	Now     func() time.Time
	// Retries are the waits between attempts. Nil means the default.
	Retries []time.Duration
	// Theme and Locales are those of stored emails.
	Theme   ui.Theme
	Locales []ui.Locale
	Calls   observed.Calls
	Logger  *slog.Logger
	// Failed logs that a stored email cannot be used, and NotListed that the store has not listed the emails.
	Failed, NotListed func(ctx context.Context, err error)
	// Outside is the origin of stored emails.
	Outside Origin
	// Made reports whether the change of a notice was made.
	Made func(ctx context.Context, e *Entry) (bool, error)
	// Bounced reports whether a bounce of an address was reported at or after a time.
	Bounced func(ctx context.Context, address string, since time.Time) bool
}

// Origin is the request that an email belongs to, or no request.
type Origin interface {
	// Note reports an event.
	Note(ctx context.Context, e audit.Event)
	// Attrs returns the log attributes of the request. subject may be empty. It is in them as a hash.
	Attrs(subject string) []slog.Attr
}

// Queue sends the emails of an Auth in the background.
type Queue struct {
	*outbox.Queue[*Entry]
	config  Config
	senders map[string]*mail.Sender
	due     atomic.Int64 // when the next search begins, in Unix milliseconds
}

// Entry is an email in the queue.
type Entry struct {
	mail.Background
	data    json.RawMessage
	sender  *mail.Sender
	from    Origin
	written *mail.Email // the result of Write
}

// ReadData decodes [mail.Background].Data into v, a pointer.
func (e *Entry) ReadData(v any) error { return json.Unmarshal(e.data, v) }

// Job is the job of an email.
type Job = outbox.Job[*Entry]

// New returns a queue.
func New(c Config) *Queue {
	if c.Retries == nil {
		c.Retries = defaultRetries
	}
	q := &Queue{config: c, senders: map[string]*mail.Sender{}}
	options := outbox.Config{
		Kind: kind, Now: c.Now, Lifetime: lifetime, Slack: attemptTimeout, Retries: c.Retries, Lane: laneOf,
	}
	if c.Records != nil && c.Lister != nil {
		options.Records, options.List = records.Of(c.Records), records.List(c.Lister)
	}
	q.Queue = outbox.New(options, handler{q})
	return q
}

// AddSender adds a sender.
func (q *Queue) AddSender(s mail.Sender) error {
	switch {
	case s.Name == "" || s.Mailer == nil:
		return errors.New("an EmailSender needs a Name and a Mailer")
	case q.senders[s.Name] != nil:
		return fmt.Errorf("the EmailSender %q was added twice: give it another Name", s.Name)
	}
	q.senders[s.Name] = &s
	return nil
}

// Job returns the job of an email, for a lane.
func (q *Queue) Job(ctx context.Context, from Origin, lane string, b mail.Background) (*Job, error) {
	e := &Entry{Background: b, sender: q.senders[b.Sender], from: from}
	if e.sender == nil {
		return nil, fmt.Errorf("email of kind %q: no EmailSender %q was added", string(b.Email.Kind), b.Sender)
	}
	var err error
	if b.Data != nil {
		if e.data, err = json.Marshal(b.Data); err != nil {
			return nil, fmt.Errorf("data of an email: %w", err)
		}
	}
	e.Email.ID, err = random.Hex(q.config.Rand, 16)
	return &Job{Key: lane + e.Email.ID, Value: e, Context: context.WithoutCancel(ctx)}, err
}

// Browser returns the quota of a known browser.
func Browser(id string) []outbox.Quota {
	return []outbox.Quota{{Key: "browser " + id, Most: perBrowser}}
}

// Client returns the quotas of a client by its network, or those of all unidentified clients.
func Client(network netip.Prefix, identified bool) []outbox.Quota {
	if !identified {
		return []outbox.Quota{{Key: "unidentified", Most: unidentified}}
	}
	quotas := make([]outbox.Quota, 0, 3)
	for i, wider := range limit.Networks(network) {
		quotas = append(quotas, outbox.Quota{Key: wider.String(), Most: perClient << i})
	}
	return quotas
}

func noticeQuota(j *Job) outbox.Quota {
	user := j.Value.UserID
	if user == "" {
		user = j.Value.Email.To
	}
	return outbox.Quota{Key: "user " + user, Most: perUser}
}

// Notify queues a security notice. If the lane is full, it sends the notice before it returns: a notice is never
// dropped because of other emails.
func (q *Queue) Notify(j *Job) { q.AddOrSend(j, noticeQuota(j)) }

// Plan stores a notice before its change, or in the transaction of its change if tx is not nil. j may be nil.
func (q *Queue) Plan(ctx context.Context, tx store.RecordStore, j *Job) error {
	if j == nil {
		return nil
	}
	var within outbox.Records
	if tx != nil {
		within = records.Of(tx)
	}
	if err := q.Queue.Plan(ctx, within, j); err != nil {
		return fmt.Errorf("store a security notice: %w", err)
	}
	return nil
}

// Cancel deletes a planned notice, because its change was not made. If the result of the change is unknown, and it can
// be looked up, the notice stays: a process that looks for emails that are due decides. j may be nil.
func (q *Queue) Cancel(j *Job, unknown bool) {
	if j != nil {
		q.Queue.Cancel(j, unknown)
	}
}

// Confirm sends a planned notice whose change was made. j may be nil.
func (q *Queue) Confirm(j *Job) {
	if j != nil {
		q.Queue.Confirm(j, noticeQuota(j))
	}
}

// Perhaps searches for emails that are due, in the background and at most once in a minute.
func (q *Queue) Perhaps() {
	if q == nil || !q.Persistent() || len(q.senders) == 0 {
		return
	}
	now, due := q.config.Now().UnixMilli(), q.due.Load()
	if now >= due && q.due.CompareAndSwap(due, now+every.Milliseconds()) {
		go q.collect(context.Background())
	}
}

func (q *Queue) collect(ctx context.Context) {
	if err := q.Collect(ctx, ""); err != nil {
		q.config.NotListed(ctx, fmt.Errorf("list the emails that are due: %w", err))
	}
}

// Flush sends the stored emails of processes that have ended too, and waits until no email waits or is being sent.
func (q *Queue) Flush(ctx context.Context) error {
	if len(q.senders) > 0 {
		q.collect(ctx)
	}
	return q.Queue.Flush(ctx)
}

// stored is the encrypted content of a record: an email can contain a link that grants access.
type stored struct {
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

type emailFields mail.Email

// handler implements [outbox.Handler].
type handler struct{ *Queue }

// Encode implements outbox.Handler.
func (q handler) Encode(e *Entry) (json.RawMessage, error) {
	l := e.Email
	sealed, err := q.config.Keys.Encrypt(kind, stored{
		e.Sender, plainEmail{
			emailFields: emailFields(l), URL: string(l.URL), Token: string(l.Token), Code: string(l.Code),
			Language: l.Locale.Tag,
		}, e.data, e.UserID, e.Subject,
	}, time.Time{})
	if err != nil {
		return nil, err
	}
	return json.Marshal(sealed)
}

// Decode implements outbox.Handler. Theme and language of the email are those of the configuration.
func (q handler) Decode(_ string, data json.RawMessage) (*Entry, error) {
	var sealed string
	if err := json.Unmarshal(data, &sealed); err != nil {
		return nil, err
	}
	var s stored
	if err := q.config.Keys.Decrypt(kind, sealed, &s); err != nil {
		return nil, err
	}
	e := &Entry{sender: q.senders[s.Sender], data: s.Data, from: q.config.Outside}
	if e.sender == nil {
		return nil, fmt.Errorf("no plugin has the EmailSender %q", s.Sender)
	}
	p := s.Email
	l := mail.Email(p.emailFields)
	l.URL, l.Token, l.Code = store.Secret(p.URL), store.Secret(p.Token), store.Secret(p.Code)
	l.Theme = q.config.Theme
	if i := slices.IndexFunc(q.config.Locales, func(each ui.Locale) bool { return each.Tag == p.Language }); i >= 0 {
		l.Locale = q.config.Locales[i]
	}
	e.Background = mail.Background{Sender: s.Sender, Email: l, UserID: s.UserID, Subject: s.Subject}
	return e, nil
}

// Made implements outbox.Handler.
func (q handler) Made(j *Job) (bool, error) { return q.config.Made(j.Context, j.Value) }

// Fail implements outbox.Handler.
func (q handler) Fail(ctx context.Context, err error) {
	q.config.Failed(ctx, fmt.Errorf("an email in the store: %w", err))
}

// Warn implements outbox.Handler. The email is sent anyway, or by another process later.
func (q handler) Warn(j *Job, err error) {
	q.config.Logger.LogAttrs(j.Context, slog.LevelWarn, "auth: the stored copy of an email was not updated",
		attrs(j, err)...)
}

// Retrying implements outbox.Handler.
func (q handler) Retrying(j *Job, err error, wait time.Duration) {
	q.config.Logger.LogAttrs(j.Context, slog.LevelWarn, "auth: an email was not sent and will be tried again",
		append(attrs(j, err), slog.Duration("after", wait))...)
}

// attrs returns the log attributes of an email, without its address and link.
func attrs(j *Job, err error) []slog.Attr {
	e := j.Value
	all := []slog.Attr{
		slog.Any("error", err), slog.String("email", string(e.Email.Kind)), slog.Int("attempt", j.Attempts+1),
	}
	if e.UserID != "" {
		return append(append(all, slog.String("user_id", e.UserID)), e.from.Attrs("")...)
	}
	return append(all, e.from.Attrs(e.Subject)...)
}

// errBounced says that an email is not tried again, because its address bounces.
var errBounced = errors.New("the address bounces (Auth.ReportBounce)")

// Send implements outbox.Handler. It returns a panic as an error.
func (q handler) Send(j *Job) error {
	ctx, cancel := context.WithTimeout(j.Context, attemptTimeout)
	defer cancel()
	e := j.Value
	if e.sender.Write != nil && e.data != nil && e.written == nil {
		err := panics.Guard("write of email "+string(e.Email.Kind), func() error { return e.write(ctx) })
		if err != nil {
			return err
		}
	}
	email := e.email()
	if email.To == "" {
		return nil
	}
	expires, stored := j.Stored()
	if j.Attempts > 0 && stored && q.config.Bounced(ctx, email.To, expires.Add(-lifetime)) {
		return outbox.Final(errBounced)
	}
	call := observe.Call{Target: observe.Mail, Name: string(email.Kind)}
	err := q.config.Calls.Do(ctx, call, func(ctx context.Context) error { return email.Send(ctx, e.sender.Mailer) })
	return redact.Texts(err, email.To, email.Recipient()) // the errors of mail servers contain the address
}

func (e *Entry) write(ctx context.Context) error {
	written, err := e.sender.Write(ctx, e.Email, e.data)
	if err != nil {
		return err
	}
	written.ID = e.Email.ID
	if written.Kind == mailkind.Kind("") {
		written.Kind = e.Email.Kind
	}
	e.written = &written
	return nil
}

// email returns the result of Write, or before that the email that was queued.
func (e *Entry) email() mail.Email {
	if e.written != nil {
		return *e.written
	}
	return e.Email
}

// GiveUp implements outbox.Handler. It logs and audits an email that was not sent, and calls Undo.
func (q handler) GiveUp(j *Job, err error) {
	e := j.Value
	q.config.Logger.LogAttrs(j.Context, slog.LevelError, "auth: an email was not sent", attrs(j, err)...)
	event := audit.Event{
		Name: audit.EmailFailed, Outcome: audit.Failed, Reason: audit.ReasonMail, UserID: e.UserID,
		Email: string(e.Email.Kind),
	}
	if e.UserID == "" {
		event.Subject = e.Subject
	}
	e.from.Note(j.Context, event)
	q.Remove(j)
	if e.sender.Undo == nil || e.data == nil {
		return
	}
	ctx, cancel := context.WithTimeout(j.Context, attemptTimeout)
	defer cancel()
	undo := func() error { e.sender.Undo(ctx, e.email(), e.data); return nil }
	if err := panics.Guard("undo of email "+string(e.Email.Kind), undo); err != nil {
		q.config.Failed(ctx, fmt.Errorf("undo of an email: %w", err))
	}
}
