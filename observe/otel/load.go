package otel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/latchkey-go/latchkey/core"
)

// hasher is a provider that computes hashes of passwords, such as that of module providers/password.
type hasher interface{ Load() core.HashLoad }

// Follow adds metrics of what is so at the moment that they are read: latchkey.hash.slots, latchkey.hash.busy and
// latchkey.hash.waiting, of each provider in from that computes hashes of passwords, latchkey.hash.refused, a counter,
// and latchkey.revocation.age in seconds: how long ago auth has learned which sessions other processes have ended. Give
// it the providers of the configuration, once for each MeterProvider. What is followed stays in memory.
func Follow(auth *core.Auth, from []core.Provider, o Options) error {
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	meter := o.MeterProvider.Meter(scope)
	slots, err := meter.Int64ObservableGauge("latchkey.hash.slots", metric.WithUnit("{hash}"),
		metric.WithDescription("How many hashes of passwords may be computed at once."))
	busy, err2 := meter.Int64ObservableGauge("latchkey.hash.busy", metric.WithUnit("{hash}"),
		metric.WithDescription("How many hashes of passwords are being computed."))
	waiting, err3 := meter.Int64ObservableGauge("latchkey.hash.waiting", metric.WithUnit("{request}"),
		metric.WithDescription("How many requests wait for a hash of a password to be computed."))
	refused, err4 := meter.Int64ObservableCounter("latchkey.hash.refused", metric.WithUnit("{request}"),
		metric.WithDescription("How many requests were turned away, as too many waited for a hash of a password."))
	age, err5 := meter.Float64ObservableGauge("latchkey.revocation.age", metric.WithUnit("s"),
		metric.WithDescription("How long ago it was last read which sessions other processes have ended."))
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
		if d, ok := auth.RevocationAge(); ok {
			to.ObserveFloat64(age, d.Seconds())
		}
		return nil
	}, slots, busy, waiting, refused, age)
	return err
}

// hashLoad is that of all providers together; ok is false where none computes hashes.
func hashLoad(from []core.Provider) (all core.HashLoad, ok bool) {
	for _, p := range from {
		h, hashes := p.(hasher)
		if !hashes {
			continue
		}
		one := h.Load()
		all.Slots, all.Busy = all.Slots+one.Slots, all.Busy+one.Busy
		all.Waiting, all.Refused, ok = all.Waiting+one.Waiting, all.Refused+one.Refused, true
	}
	return all, ok
}
