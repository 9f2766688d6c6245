package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/outbox"
)

// Options configures [New].
type Options struct {
	// Endpoints are the endpoints of the configuration. Managers cannot change them.
	Endpoints []Config
	// Managers are the guards of the pages and of the JSON API that manage further endpoints: a request must pass all of
	// them, for example one that checks the role of the user. If it is empty, there are no such actions. A manager can
	// send the events of all users to any server.
	Managers []core.Guard
	// Fresh is the maximum time since the last sign-in of a manager who changes an endpoint. The default is 15 minutes.
	Fresh time.Duration
	// Overlap is how long the secret before a rotation signs too. The default is 24 hours.
	Overlap time.Duration
	// DisableAfter disables an endpoint that has accepted nothing for this time, and failed. The default is 5 days; a
	// negative value disables none.
	DisableAfter time.Duration
	// Mail, if not nil, emails the addresses in NotifyTo when an endpoint was disabled because it accepts nothing.
	Mail core.Mailer
	// NotifyTo are the addresses of the operators. It is required if Mail is set.
	NotifyTo []string
	// MaxEndpoints is the maximum number of endpoints that managers can create. The default is 20.
	MaxEndpoints int
}

// Config is an endpoint of the configuration.
type Config struct {
	// ID identifies the endpoint in the store: lower-case letters, digits and hyphens, at most 32. Do not change it.
	ID string
	// URL is the address of the endpoint, with https.
	URL string
	// Events are the events to send: names such as "user.created", all of a group such as "user.*", or "*" for all. The
	// default is all. [Events] lists the names.
	Events []string
	// Secrets sign the requests. Each is "whsec_" and 24 to 64 bytes in base64; [NewSecret] returns one. Two secrets sign
	// twice, so that a receiver can change to a new one.
	Secrets []core.Secret
	// Internal allows an endpoint in your own network: plain http, and private and loopback addresses. Link-local
	// addresses and metadata services are refused anyway.
	Internal bool
}

// Webhooks is the plugin. Create it with [New], and add it to Config.Plugins of one Auth. It is safe for concurrent
// use.
type Webhooks struct {
	options Options
	host    *core.PluginHost
	records store.RecordStore
	// events become deliveries, one for each endpoint.
	events     *outbox.Queue[event]
	deliveries *outbox.Queue[delivery]
	// public and internal send requests; they share no connections.
	public, internal *http.Client

	// reading is locked during a read of the endpoints, so that concurrent requests share it.
	reading sync.Mutex
	mu      sync.Mutex
	known   []endpoint // nil before the first read
	readAt  time.Time  // zero if known is outdated
	changes int        // of the endpoints by this process
}

// New returns the plugin. [core.New] reports configuration errors in the options.
func New(o Options) *Webhooks {
	if o.Fresh == 0 {
		o.Fresh = 15 * time.Minute
	}
	if o.Overlap == 0 {
		o.Overlap = 24 * time.Hour
	}
	if o.DisableAfter == 0 {
		o.DisableAfter = 5 * 24 * time.Hour
	}
	if o.MaxEndpoints == 0 {
		o.MaxEndpoints = 20
	}
	o.Endpoints, o.Managers, o.NotifyTo = slices.Clone(o.Endpoints), slices.Clone(o.Managers), slices.Clone(o.NotifyTo)
	return &Webhooks{options: o, public: newClient(false), internal: newClient(true)}
}

// Attach implements [core.Plugin].
func (w *Webhooks) Attach(h *core.PluginHost) error {
	if w.host != nil {
		return errors.New("already attached to an Auth: call webhooks.New for each Auth")
	}
	w.host, w.records = h, h.Records()
	w.initQueues()
	w.check(h)
	if w.options.Mail != nil {
		h.AddEmailSender(core.EmailSender{Name: name, Mailer: w.options.Mail})
	}
	h.OnAnnounce(w.announce)
	h.OnAudit(w.record)
	h.AddTask(w.collect)
	if len(w.options.Managers) > 0 {
		h.TrackAuthentication() // for Options.Fresh
		for _, a := range w.actions() {
			h.AddAction(a)
		}
	}
	return nil
}

// Flush sends the stored events that are due, and waits for the requests. It returns the error of ctx if that ends
// first. Call it at shutdown, after the HTTP server's Shutdown. Events that were not accepted stay in the store.
func (w *Webhooks) Flush(ctx context.Context) error {
	err := w.collect(ctx)
	return errors.Join(err, w.events.Flush(ctx), w.deliveries.Flush(ctx))
}

// check reports configuration errors.
func (w *Webhooks) check(h *core.PluginHost) {
	o := &w.options
	if h.Store != nil && h.RecordLister == nil {
		h.AddConfigError("the store is not a store.RecordLister, which finds the events to send: use a store that lists " +
			"records")
	}
	if len(o.Endpoints) == 0 && len(o.Managers) == 0 {
		h.AddConfigError("Options.Endpoints and Options.Managers are empty: list an endpoint, or the guards of the users " +
			"who manage endpoints")
	}
	for i, e := range o.Endpoints {
		fail := func(format string, args ...any) {
			h.AddConfigError(fmt.Sprintf("Options.Endpoints[%d].%s", i, fmt.Sprintf(format, args...)))
		}
		if !isConfigID(e.ID) {
			fail("ID is %q: use at most 32 lower-case letters, digits and hyphens", e.ID)
		}
		if slices.ContainsFunc(o.Endpoints[:i], func(before Config) bool { return before.ID == e.ID }) {
			fail("ID is %q, as in another entry: choose another one", e.ID)
		}
		if err := checkURL(e.URL, e.Internal); err != nil {
			fail("URL is invalid: %v", err)
		}
		if name := unknownEvent(e.Events); name != "" {
			fail("Events contains %q, which is no event: see webhooks.Events", name)
		}
		if len(e.Secrets) == 0 || len(e.Secrets) > 2 {
			fail("Secrets has %d entries: set one, or two during a rotation", len(e.Secrets))
		}
		for n, secret := range e.Secrets {
			if _, ok := secretKey(secret); !ok {
				fail("Secrets[%d] is malformed: use a text of webhooks.NewSecret", n)
			}
		}
	}
	for field, d := range map[string]time.Duration{"Fresh": o.Fresh, "Overlap": o.Overlap} {
		if d < 0 {
			h.AddConfigError(fmt.Sprintf("Options.%s is %v: it must not be negative", field, d))
		}
	}
	if o.MaxEndpoints < 0 {
		h.AddConfigError(fmt.Sprintf("Options.MaxEndpoints is %d: it must not be negative", o.MaxEndpoints))
	}
	if (o.Mail == nil) != (len(o.NotifyTo) == 0) {
		h.AddConfigError("Options.Mail and Options.NotifyTo need each other: set both, or neither")
	}
	for i, address := range o.NotifyTo {
		if _, err := core.NormalizeEmail(address); err != nil {
			h.AddConfigError(fmt.Sprintf("Options.NotifyTo[%d] is not an email address", i))
		}
	}
	if slices.ContainsFunc(o.Managers, func(g core.Guard) bool { return g == nil }) {
		h.AddConfigError("Options.Managers contains nil: remove it")
	}
}
