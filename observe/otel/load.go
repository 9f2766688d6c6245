package otel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/observe"
)

// hasher is a provider that computes password hashes, such as the one of module providers/password.
type hasher interface{ Stats() observe.HashStats }

// Follow adds observable metrics. For all providers that compute password hashes together, these are the gauges
// latchkey.hash.slots, latchkey.hash.busy and latchkey.hash.waiting and the counter latchkey.hash.refused. For auth it
// is the gauge latchkey.revocation.age: the seconds since auth last read the revocation list. from are the providers of
// the configuration. Call Follow once for each MeterProvider. auth and the providers stay in memory.
func Follow(auth *core.Auth, from []core.Provider, o Options) error {
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	meter := o.MeterProvider.Meter(scope)
	slots, err := meter.Int64ObservableGauge("latchkey.hash.slots", metric.WithUnit("{hash}"),
		metric.WithDescription("Maximum number of concurrent password hashes."))
	busy, err2 := meter.Int64ObservableGauge("latchkey.hash.busy", metric.WithUnit("{hash}"),
		metric.WithDescription("Number of password hashes in progress."))
	waiting, err3 := meter.Int64ObservableGauge("latchkey.hash.waiting", metric.WithUnit("{request}"),
		metric.WithDescription("Number of requests that wait for a password hash."))
	refused, err4 := meter.Int64ObservableCounter("latchkey.hash.refused", metric.WithUnit("{request}"),
		metric.WithDescription("Number of requests rejected because the queue for password hashes was full."))
	age, err5 := meter.Float64ObservableGauge("latchkey.revocation.age", metric.WithUnit("s"),
		metric.WithDescription("Time since the revocation list was last read."))
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		if all, ok := hashLoad(from); ok {
			to.ObserveInt64(slots, int64(all.Slots))
			to.ObserveInt64(busy, int64(all.Busy))
			to.ObserveInt64(waiting, int64(all.Waiting))
			to.ObserveInt64(refused, int64(all.Refused)) //nolint:gosec // it counts requests
		}
		if s := auth.Stats(); s.RevocationRead {
			to.ObserveFloat64(age, s.RevocationAge.Seconds())
		}
		return nil
	}, slots, busy, waiting, refused, age)
	return err
}

// hashLoad returns the sum over all providers. ok is false if none computes hashes.
func hashLoad(from []core.Provider) (all observe.HashStats, ok bool) {
	for _, p := range from {
		h, hashes := p.(hasher)
		if !hashes {
			continue
		}
		one := h.Stats()
		all.Slots, all.Busy = all.Slots+one.Slots, all.Busy+one.Busy
		all.Waiting, all.Refused, ok = all.Waiting+one.Waiting, all.Refused+one.Refused, true
	}
	return all, ok
}
