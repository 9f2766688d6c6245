// Package prometheus measures an Auth: who came in and who was refused, and how long the store and the providers take.
//
//	metrics, err := prometheus.New(nil) // the default registry
//	auth, err := core.New(metrics.Wrap(config))
//	metrics.Follow(auth)
//	go http.ListenAndServe("127.0.0.1:9464", promhttp.Handler()) // a private listener
//
// Do not serve the metrics on the application's public mux: the names of the providers, the rates of refusals and the
// load of the password queue tell an attacker how well an attack works.
//
// Labels are texts from closed lists and the IDs of providers that are configured: a visitor can add no series, and
// none holds an identifier, an address, a token or a password.
package prometheus

import (
	"context"
	"time"

	client "github.com/prometheus/client_golang/prometheus"

	"github.com/latchkey-go/latchkey/core"
)

// Metrics are those of one or several Auths. It is safe for concurrent use.
type Metrics struct {
	decisions *client.CounterVec
	store     *client.HistogramVec
	provider  *client.HistogramVec
	words     words
	load      load
}

// New makes the metrics and registers them; nil: at the default registry. It returns an error where that has metrics
// of the same names already: call it once, and wrap several configurations by one Metrics.
//
// They are latchkey_decisions_total with the labels name, outcome, reason and provider, in decisions;
// latchkey_store_duration_seconds with call and outcome, and latchkey_provider_duration_seconds with provider, call and
// outcome, histograms in seconds; emails that plugins send in the background have their kind as call and no provider.
// Where a configuration has a provider that computes hashes of passwords, such as that of providers/password, there are
// the gauges latchkey_hash_slots, latchkey_hash_busy and latchkey_hash_waiting, and the counter
// latchkey_hash_refused_total; [Metrics.Follow] adds one more.
func New(r client.Registerer) (*Metrics, error) {
	if r == nil {
		r = client.DefaultRegisterer
	}
	m := &Metrics{
		decisions: client.NewCounterVec(client.CounterOpts{
			Name: "latchkey_decisions_total", Help: "Decisions about somebody's access, by what, how and why.",
		}, []string{"name", "outcome", "reason", "provider"}),
		store: client.NewHistogramVec(client.HistogramOpts{
			Name: "latchkey_store_duration_seconds", Help: "How long calls of the store take.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"call", "outcome"}),
		provider: client.NewHistogramVec(client.HistogramOpts{
			Name: "latchkey_provider_duration_seconds",
			Help: "How long providers take, password checks and mails among them.",
			Buckets: []float64{
				.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20,
			},
		}, []string{"provider", "call", "outcome"}),
	}
	registered := make([]client.Collector, 0, 4)
	for _, c := range []client.Collector{m.decisions, m.store, m.provider, &m.load} {
		if err := r.Register(c); err != nil {
			for _, done := range registered {
				r.Unregister(done)
			}
			return nil, err
		}
		registered = append(registered, c)
	}
	return m, nil
}

// Wrap returns a configuration that is measured. Audit and Observe that it has are called too, Audit after the
// decision was counted and Observe within the time that is measured. Providers that are added to it later are not asked
// how busy they are.
func (m *Metrics) Wrap(config core.Config) core.Config {
	now := config.Now
	if now == nil {
		now = time.Now
	}
	m.load.hashes(config)
	audit, observe := config.Audit, config.Observe
	config.Audit = func(ctx context.Context, e core.AuditEvent) {
		m.decided(e)
		if audit != nil {
			audit(ctx, e)
		}
	}
	config.Observe = func(ctx context.Context, c core.ObservedCall) (context.Context, func(core.CallOutcome)) {
		began := now()
		var end func(core.CallOutcome)
		if observe != nil {
			ctx, end = observe(ctx, c)
		}
		return ctx, func(o core.CallOutcome) {
			m.took(c, o, now().Sub(began))
			if end != nil {
				end(o)
			}
		}
	}
	return config
}

func (m *Metrics) decided(e core.AuditEvent) {
	m.decisions.WithLabelValues(
		m.words.known(string(e.Name)), m.words.known(string(e.Outcome)), m.words.known(string(e.Reason)),
		m.words.known(e.Provider),
	).Add(float64(max(e.Count, 1)))
}

func (m *Metrics) took(c core.ObservedCall, o core.CallOutcome, d time.Duration) {
	if c.To == core.ObservedStore {
		m.store.WithLabelValues(c.Name, string(o)).Observe(d.Seconds())
		return
	}
	m.provider.WithLabelValues(c.Provider, m.words.known(c.Name), string(o)).Observe(d.Seconds())
}
