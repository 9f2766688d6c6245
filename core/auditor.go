package core

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
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
