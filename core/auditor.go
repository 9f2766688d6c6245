package core

import (
	"container/list"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
)

// auditor completes audit events and passes them to Config.Audit. A nil auditor does nothing.
type auditor struct {
	sink   func(ctx context.Context, e audit.Event) // Config.Audit
	now    func() time.Time
	secret string
	tenant string
	log    *reporter
	folds  folds
}

// note adds the time and the properties of the request to an event and passes it to the application. It is called
// within the request, after the change is committed. Refusals with the same subject are folded. at is nil outside of a
// request. e.Subject is the identifier as the client typed it; note replaces it by its keyed hash.
func (a *auditor) note(ctx context.Context, at *arrival, e audit.Event) {
	if a == nil {
		return
	}
	e.Time, e.Tenant = a.now(), a.tenant
	e.Count = max(e.Count, 1)
	if e.Subject = canonicalName(e.Subject); e.Subject != "" {
		e.Subject = a.hashed(e.Subject)
	}
	if at != nil {
		e.Peer, _ = at.peer(at.r)
		e.Agent = printable(at.header("User-Agent"))
		e.Reference = at.ref()
		e.Provider = or(e.Provider, at.providerID)
	}
	if e.Outcome == audit.OK {
		a.tell(ctx, e)
		return
	}
	for _, told := range a.folds.add(e) {
		a.tell(ctx, told)
	}
}

// tell calls the application. A panic is logged and has no other effect. The context is not canceled with the request,
// so that a client that disconnects cannot suppress the event.
func (a *auditor) tell(ctx context.Context, e audit.Event) {
	defer func() {
		if v := recover(); v != nil {
			panicked := &panicError{where: "Audit", value: v, frames: panicFrames()}
			a.log.failure(ctx, errorf(errEvent, "audit: %w", panicked))
		}
	}()
	a.sink(context.WithoutCancel(ctx), e)
}

// hashed returns the keyed hash of an identifier.
func (a *auditor) hashed(identifier string) string { return hashSubject(a.secret, identifier) }

// hashSubject returns the keyed hash of an identifier: 16 bytes of an HMAC. Without the key, even a short identifier
// cannot be guessed from it.
func hashSubject(secret, identifier string) string {
	mac := hmac.New(sha256.New, []byte("audit subject\x00"+secret))
	mac.Write([]byte(identifier))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// decided notes a successful decision about a user.
func (v *arrival) decided(ctx context.Context, name audit.Name, reason audit.Reason, userID string) {
	v.decidedOf(ctx, name, reason, userID, "")
}

// decidedOf notes a successful decision about a session, by its public ID.
func (v *arrival) decidedOf(ctx context.Context, name audit.Name, reason audit.Reason, userID, sessionID string) {
	v.audit.note(ctx, v, audit.Event{
		Name: name, Outcome: audit.OK, Reason: reason, UserID: userID, SessionID: sessionID,
	})
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
	subject string // user, hashed identifier or network; empty beyond maxFolds
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

// foldSubject returns the key that refusals are folded by: the user, else the identifier, else the network.
func foldSubject(e *audit.Event) string {
	switch {
	case e.UserID != "":
		return "user " + e.UserID
	case e.Subject != "":
		return "subject " + e.Subject
	}
	return "peer " + e.Peer.String()
}

// sessionEnded notes a session cookie that is no longer valid: its session ended or does not exist.
func (v *arrival) sessionEnded(ctx context.Context, err error) {
	var why *audit.Denial
	if errors.As(err, &why) {
		v.decided(ctx, audit.SessionEnded, why.Reason, why.UserID)
		return
	}
	v.audit.note(ctx, v, audit.Event{Name: audit.SessionEnded, Outcome: audit.Refused, Reason: audit.ReasonUnreadable})
}

// verdict returns the outcome and the reason of an error. remote reports whether a provider was involved.
func verdict(err error, remote bool) (audit.Outcome, audit.Reason) {
	e := asError(err, ErrCallbackRoute)
	var why *audit.Denial
	var panicked *panicError
	switch failed := e.level() >= slog.LevelError; {
	case errors.Is(err, ErrStoreUnavailable), e.Type == ErrStore, e.Type == ErrSessionToken:
		return audit.Failed, audit.ReasonStore
	case errors.As(err, &panicked):
		return audit.Failed, audit.ReasonFault
	case errors.As(err, &why) && why.Reason != "":
		return audit.Refused, why.Reason
	case failed && e.Type == ErrEmailSignIn:
		return audit.Failed, audit.ReasonMail
	case failed && remote && e.Type != ErrAccessDenied:
		return audit.Failed, audit.ReasonProvider
	case failed:
		return audit.Failed, audit.ReasonFault
	}
	return audit.Refused, reasonOf(e.Type)
}

// reasonOf returns the reason of an error that does not contain one.
func reasonOf(t ErrorType) audit.Reason {
	switch t {
	case ErrAccessDenied:
		return audit.ReasonDenied
	case ErrCredentialsSignin:
		return audit.ReasonCredentials
	case ErrAccountNotLinked, ErrOAuthAccountNotLinked:
		return audit.ReasonNotLinked
	case ErrInvalidCheck:
		return audit.ReasonCheck
	case ErrOAuthCallback:
		return audit.ReasonProviderRefused
	case ErrWebAuthnVerification:
		return audit.ReasonPasskey
	case ErrEmailSignIn:
		return audit.ReasonAddress
	}
	return audit.ReasonRequest
}

// auditReason returns an error with a reason for the audit event.
func auditReason(r audit.Reason, text string) error {
	return &audit.Denial{Reason: r, Err: errors.New(text)}
}

// emit calls an event handler. An error or a panic is logged and has no other effect.
func emit(ctx context.Context, v *arrival, name string, call func() error) {
	if _, err := guarded("event "+name, func() (struct{}, error) { return struct{}{}, call() }); err != nil {
		v.log.failure(ctx, errorf(errEvent, "%s: %w", name, err), v.attrs()...)
	}
}

func (e *Events) createdUser(ctx context.Context, v *arrival, u *User) {
	if e.CreateUser != nil {
		emit(ctx, v, "createUser", func() error { return e.CreateUser(ctx, UserEvent{User: u.Clone()}) })
	}
}

func (e *Events) updatedUser(ctx context.Context, v *arrival, u *User) {
	if e.UpdateUser != nil {
		emit(ctx, v, "updateUser", func() error { return e.UpdateUser(ctx, UserEvent{User: u.Clone()}) })
	}
}
