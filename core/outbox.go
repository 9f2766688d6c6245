package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// The outbox stores each email of the mail queue in a record before it is sent, so that the email survives the end of
// the process. A record belongs to one process at a time: the one that wrote it, or the one that has claimed it since
// by compare-and-set. A claim ends after outboxClaim. Then any process claims the email when it looks for emails that
// are due, and so do the emails of a process that was killed. A process that is killed after the mail server has
// accepted an email, and before the record is deleted, sends it twice, with the same ID.
type outbox struct {
	records store.RecordStore
	listing store.RecordLister
	seals   *partSeals
	now     func() time.Time
	rand    io.Reader
	locales []ui.Locale
	theme   Theme
	due     atomic.Int64 // when collect runs again, in Unix milliseconds
}

const (
	outboxKind  = "outbox"           // kind of the records, and purpose of their encryption key
	outboxClaim = 2 * time.Minute    // duration of a claim
	outboxEvery = time.Minute        // time between two searches of a process
	outboxFor   = 24 * time.Hour     // lifetime of a record
	outboxPage  = 100                // records per page of a search
	outboxSlack = mailAttemptTimeout // minimum remaining time of a claim when an attempt begins
)

// storedMail is the value of a record. The email is encrypted, because it can contain a link that grants access.
type storedMail struct {
	// Due is when the next attempt may begin, or when the current claim ends, in Unix milliseconds.
	Due      int64  `json:"due"`
	Attempts int    `json:"attempts,omitempty"`
	Mail     string `json:"mail"`
	// Planned reports that the email is a notice of a change that has not been made yet.
	Planned bool `json:"planned,omitempty"`
}

