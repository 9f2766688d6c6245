// Package prometheus exports metrics of an Auth: authentication decisions, and the duration of calls to the store and
// to providers.
//
//	metrics, err := prometheus.New(nil) // the default registry
//	auth, err := core.New(metrics.Wrap(config))
//	metrics.Follow(auth)
//	go http.ListenAndServe("127.0.0.1:9464", promhttp.Handler()) // a private listener
//
// Do not serve the metrics on the application's public mux. The names of the providers, the rates of denied requests
// and the load of the password queue show an attacker how well an attack works.
//
// Labels are words from closed lists and IDs of configured providers. Clients cannot create new series, and no label
// contains an identifier, an address, a token or a password.
package prometheus

import (
	"context"
	"time"

	client "github.com/prometheus/client_golang/prometheus"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/observe"
)

// Metrics are the metrics of one or more Auths. It is safe for concurrent use.
type Metrics struct {
	decisions *client.CounterVec
	store     *client.HistogramVec
	provider  *client.HistogramVec
	words     words
	load      load
}

// New creates the metrics and registers them. If r is nil, it uses the default registry. It returns an error if the
// registry already has metrics with these names: call New once, and wrap all configurations with the same Metrics.
//
// The metrics are latchkey_decisions_total, a counter with the labels name, outcome, reason and provider;
// latchkey_store_duration_seconds, a histogram with call and outcome; and latchkey_provider_duration_seconds, a
// histogram with provider, call and outcome. For emails that plugins send in the background, call is the kind of email
// and provider is empty. If a wrapped configuration has a provider that computes password hashes, such as
// providers/password, there are also the gauges latchkey_hash_slots, latchkey_hash_busy and latchkey_hash_waiting, and
// the counter latchkey_hash_refused_total. [Metrics.Follow] adds one more.
func New(r client.Registerer) (*Metrics, error) {
	if r == nil {
		r = client.DefaultRegisterer
	}
	m := &Metrics{
		decisions: client.NewCounterVec(client.CounterOpts{
			Name: "latchkey_decisions_total", Help: "Authentication decisions by name, outcome and reason.",
		}, []string{"name", "outcome", "reason", "provider"}),
		store: client.NewHistogramVec(client.HistogramOpts{
			Name: "latchkey_store_duration_seconds", Help: "Duration of calls to the store.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"call", "outcome"}),
		provider: client.NewHistogramVec(client.HistogramOpts{
			Name: "latchkey_provider_duration_seconds",
			Help: "Duration of calls to providers, including password checks and emails.",
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

// Wrap returns a copy of config that records metrics. It still calls config's Audit, after it counted the decision, and
// Observe, which counts towards the measured duration. Wrap reads the list of providers: hash metrics do not include
// providers that are added to the copy later.
func (m *Metrics) Wrap(config core.Config) core.Config {
	now := config.Now
	if now == nil {
		now = time.Now
	}
	m.load.hashes(config)
	auditEvent, observeCall := config.Audit, config.Observe
	config.Audit = func(ctx context.Context, e audit.Event) {
		m.decided(e)
		if auditEvent != nil {
			auditEvent(ctx, e)
		}
	}
	config.Observe = func(ctx context.Context, c observe.Call) (context.Context, func(observe.Outcome)) {
		began := now()
		var end func(observe.Outcome)
		if observeCall != nil {
			ctx, end = observeCall(ctx, c)
		}
		return ctx, func(o observe.Outcome) {
			m.took(c, o, now().Sub(began))
			if end != nil {
				end(o)
			}
		}
	}
	return config
}

func (m *Metrics) decided(e audit.Event) {
	m.decisions.WithLabelValues(
		m.words.known(string(e.Name)), m.words.known(string(e.Outcome)), m.words.known(string(e.Reason)),
		m.words.known(e.Provider),
	).Add(float64(max(e.Count, 1)))
}

func (m *Metrics) took(c observe.Call, o observe.Outcome, d time.Duration) {
	if c.Target == observe.Store {
		m.store.WithLabelValues(c.Name, string(o)).Observe(d.Seconds())
		return
	}
	m.provider.WithLabelValues(c.Provider, m.words.known(c.Name), string(o)).Observe(d.Seconds())
}
