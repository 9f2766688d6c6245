package core

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/auditor"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
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

// mailQueue sends the emails of an Auth in the background. It has three lanes, each with its own senders, so that one
// kind of traffic cannot delay or displace the others: security notices, emails that known browsers request, and all
// other emails. Its goroutines end when no email is waiting.
type mailQueue struct {
	log     *reporter
	audit   *auditor.Auditor
	watch   watch
	rand    io.Reader
	retries []time.Duration
	senders map[string]*EmailSender // by name
	outbox  *outbox                 // nil if emails are in memory only
	// made reports whether the change of a planned notice was made.
	made func(ctx context.Context, j *mailJob) (bool, error)
	// bounced reports whether an address has bounced since a time.
	bounced func(ctx context.Context, address string, since time.Time) bool

	notices, known, open mailLane

	mu       sync.Mutex
	held     map[string]bool // keys of the stored emails in memory
	total    int             // emails that are not finished, of all lanes
	idle     chan struct{}   // closed while total is zero
	flushing int
	hurry    chan struct{} // closed while a flush is in progress
}

// mailLane is a queue with its own senders. mailQueue.mu guards it.
type mailLane struct {
	prefix            string // of the keys of stored emails; notices are listed first
	senders, capacity int
	ready             []*mailJob
	working, held     int // held is the number of emails that wait, are being sent, or wait for a retry
	clients           map[string]int
}

// mailJob is an email in the queue.
type mailJob struct {
	BackgroundEmail
	data     json.RawMessage
	sender   *EmailSender
	ctx      context.Context
	at       *arrival // nil outside of a request
	lane     *mailLane
	counted  []mailQuota
	attempts int
	written  *Email // the result of Write
	// checkable reports that mailQueue.made can report whether the planned change was made.
	checkable bool

	record  *store.Record // nil if the email is in memory only
	stored  storedMail
	claimed time.Time // end of the claim
}

// mailQuota is the maximum number of emails with one key in a lane.
type mailQuota struct {
	key  string
	most int
}

func newMailQueue(c *Config, a *Auth) *mailQueue {
	q := &mailQueue{
		log: a.log, audit: a.site.audit, watch: watch{c.Observe, a.log}, retries: c.Mail.Retries,
		senders: map[string]*EmailSender{}, outbox: newOutbox(c, a), rand: c.Rand, held: map[string]bool{},
		notices: mailLane{prefix: "1-", senders: mailNoticeSenders, capacity: mailNoticeWaiting},
		known:   mailLane{prefix: "2-", senders: mailKnownSenders, capacity: mailKnownWaiting},
		open:    mailLane{prefix: "3-", senders: mailOpenSenders, capacity: mailOpenWaiting},
		idle:    make(chan struct{}), hurry: make(chan struct{}),
	}
	if q.retries == nil {
		q.retries = []time.Duration{
			10 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute,
			15 * time.Minute,
		}
	}
	close(q.idle)
	return q
}

// job returns the job for an email.
func (q *mailQueue) job(ctx context.Context, at *arrival, lane *mailLane, e BackgroundEmail) (*mailJob, error) {
	j := &mailJob{BackgroundEmail: e, sender: q.senders[e.Sender], ctx: context.WithoutCancel(ctx), at: at, lane: lane}
	if j.sender == nil {
		return nil, errorf(ErrAuth, "email of kind %q: no EmailSender %q was added", string(e.Email.Kind), e.Sender)
	}
	var err error
	if e.Data != nil {
		if j.data, err = json.Marshal(e.Data); err != nil {
			return nil, errorf(ErrAuth, "data of an email: %w", err)
		}
	}
	j.Email.ID, err = randomHex(q.rand, 16)
	return j, err
}

// reserve counts a job in its lane. It reports false if the lane or one of the job's quotas is full.
func (q *mailQueue) reserve(j *mailJob) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	lane := j.lane
	if lane.held >= lane.capacity {
		return false
	}
	for _, quota := range j.counted {
		if lane.clients[quota.key] >= quota.most {
			return false
		}
	}
	if lane.clients == nil {
		lane.clients = map[string]int{}
	}
	for _, quota := range j.counted {
		lane.clients[quota.key]++
	}
	if q.total == 0 {
		q.idle = make(chan struct{})
	}
	q.total++
	lane.held++
	if j.record != nil {
		q.held[j.record.Key] = true
	}
	return true
}

