package core

import (
	"container/list"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"
)

// auditor completes audit events and hands them to the application. A nil one does nothing, and costs nothing.
type auditor struct {
	sink   func(ctx context.Context, e AuditEvent) // Config.Audit
	now    func() time.Time
	secret string
	tenant string
	log    *reporter
	folds  folds
}

// newAuditor returns nil where nobody listens.
func newAuditor(c *Config, secrets []string, log *reporter) *auditor {
	if c.Audit == nil || len(secrets) == 0 {
		return nil
	}
	return &auditor{sink: c.Audit, now: c.Now, secret: secrets[0], tenant: c.Audience, log: log}
}

// note completes an event with time and sender and has it told, within the request and after what it tells of was
// committed. Refusals of one subject are folded. at is nil where no request is there. Subject comes in as it was typed.
func (a *auditor) note(ctx context.Context, at *arrival, e AuditEvent) {
	if a == nil {
		return
	}
	e.Time, e.Tenant = a.now(), a.tenant
	e.Count = max(e.Count, 1)
	if e.Subject = canonicalName(e.Subject); e.Subject != "" {
		e.Subject = a.hidden(e.Subject)
	}
	if at != nil {
		e.Peer, _ = at.peer(at.r)
		e.Agent = printable(at.header("User-Agent"))
		e.Reference = at.ref()
		e.Provider = or(e.Provider, at.providerID)
	}
	if e.Outcome == OutcomeOK {
		a.tell(ctx, e)
		return
	}
	for _, told := range a.folds.add(e) {
		a.tell(ctx, told)
	}
}

// tell calls the application. What goes wrong there is logged and changes nothing; a visitor who goes away does not
// take the event along.
func (a *auditor) tell(ctx context.Context, e AuditEvent) {
	defer func() {
		if v := recover(); v != nil {
			panicked := &panicError{where: "Audit", value: v, frames: panicFrames()}
			a.log.failure(ctx, errorf(ErrEvent, "audit: %w", panicked))
		}
	}()
	a.sink(context.WithoutCancel(ctx), e)
}

// hidden is an identifier as events have it.
func (a *auditor) hidden(identifier string) string { return hiddenSubject(a.secret, identifier) }

// hiddenSubject is a keyed hash of an identifier, 16 bytes of an HMAC: not even a short identifier can be guessed from
// it.
func hiddenSubject(secret, identifier string) string {
	mac := hmac.New(sha256.New, []byte("audit subject\x00"+secret))
	mac.Write([]byte(identifier))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// decided notes what was decided for a user.
func (v *arrival) decided(ctx context.Context, name AuditName, reason Reason, userID string) {
	v.decidedOf(ctx, name, reason, userID, "")
}

// decidedOf notes what was decided about a session, by its public ID.
func (v *arrival) decidedOf(ctx context.Context, name AuditName, reason Reason, userID, sessionID string) {
	v.audit.note(ctx, v, AuditEvent{
		Name: name, Outcome: OutcomeOK, Reason: reason, UserID: userID, SessionID: sessionID,
	})
}

// foldFor is how long refusals of one subject are folded into the event that is told next.
const foldFor = time.Minute

// maxFolds is how many subjects are told apart at a time. The refusals of further ones are folded by name and reason
// alone, so that visitors who make up subjects fill neither memory nor log.
const maxFolds = 4096

// folds keeps a log of refusals from being the attack: of one subject, one a minute is told, with how many it stands
// for. The first is told at once. What was counted of a subject that came no more is told beside the refusal of
// another.
type folds struct {
	mu    sync.Mutex
	bySub map[foldKey]*list.Element // of *fold
	order list.List                 // the oldest in front
}

// foldKey is what makes refusals the same.
type foldKey struct {
	name    AuditName
	outcome Outcome
	reason  Reason
	attempt Attempt
	subject string // user, hidden identifier, or network; empty for those beyond maxFolds
}

type fold struct {
	key   foldKey
	since time.Time
	// last is the refusal that was counted last; its Count is how many were not told yet.
	last AuditEvent
}

// over reports whether the minute is over; a clock that was set back ends it.
func (f *fold) over(now time.Time) bool { return now.Sub(f.since) >= foldFor || now.Before(f.since) }

// add counts a refusal, and returns what is to be told now.
func (s *folds) add(e AuditEvent) (told []AuditEvent) {
	key := foldKey{name: e.Name, outcome: e.Outcome, reason: e.Reason, attempt: e.Attempt, subject: e.subject()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bySub == nil {
		s.bySub = map[foldKey]*list.Element{}
	}
	if len(s.bySub) >= maxFolds && s.bySub[key] == nil {
		key.subject = ""
	}
	if known := s.bySub[key]; known != nil {
		f := known.Value.(*fold) //nolint:forcetypeassert // nothing else is in the list
		e.Count += f.last.Count
		if !f.over(e.Time) {
			f.last = e
			return s.sweep(e.Time)
		}
		s.forget(known)
	}
	told = append(s.sweep(e.Time), e)
	e.Count = 0
	s.bySub[key] = s.order.PushBack(&fold{key: key, since: e.Time, last: e})
	return told
}

// sweep forgets subjects whose minute is over, and returns what was counted of them.
func (s *folds) sweep(now time.Time) (told []AuditEvent) {
	const atOnce = 16 // this request tells them
	for front := s.order.Front(); front != nil && len(told) < atOnce; front = s.order.Front() {
		f := front.Value.(*fold) //nolint:forcetypeassert // nothing else is in the list
		if !f.over(now) {
			break
		}
		if f.last.Count > 0 {
			told = append(told, f.last)
		}
		s.forget(front)
	}
	return told
}

func (s *folds) forget(e *list.Element) {
	delete(s.bySub, e.Value.(*fold).key) //nolint:forcetypeassert // nothing else is in the list
	s.order.Remove(e)
}

// subject is whose refusals are folded: the user's, else the identifier's, else the network's.
func (e *AuditEvent) subject() string {
	switch {
	case e.UserID != "":
		return "user " + e.UserID
	case e.Subject != "":
		return "subject " + e.Subject
	}
	return "peer " + e.Peer.String()
}
