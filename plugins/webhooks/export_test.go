package webhooks

import (
	"context"
	"net/http"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

// Through makes requests to endpoints on the internet use another transport.
func (w *Webhooks) Through(t http.RoundTripper) { w.public.Transport = t }

// Collect runs the periodic task.
func (w *Webhooks) Collect(ctx context.Context) error { return w.collect(ctx) }

// CheckURL returns why an address cannot be that of an endpoint.
var CheckURL = checkURL

// Wants reports whether a filter contains an event.
var Wants = wants

// Announce stores an event before its change, in a transaction.
func (w *Webhooks) Announce(ctx context.Context, tx store.RecordStore, e audit.Event) error {
	_, _, err := w.announce(ctx, tx, e)
	return err
}