// add stores an email and queues it. It reports false if the lane or one of the quotas is full. If the email cannot be
// stored, it is in memory only.
func (q *mailQueue) add(j *mailJob, quotas []mailQuota) bool {
	j.counted = quotas
	if !q.reserve(j) {
		return false
	}
	if q.outbox != nil && j.record == nil {
		if err := q.outbox.put(j.ctx, q.outbox.records, j); err != nil {
			q.warn(j, err)
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.record != nil {
		q.held[j.record.Key] = true
	}
	q.ready(j)
	return true
}

// ready makes a job available to the senders of its lane. The caller holds q.mu.
func (q *mailQueue) ready(j *mailJob) {
	j.lane.ready = append(j.lane.ready, j)
	if j.lane.working < j.lane.senders {
		j.lane.working++
		go q.work(j.lane)
	}
}

// work sends emails until none is ready.
func (q *mailQueue) work(lane *mailLane) {
	for {
		q.mu.Lock()
		if len(lane.ready) == 0 {
			lane.working--
			lane.ready = nil
			q.mu.Unlock()
			return
		}
		next := lane.ready[0]
		lane.ready[0] = nil
		lane.ready = lane.ready[1:]
		q.mu.Unlock()
		q.attempt(next)
	}
}

// attempt tries to send an email, and on failure schedules the next attempt or gives up.
func (q *mailQueue) attempt(j *mailJob) {
	err := q.claim(j)
	if errors.Is(err, errClaimed) {
		q.finish(j)
		return
	}
	if err == nil {
		err = q.send(j)
	}
	if err == nil {
		q.remove(j)
		q.finish(j)
		return
	}
	if j.attempts >= len(q.retries) || errors.Is(err, errBounced) {
		q.giveUp(j, err)
		q.finish(j)
		return
	}
	wait := q.retries[j.attempts]
	wait += jitter(wait)
	q.log.logger.LogAttrs(j.ctx, slog.LevelWarn, "auth: an email was not sent and will be tried again",
		append(q.attrs(j, err), slog.Duration("after", wait))...)
	j.attempts++
	q.postpone(j, wait)
	go q.retry(j, wait)
}

// claim, postpone and remove update the record of a job, if it has one.
func (q *mailQueue) claim(j *mailJob) error {
	if q.outbox == nil {
		return nil
	}
	return q.outbox.claim(j.ctx, j)
}

func (q *mailQueue) postpone(j *mailJob, wait time.Duration) {
	if q.outbox != nil {
		q.warn(j, q.outbox.postpone(j.ctx, j, q.outbox.now().Add(wait)))
	}
}

func (q *mailQueue) remove(j *mailJob) {
	if q.outbox != nil && j.record != nil {
		q.warn(j, q.outbox.remove(j.ctx, j))
	}
}

// retry makes a job available again after a wait. A flush ends the wait. It leaves a stored email to the next process,
// so that a shutdown does not wait for a mail server that does not respond.
func (q *mailQueue) retry(j *mailJob, wait time.Duration) {
	q.mu.Lock()
	hurry := q.hurry
	q.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-hurry:
		if j.record != nil && wait > 0 {
			q.postpone(j, 0)
			q.finish(j)
			return
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready(j)
}

// send makes one attempt. It returns a panic as an error.
func (q *mailQueue) send(j *mailJob) error {
	ctx, cancel := context.WithTimeout(j.ctx, mailAttemptTimeout)
	defer cancel()
	if j.sender.Write != nil && j.data != nil && j.written == nil {
		err := guard("write of email "+string(j.Email.Kind), func() error {
			written, err := j.sender.Write(ctx, j.Email, j.data)
			if err == nil {
				written.Kind = mailkind.Kind(or(string(written.Kind), string(j.Email.Kind)))
				written.ID = j.Email.ID
				j.written = &written
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	email := j.email()
	if email.To == "" {
		return nil
	}
	if j.attempts > 0 && j.record != nil && q.bounced(ctx, email.To, j.record.Expires.Add(-outboxFor)) {
		return errBounced
	}
	call := observe.Call{Target: observe.Mail, Name: string(email.Kind)}
	err := watchedOnly(ctx, q.watch, call, func(ctx context.Context) error { return email.Send(ctx, j.sender.Mailer) })
	return hideRecipient(err, email)
}

// email returns the result of Write, or before that the email that was queued.
func (j *mailJob) email() Email {
	if j.written != nil {
		return *j.written
	}
	return j.Email
}

// hideRecipient returns err with a text that omits the recipient's address, which the errors of mail servers contain.
func hideRecipient(err error, l Email) error {
	if err == nil {
		return nil
	}
	return &redactedError{err, []string{l.To, l.Recipient()}}
}

// giveUp logs and audits an email that was not sent, and calls Undo.
func (q *mailQueue) giveUp(j *mailJob, err error) {
	q.log.logger.LogAttrs(j.ctx, slog.LevelError, "auth: an email was not sent", q.attrs(j, err)...)
	event := audit.Event{
		Name: audit.EmailFailed, Outcome: audit.Failed, Reason: audit.ReasonMail, UserID: j.UserID,
		Email: string(j.Email.Kind),
	}
	if j.UserID == "" {
		event.Subject = j.Subject
	}
	noteAt(j.ctx, q.audit, j.at, event)
	q.remove(j)
	if j.sender.Undo == nil || j.data == nil {
		return
	}
	ctx, cancel := context.WithTimeout(j.ctx, mailAttemptTimeout)
	defer cancel()
	undo := func() error { j.sender.Undo(ctx, j.email(), j.data); return nil }
	if err := guard("undo of email "+string(j.Email.Kind), undo); err != nil {
		q.log.failure(ctx, errorf(ErrAuth, "undo of an email: %w", err))
	}
}

// attrs returns the log attributes of an email, without its address and link.
func (q *mailQueue) attrs(j *mailJob, err error) []slog.Attr {
	attrs := []slog.Attr{slog.Any("error", err), slog.String("email", string(j.Email.Kind)),
		slog.Int("attempt", j.attempts+1)}
	if j.UserID != "" {
		attrs = append(attrs, slog.String("user_id", j.UserID))
	} else if j.at != nil && j.Subject != "" && len(j.at.secrets) > 0 {
		attrs = append(attrs, slog.String("subject", auditor.Subject(j.at.secrets[0], j.Subject)))
	}
	if j.at != nil {
		attrs = append(attrs, j.at.attrs()...)
	}
	return attrs
}

// finish removes a job from the counts of its lane.
func (q *mailQueue) finish(j *mailJob) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.lane.held--
	if j.record != nil {
		delete(q.held, j.record.Key)
	}
	for _, quota := range j.counted {
		if j.lane.clients[quota.key]--; j.lane.clients[quota.key] <= 0 {
			delete(j.lane.clients, quota.key)
		}
	}
	if len(j.lane.clients) == 0 {
		j.lane.clients = nil
	}
	if q.total--; q.total == 0 {
		close(q.idle)
	}
}

// flush waits until no email waits or is being sent.
func (q *mailQueue) flush(ctx context.Context) error {
	q.mu.Lock()
	if q.flushing++; q.flushing == 1 {
		close(q.hurry)
	}
	idle := q.idle
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.flushing--; q.flushing == 0 {
			q.hurry = make(chan struct{})
		}
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// notify queues a security notice. If the lane is full, it sends the notice immediately, before the response: a notice
// is never dropped because of other emails.
func (q *mailQueue) notify(ctx context.Context, at *arrival, e BackgroundEmail) {
	j, err := q.job(ctx, at, &q.notices, e)
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
	j, err := q.job(ctx, &c.in.arrival, &q.notices, e)
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

// plan stores a notice before its change, or in the transaction of its change if records is not nil.
func (q *mailQueue) plan(ctx context.Context, records store.RecordStore, j *mailJob) error {
	if j == nil || q.outbox == nil {
		return nil
	}
	if records == nil {
		records = q.outbox.records
	}
	j.stored.Planned = true
	if err := q.outbox.put(ctx, records, j); err != nil {
		return errorf(ErrStore, "store a security notice: %w", err)
	}
	return nil
}

// cancel deletes a planned notice, because its change was not made. If the result of the change is unknown, and it can
// be looked up, the notice stays: a process that looks for emails that are due decides.
func (q *mailQueue) cancel(j *mailJob, cause error) {
	if j == nil || j.record == nil {
		return
	}
	refused := errors.Is(cause, ErrNotFound) || errors.Is(cause, ErrConflict) || errors.As(cause, new(*Problem))
	if refused || !j.checkable {
		q.remove(j)
	}
}

// confirm sends a planned notice whose change was made. If the change took so long that another process may have judged
// it, the notice is stored again.
func (q *mailQueue) confirm(j *mailJob) {
	if j == nil {
		return
	}
	j.stored.Planned = false
	if j.record != nil && !q.outbox.now().Before(j.claimed) {
		j.record = nil
	}
	q.sendNotice(j)
}

func (q *mailQueue) sendNotice(j *mailJob) {
	quotas := []mailQuota{{"user " + or(j.UserID, j.Email.To), mailNoticePerUser}}
	if q.add(j, quotas) {
		return
	}
	if err := q.send(j); err != nil {
		q.giveUp(j, err)
		return
	}
	q.remove(j)
}

// SendLater sends an email that a client requested, for example a link, after the response. Each client, and all
// unidentified clients together, can have only a few emails waiting. A known browser ([Limits].KnownBrowsers) of
// e.Subject has a separate share. The error is [ErrMailQueueFull]. If emails are in memory only, they are lost when the
// process ends: call [Auth.FlushMail] before.
func (c *ActionRequest) SendLater(ctx context.Context, e BackgroundEmail) error {
	q, at := c.plugins.auth.mail, &c.in.arrival
	lane, quotas := &q.open, mailQuotas(at.client())
	if browser := c.plugins.limits.known.of(c.in, e.Subject); browser != "" {
		lane, quotas = &q.known, []mailQuota{{"browser " + browser, mailPerBrowser}}
	}
	j, err := q.job(ctx, at, lane, e)
	if err != nil {
		return err
	}
	if !q.add(j, quotas) {
		return ErrMailQueueFull
	}
	return nil
}

// mailQuotas returns the quotas of a client in the open lane.
func mailQuotas(from client) []mailQuota {
	if !from.identified {
		return []mailQuota{{"unidentified", mailUnidentified}}
	}
	quotas := make([]mailQuota, 0, 3)
	for i, network := range limit.Networks(from.network) {
		quotas = append(quotas, mailQuota{network.String(), mailPerClient << i})
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
	if a.mail.outbox != nil && len(a.mail.senders) > 0 {
		a.mail.collect(ctx)
	}
	return a.mail.flush(ctx)
}