// sealedMail is the encrypted content of a record.
type sealedMail struct {
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

func newPlainEmail(l Email) plainEmail {
	return plainEmail{
		emailFields: emailFields(l), URL: string(l.URL), Token: string(l.Token), Code: string(l.Code),
		Language: l.Locale.Tag,
	}
}

// email returns the stored email, with theme and language from the configuration.
func (o *outbox) email(p plainEmail) Email {
	l := Email(p.emailFields)
	l.URL, l.Token, l.Code, l.Theme = Secret(p.URL), Secret(p.Token), Secret(p.Code), o.theme
	i := slices.IndexFunc(o.locales, func(each ui.Locale) bool { return each.Tag == p.Language })
	if i >= 0 {
		l.Locale = o.locales[i]
	}
	return l
}

// newOutbox returns nil if the store cannot store and list records. Emails are then in memory only.
func newOutbox(c *Config, a *Auth) *outbox {
	if a.store.records == nil || a.store.listing == nil {
		return nil
	}
	return &outbox{
		records: a.store.records, listing: a.store.listing, seals: &a.plugins.seals, now: c.Now, rand: c.Rand,
		locales: c.Locales, theme: c.Theme,
	}
}

// put stores an email that this process has claimed. records is the store, or that of a transaction.
func (o *outbox) put(ctx context.Context, records store.RecordStore, j *mailJob) error {
	mail, err := o.seals.seal(outboxKind, sealedMail{
		j.Sender, newPlainEmail(j.Email), j.data, j.UserID, j.Subject,
	}, time.Time{})
	if err != nil {
		return err
	}
	j.stored.Mail = mail
	now := o.now()
	r := &store.Record{Kind: outboxKind, Key: j.lane.prefix + j.Email.ID, Expires: now.Add(outboxFor)}
	if r.Value, err = j.stored.until(now.Add(outboxClaim)); err != nil {
		return err
	}
	if err := records.CreateRecord(ctx, r); err != nil {
		return err
	}
	j.record, j.claimed = r, now.Add(outboxClaim)
	return nil
}

// until sets Due and returns the value of the record.
func (m *storedMail) until(due time.Time) (json.RawMessage, error) {
	m.Due = due.UnixMilli()
	return json.Marshal(m)
}

// errClaimed says that another process has claimed or sent the email.
var errClaimed = errors.New("another process has claimed the email")

// claim makes sure that no other process sends the email during one attempt. It returns errClaimed if another one may.
func (o *outbox) claim(ctx context.Context, j *mailJob) error {
	if j.record == nil || o.now().Add(outboxSlack).Before(j.claimed) {
		return nil
	}
	return o.write(ctx, j, o.now().Add(outboxClaim))
}

// postpone ends the claim. The next attempt begins at the given time, in any process.
func (o *outbox) postpone(ctx context.Context, j *mailJob, until time.Time) error {
	if j.record == nil {
		return nil
	}
	j.stored.Attempts = j.attempts
	err := o.write(ctx, j, until)
	j.claimed = time.Time{}
	return err
}

func (o *outbox) write(ctx context.Context, j *mailJob, due time.Time) (err error) {
	if j.record.Value, err = j.stored.until(due); err != nil {
		return err
	}
	switch err := o.records.UpdateRecord(ctx, j.record); {
	case errors.Is(err, ErrConflict), errors.Is(err, ErrNotFound):
		return errClaimed
	case err != nil:
		return errorf(ErrStore, "claim an email: %w", err)
	}
	j.claimed = due
	return nil
}

// remove deletes the record of an email that was sent or given up.
func (o *outbox) remove(ctx context.Context, j *mailJob) error {
	if j.record == nil {
		return nil
	}
	_, err := o.records.DeleteRecord(ctx, outboxKind, j.record.Key)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// read decrypts the email of a record.
func (o *outbox) read(r *store.Record, senders map[string]*EmailSender) (*mailJob, error) {
	j := &mailJob{record: r}
	if err := json.Unmarshal(r.Value, &j.stored); err != nil {
		return nil, err
	}
	var mail sealedMail
	if err := o.seals.open(outboxKind, j.stored.Mail, &mail); err != nil {
		return nil, err
	}
	if senders[mail.Sender] == nil {
		return nil, fmt.Errorf("no plugin has the EmailSender %q", mail.Sender)
	}
	j.Sender, j.Email, j.UserID, j.Subject = mail.Sender, o.email(mail.Email), mail.UserID, mail.Subject
	j.data, j.sender, j.attempts = mail.Data, senders[mail.Sender], j.stored.Attempts
	return j, nil
}

// perhaps searches for emails that are due, in the background and at most once in outboxEvery.
func (q *mailQueue) perhaps() {
	if q == nil || q.outbox == nil || len(q.senders) == 0 {
		return
	}
	now := q.outbox.now().UnixMilli()
	due := q.outbox.due.Load()
	if now >= due && q.outbox.due.CompareAndSwap(due, now+outboxEvery.Milliseconds()) {
		go q.collect(context.Background())
	}
}

// collect claims the stored emails that are due and adds them to their lanes. If a lane is full, its emails stay in the
// store.
func (q *mailQueue) collect(ctx context.Context) {
	for cursor := ""; ; {
		list, next, err := q.outbox.listing.ListRecords(ctx, outboxKind, "", cursor, outboxPage)
		if err != nil {
			q.log.failure(ctx, errorf(ErrStore, "list the emails that are due: %w", err))
			return
		}
		for _, r := range list {
			if err := q.adopt(ctx, r); err != nil && !errors.Is(err, errClaimed) {
				q.log.failure(ctx, errorf(ErrAuth, "an email in the store: %w", err))
			}
		}
		if next == "" || len(list) < outboxPage { // emails expire, so they are on the first pages
			return
		}
		cursor = next
	}
}

// adopt claims the email of a record, if it is due, and adds it to its lane.
func (q *mailQueue) adopt(ctx context.Context, r *store.Record) error {
	lane := q.lane(r.Key)
	q.mu.Lock()
	held := q.held[r.Key]
	q.mu.Unlock()
	now := q.outbox.now()
	var due storedMail
	if lane == nil || held || json.Unmarshal(r.Value, &due) != nil || due.Due > now.UnixMilli() || !r.Expires.After(now) {
		return nil
	}
	j, err := q.outbox.read(r, q.senders)
	if err != nil {
		return err
	}
	j.ctx, j.lane = ctx, lane
	if !q.reserve(j) {
		return nil
	}
	if err := q.outbox.write(ctx, j, now.Add(outboxClaim)); err != nil {
		q.finish(j)
		return err
	}
	if j.stored.Planned { // its process has ended, or the result of its change was unknown
		if made, err := q.made(ctx, j); err != nil || !made {
			if err == nil {
				q.remove(j)
			}
			q.finish(j)
			return err
		}
		j.stored.Planned = false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready(j)
	return nil
}

// lane returns the lane of a record.
func (q *mailQueue) lane(key string) *mailLane {
	for _, lane := range []*mailLane{&q.notices, &q.known, &q.open} {
		if key[:min(len(key), len(lane.prefix))] == lane.prefix {
			return lane
		}
	}
	return nil
}

// jitter returns a random duration of up to a tenth of wait, so that the retries of many processes spread.
func jitter(wait time.Duration) time.Duration {
	return time.Duration(rand.Int64N(int64(wait)/10 + 1)) //nolint:gosec // no secret
}

// warn logs an error of the outbox. The email is sent anyway, or by another process later.
func (q *mailQueue) warn(j *mailJob, err error) {
	if err != nil && !errors.Is(err, errClaimed) {
		q.log.logger.LogAttrs(j.ctx, slog.LevelWarn, "auth: the stored copy of an email was not updated", q.attrs(j, err)...)
	}
}
