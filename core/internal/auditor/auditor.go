// Package auditor completes audit events and passes them to the application. It combines repeated refusals.
package auditor

import (
	"container/list"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
)

// Auditor completes audit events and passes them to the application. It is safe for concurrent use. A nil Auditor does
// nothing.
type Auditor struct {
	// Sink receives the events. It must not panic.
	Sink func(ctx context.Context, e audit.Event)
	// Now is the clock.
	Now func() time.Time
	// Tenant is Event.Tenant of all events.
	Tenant string
	// Secret is the key of the HMAC that replaces identifiers.
	Secret string

	folds folds
}

// Note passes an event to the application. It is called within the request, after the change is committed. Refusals
// with the same subject are combined. e.Subject is the identifier as the client typed it; Note replaces it with its
// keyed hash. The context of the sink is not canceled with the request, so that a client that disconnects cannot
// suppress the event.
func (a *Auditor) Note(ctx context.Context, e audit.Event) {
	if a == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	e.Time, e.Tenant = a.Now(), a.Tenant
	e.Count = max(e.Count, 1)
	e.Subject = Subject(a.Secret, e.Subject)
	if e.Outcome == audit.OK {
		a.Sink(ctx, e)
		return
	}
	for _, told := range a.folds.add(e) {
		a.Sink(ctx, told)
	}
}

// Subject returns the keyed hash of an identifier in its canonical form: 16 bytes of an HMAC. Without the key, even a
// short identifier cannot be guessed from it. It is empty for an empty identifier.
func Subject(secret, identifier string) string {
	if identifier = mailaddr.Canonical(identifier); identifier == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte("audit subject\x00"+secret))
	mac.Write([]byte(identifier))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// foldFor is the duration of a fold: refusals with one subject are combined into the next event.
const foldFor = time.Minute

// maxFolds is the maximum number of subjects that are counted separately. Refusals with further subjects are folded by
// name and reason only, so that clients that invent subjects can fill neither memory nor log.
const maxFolds = 4096

// folds protects a log from being flooded with refusals. It emits at most one event per minute and subject, with the
// number of refusals that it represents. The first refusal is emitted immediately. The remaining count of a subject
// without further refusals is emitted together with the next refusal of another subject.
type folds struct {
	mu    sync.Mutex
	bySub map[foldKey]*list.Element // values are *fold
	order list.List                 // oldest first
}

// foldKey identifies refusals that are folded together.
type foldKey struct {
	name    audit.Name
	outcome audit.Outcome
	reason  audit.Reason
	attempt string
	subject string // credential, user, hashed identifier or network; empty beyond maxFolds
}

type fold struct {
	key   foldKey
	since time.Time
	// last is the most recent refusal. Its Count is the number of refusals that were not emitted yet.
	last audit.Event
}

// over reports whether the minute is over, or the clock was set back.
func (f *fold) over(now time.Time) bool { return now.Sub(f.since) >= foldFor || now.Before(f.since) }

// add counts a refusal and returns the events to emit now.
func (s *folds) add(e audit.Event) (told []audit.Event) {
	key := foldKey{name: e.Name, outcome: e.Outcome, reason: e.Reason, attempt: e.Attempt, subject: foldSubject(&e)}
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

// sweep removes folds that are over, and returns the events with their remaining counts.
func (s *folds) sweep(now time.Time) (told []audit.Event) {
	const atOnce = 16 // emitted within this request
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

// foldSubject returns the key that refusals are folded by: the credential, else the user, else the identifier, else the
// network.
func foldSubject(e *audit.Event) string {
	switch {
	case e.Credential != "":
		return "credential " + e.Credential
	case e.UserID != "":
		return "user " + e.UserID
	case e.Subject != "":
		return "subject " + e.Subject
	}
	return "peer " + e.Peer.String()
}
