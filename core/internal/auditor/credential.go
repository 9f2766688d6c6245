package auditor

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// Credential is the public ID of a credential, for audit events and log lines. It is empty until a credential was
// verified. It is safe for concurrent use; a nil one stays empty.
type Credential struct{ id atomic.Pointer[string] }

// Set sets the ID.
func (c *Credential) Set(id string) {
	if c != nil {
		c.id.Store(&id)
	}
}

// Get returns the ID, or "".
func (c *Credential) Get() string {
	if c == nil {
		return ""
	}
	if id := c.id.Load(); id != nil {
		return *id
	}
	return ""
}

// CredentialKey is the context key of the [Credential] of a request to the Auth that has this auditor.
type CredentialKey struct{ Of *Auditor }

// NoteWithin is [Auditor.Note] for an event outside of an auth route. If ctx is that of a handler of the application,
// the event names the credential of its request.
func (a *Auditor) NoteWithin(ctx context.Context, e audit.Event) {
	c, _ := ctx.Value(CredentialKey{a}).(*Credential)
	e.Credential = cmp.Or(e.Credential, c.Get())
	a.Note(ctx, e)
}

// Safe returns a function that calls receive. If receive panics, it calls failed with the panic as an error, and
// continues.
func Safe(
	receive func(ctx context.Context, e audit.Event), failed func(ctx context.Context, err error),
) func(context.Context, audit.Event) {
	return func(ctx context.Context, e audit.Event) {
		defer func() {
			if v := recover(); v != nil {
				failed(ctx, panics.New("Audit", v))
			}
		}()
		receive(ctx, e)
	}
}
