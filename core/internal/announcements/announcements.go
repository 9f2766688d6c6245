// Package announcements calls functions before a change is made, so that the audit event about the change is not lost
// if the process ends in between.
package announcements

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// Announcer is called before a change. tx is the transaction of the change, or nil. It returns the context of the audit
// event, or nil if it is not interested, and a function that is called if there is no such event: unknown reports that
// the change may have been made anyway. If it returns an error, the change is not made.
type Announcer func(ctx context.Context, tx store.RecordStore, e audit.Event) (
	within context.Context, cancel func(unknown bool), err error)

// Pending has the changes of a request that were announced and not reported yet. The zero value is empty.
type Pending struct{ all []announcement }

// announcement is a change that announcers know of.
type announcement struct {
	name    audit.Name
	userID  string
	within  context.Context // of the audit event
	cancels []func(unknown bool)
}

func (a *announcement) cancel(unknown bool) {
	for _, cancel := range a.cancels {
		cancel(unknown)
	}
}

// Any reports whether there are such changes.
func (p *Pending) Any() bool { return len(p.all) > 0 }

// Announce calls the announcers. A panic is an error.
func (p *Pending) Announce(ctx context.Context, all []Announcer, tx store.RecordStore, e audit.Event) error {
	made := announcement{name: e.Name, userID: e.UserID, within: context.WithoutCancel(ctx)}
	for _, announce := range all {
		_, err := panics.Call("OnAnnounce", func() (struct{}, error) {
			within, cancel, err := announce(made.within, tx, e)
			if err == nil && within != nil {
				made.within, made.cancels = within, append(made.cancels, cancel)
			}
			return struct{}{}, err
		})
		if err != nil {
			made.cancel(false)
			return fmt.Errorf("announce a change: %w", err)
		}
	}
	if len(made.cancels) > 0 {
		p.all = append(p.all, made)
	}
	return nil
}

// Reported returns the context of an audit event: that of its announcement, or ctx.
func (p *Pending) Reported(ctx context.Context, e audit.Event) context.Context {
	for i := len(p.all) - 1; i >= 0 && e.Outcome == audit.OK; i-- {
		// A store may choose the ID of a new user.
		if a := p.all[i]; a.name == e.Name && (a.userID == e.UserID || e.Name == audit.UserCreated) {
			p.all = append(p.all[:i], p.all[i+1:]...)
			return a.within
		}
	}
	return ctx
}

// Cancel cancels the announcements of changes that were not reported.
func (p *Pending) Cancel(unknown bool) {
	for _, a := range p.all {
		a.cancel(unknown)
	}
	p.all = nil
}
