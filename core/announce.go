package core

import (
	"cmp"
	"context"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/store"
)

// OnAnnounce registers a function that is called before a change that an audit event will report. It can store the
// event, so that the event is not lost if the process ends between the change and the call of the function of
// [PluginHost.OnAudit]. It returns the context that the latter gets with the event, and a function that is called if
// there is no such event: unknown reports that the change may have been made anyway. A nil context means that the
// function is not interested. If it returns an error, the change is not made.
//
// tx is the transaction that makes the change, or nil. These events are announced: those of
// [ActionRequest.NotifyChange], [ActionRequest.Announce] and [PluginHost.AuditChange], and new users, accounts and
// passkeys.
func (h *PluginHost) OnAnnounce(announce func(ctx context.Context, tx store.RecordStore, e audit.Event) (
	within context.Context, cancel func(unknown bool), err error),
) {
	h.attaching("OnAnnounce")
	h.needs(announce != nil, "the function of OnAnnounce")
	if h.Auth.site.audit == nil { // it completes the announced events
		h.OnAudit(func(context.Context, audit.Event) {})
	}
	h.Auth.site.announcers = append(h.Auth.site.announcers, func(
		ctx context.Context, tx store.RecordStore, e audit.Event,
	) (context.Context, func(unknown bool), error) {
		within, cancel, err := announce(ctx, tx, e)
		return within, func(unknown bool) { h.Auth.cancelAnnounced(ctx, cancel, unknown) }, err
	})
}

// cancelAnnounced calls the cancel function that a plugin returned in OnAnnounce. It may be nil. A panic is logged.
func (a *Auth) cancelAnnounced(ctx context.Context, cancel func(unknown bool), unknown bool) {
	if cancel == nil {
		return
	}
	if err := guard("cancel of OnAnnounce", func() error { cancel(unknown); return nil }); err != nil {
		a.log.failure(context.WithoutCancel(ctx), errorf(autherr.Event, "%w", err))
	}
}

// Announce announces a change that [ActionRequest.Audit] reports afterwards with the same Name and UserID: see
// [PluginHost.OnAnnounce]. Do not make the change if Announce returns an error.
func (c *ActionRequest) Announce(ctx context.Context, e audit.Event) error {
	return c.in.announce(ctx, nil, e)
}

// AuditChange runs change, and reports it as [PluginHost.Audit] does. The change is announced before: see
// [PluginHost.OnAnnounce]. If change returns an error, it is not reported, and AuditChange returns that error.
func (h *PluginHost) AuditChange(
	ctx context.Context, e audit.Event, change func(ctx context.Context) error,
) error {
	v := h.noRequest()
	if err := v.announce(ctx, nil, e); err != nil {
		return err
	}
	if err := change(ctx); err != nil {
		v.pending.Cancel(!refusesChange(err))
		return err
	}
	h.Audit(v.pending.Reported(ctx, e), e)
	return nil
}

// announce calls the announcers.
func (v *arrival) announce(ctx context.Context, tx store.RecordStore, e audit.Event) error {
	if len(v.announcers) == 0 || e.Name == "" {
		return nil
	}
	e.Outcome, e.Provider = audit.OK, cmp.Or(e.Provider, v.providerID)
	e.Time, e.Tenant = v.audit.Now(), v.audit.Tenant
	if err := v.pending.Announce(ctx, v.announcers, tx, e); err != nil {
		return errorf(ErrStore, "%w", err)
	}
	return nil
}
