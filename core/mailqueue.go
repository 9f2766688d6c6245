package core

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/observe"
)

// BackgroundEmail is an email that a plugin sends after the response: see [ActionRequest.SendLater],
// [ActionRequest.Notify] and [PluginHost.Notify]. If sending fails, it is tried again, see [MailConfig].
type BackgroundEmail struct {
	// Email is the email, if its content is known already. Its Kind is required even if Write is set: it is in logs,
	// audit events and metrics.
	Email Email
	// Write, if not nil, runs in the background and returns the email to send instead of Email, so that the response
	// time does not reveal the result of a lookup in Write. It is called again if it returns an error. If the returned
	// Email has no To, no email is sent.
	Write func(ctx context.Context) (Email, error)
	// Undo, if not nil, is called once after the last attempt has failed. It deletes the records that Write created.
	Undo func(ctx context.Context)
	// Mailer sends the email. It is required.
	Mailer Mailer
	// UserID is the user that the email is about. Subject is the identifier that a client typed, if it may belong to no
	// user. Both are in log lines and audit events; Subject only as a keyed hash.
	UserID, Subject string
}

// MailConfig configures emails that are sent in the background.
type MailConfig struct {
	// Retries are the waits between the attempts to send an email. Nil means 10 seconds and one minute, so three attempts.
	// An empty slice means one attempt. [Auth.FlushMail] makes the remaining attempts without waiting.
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
	audit   *auditor
	watch   watch
	retries []time.Duration

	notices, known, open mailLane

	mu       sync.Mutex
	total    int           // emails that are not finished, of all lanes
	idle     chan struct{} // closed while total is zero
	flushing int
	hurry    chan struct{} // closed while a flush is in progress
}

// mailLane is a queue with its own senders. mailQueue.mu guards it.
type mailLane struct {
	senders, capacity int
	ready             []*mailJob
	working, held     int // held is the number of emails that wait, are being sent, or wait for a retry
	clients           map[string]int
}

// mailJob is an email in the queue.
type mailJob struct {
	BackgroundEmail
	ctx      context.Context
	at       *arrival // nil outside of a request
	lane     *mailLane
	counted  []mailQuota
	attempts int
	written  bool
}

// mailQuota is the maximum number of emails with one key in a lane.
type mailQuota struct {
	key  string
	most int
}

func newMailQueue(c *Config, a *Auth) *mailQueue {
	q := &mailQueue{
		log: a.log, audit: a.site.audit, watch: watch{c.Observe, a.log}, retries: c.Mail.Retries,
		notices: mailLane{senders: mailNoticeSenders, capacity: mailNoticeWaiting},
		known:   mailLane{senders: mailKnownSenders, capacity: mailKnownWaiting},
		open:    mailLane{senders: mailOpenSenders, capacity: mailOpenWaiting},
		idle:    make(chan struct{}), hurry: make(chan struct{}),
	}
	if q.retries == nil {
		q.retries = []time.Duration{10 * time.Second, time.Minute}
	}
	close(q.idle)
	return q
}

// add queues an email. It reports false if the lane or one of the quotas is full.
func (q *mailQueue) add(ctx context.Context, at *arrival, lane *mailLane, e BackgroundEmail, quotas []mailQuota) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if lane.held >= lane.capacity {
		return false
	}
	for _, quota := range quotas {
		if lane.clients[quota.key] >= quota.most {
			return false
		}
	}
	if lane.clients == nil {
		lane.clients = map[string]int{}
	}
	for _, quota := range quotas {
		lane.clients[quota.key]++
	}
	if q.total == 0 {
		q.idle = make(chan struct{})
	}
	q.total++
	lane.held++
	q.ready(&mailJob{
		BackgroundEmail: e, ctx: context.WithoutCancel(ctx), at: at, lane: lane, counted: quotas,
	})
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
	err := q.send(j)
	if err != nil && j.attempts < len(q.retries) {
		wait := q.retries[j.attempts]
		q.log.logger.LogAttrs(j.ctx, slog.LevelWarn, "auth: an email was not sent and will be tried again",
			append(q.attrs(j, err), slog.Duration("after", wait))...)
		j.attempts++
		go q.retry(j, wait)
		return
	}
	if err != nil {
		q.giveUp(j, err)
	}
	q.finish(j)
}

// retry makes a job available again after a wait. A flush ends the wait.
func (q *mailQueue) retry(j *mailJob, wait time.Duration) {
	q.mu.Lock()
	hurry := q.hurry
	q.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-hurry:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready(j)
}

// send makes one attempt. It returns a panic as an error.
func (q *mailQueue) send(j *mailJob) error {
	ctx, cancel := context.WithTimeout(j.ctx, mailAttemptTimeout)
	defer cancel()
	if j.Write != nil && !j.written {
		err := guard("write of email "+string(j.Email.Kind), func() error {
			email, err := j.Write(ctx)
			if err == nil {
				email.Kind = EmailKind(or(string(email.Kind), string(j.Email.Kind)))
				j.Email, j.written = email, true
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if j.Email.To == "" {
		return nil
	}
	call := observe.Call{Target: observe.Mail, Name: string(j.Email.Kind)}
	err := watchedOnly(ctx, q.watch, call, func(ctx context.Context) error { return j.Email.Send(ctx, j.Mailer) })
	return hideRecipient(err, j.Email)
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
	q.audit.note(j.ctx, j.at, event)
	if j.Undo == nil {
		return
	}
	ctx, cancel := context.WithTimeout(j.ctx, mailAttemptTimeout)
	defer cancel()
	if err := guard("undo of email "+string(j.Email.Kind), func() error { j.Undo(ctx); return nil }); err != nil {
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
		attrs = append(attrs, slog.String("subject", hashSubject(j.at.secrets[0], canonicalName(j.Subject))))
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
	quotas := []mailQuota{{"user " + or(e.UserID, e.Email.To), mailNoticePerUser}}
	if q.add(ctx, at, &q.notices, e, quotas) {
		return
	}
	j := &mailJob{BackgroundEmail: e, ctx: context.WithoutCancel(ctx), at: at, lane: &q.notices}
	if err := q.send(j); err != nil {
		q.giveUp(j, err)
	}
}

// SendLater sends an email that a client requested, for example a link, after the response. Each client, and all
// unidentified clients together, can have only a few emails waiting. A known browser ([Limits].KnownBrowsers) of
// e.Subject has a separate share. The error is [ErrMailQueueFull]. Waiting emails are lost when the process ends: call
// [Auth.FlushMail] before.
func (c *ActionRequest) SendLater(ctx context.Context, e BackgroundEmail) error {
	q, at := c.plugins.auth.mail, &c.in.arrival
	lane, quotas := &q.open, mailQuotas(at.client())
	if browser := c.plugins.limits.known.of(c.in, e.Subject); browser != "" {
		lane, quotas = &q.known, []mailQuota{{"browser " + browser, mailPerBrowser}}
	}
	if !q.add(ctx, at, lane, e, quotas) {
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

// FlushMail waits until all background emails of the Auth's plugins are sent or have failed. It returns the error of
// ctx if ctx ends first. Emails that wait for another attempt are tried immediately. Call it after the server's
// shutdown and before the process ends; otherwise emails in memory are lost. An Auth of [PerRequest] has no emails.
func (a *Auth) FlushMail(ctx context.Context) error {
	if a.mail == nil {
		return nil
	}
	return a.mail.flush(ctx)
}
