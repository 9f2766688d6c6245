package core

import (
	"cmp"
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/auditor"
	"github.com/latchkey-go/latchkey/internal/cleantext"
)

// note passes an event about the request to Config.Audit, after the change is committed. e.Subject is the identifier as
// the client typed it.
func (v *arrival) note(ctx context.Context, e audit.Event) {
	if v.audit == nil {
		return
	}
	e.Peer, _ = v.client()
	e.Agent = cleantext.Escaped(v.header("User-Agent"))
	e.Reference = v.ref()
	e.Provider = cmp.Or(e.Provider, v.providerID)
	if v.actorOf != nil && e.ActorID == "" {
		e.ActorID = v.actorOf(ctx, v)
	}
	e.Credential = cmp.Or(e.Credential, v.verified.Get())
	v.audit.Note(v.pending.Reported(ctx, e), e)
}

// decided notes a successful decision about a user.
func (v *arrival) decided(ctx context.Context, name audit.Name, reason audit.Reason, userID string) {
	v.decidedOf(ctx, name, reason, userID, "")
}

// decidedOf notes a successful decision about a session, by its public ID.
func (v *arrival) decidedOf(ctx context.Context, name audit.Name, reason audit.Reason, userID, sessionID string) {
	v.note(ctx, audit.Event{
		Name: name, Outcome: audit.OK, Reason: reason, UserID: userID, SessionID: sessionID,
	})
}

// sessionEnded notes a session cookie that is no longer valid: its session ended or does not exist.
func (v *arrival) sessionEnded(ctx context.Context, err error) {
	var why *audit.Denial
	if errors.As(err, &why) {
		v.decided(ctx, audit.SessionEnded, why.Reason, why.UserID)
		return
	}
	v.note(ctx, audit.Event{Name: audit.SessionEnded, Outcome: audit.Refused, Reason: audit.ReasonUnreadable})
}

// emit calls an event handler, if there is one. An error or a panic is logged and has no other effect.
func emit[E any](ctx context.Context, v *arrival, name string, handler func(context.Context, E) error, event E) {
	if handler == nil {
		return
	}
	if err := guard("event "+name, func() error { return handler(ctx, event) }); err != nil {
		v.log.failure(ctx, errorf(autherr.Event, "%s: %w", name, err), v.attrs()...)
	}
}

func (e *Events) createdUser(ctx context.Context, v *arrival, u *User) {
	emitUser(ctx, v, "createUser", e.CreateUser, u)
}

func (e *Events) updatedUser(ctx context.Context, v *arrival, u *User) {
	emitUser(ctx, v, "updateUser", e.UpdateUser, u)
}

func emitUser(ctx context.Context, v *arrival, name string, handler func(context.Context, UserEvent) error, u *User) {
	if handler != nil {
		emit(ctx, v, name, handler, UserEvent{User: u.Clone()})
	}
}

// auditSink returns a function that calls receive and logs its panics: see [auditor.Safe].
func auditSink(log *reporter, receive func(ctx context.Context, e audit.Event)) func(context.Context, audit.Event) {
	return auditor.Safe(receive, func(ctx context.Context, err error) {
		log.failure(ctx, errorf(autherr.Event, "audit: %w", err))
	})
}

// noteAt passes an event to Config.Audit. at is nil if the event does not belong to an auth route.
func noteAt(ctx context.Context, a *auditor.Auditor, at *arrival, e audit.Event) {
	if at != nil {
		at.note(ctx, e)
		return
	}
	a.NoteWithin(ctx, e)
}
