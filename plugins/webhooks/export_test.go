package webhooks

import (
	"context"
	"net/http"
)

// Through makes requests to endpoints on the internet use another transport.
func (w *Webhooks) Through(t http.RoundTripper) { w.public.Transport = t }

// Collect runs the periodic task.
func (w *Webhooks) Collect(ctx context.Context) error { return w.collect(ctx) }

// CheckURL returns why an address cannot be that of an endpoint.
var CheckURL = checkURL

// Wants reports whether a filter contains an event.
var Wants = wants
