// Package otel records traces and metrics of an Auth with OpenTelemetry. Each call to the store or to a provider is a
// span, a child of the request's span. Each authentication decision is an event of the request's span. The metrics
// contain the same.
//
//	config, err := otel.Wrap(config, otel.Options{})
//	auth, err := core.New(config)
//
// The instrumentation of your router, such as otelhttp, creates the request's span. Attributes are words from closed
// lists and IDs of configured providers. Events of spans, but not metrics, also contain the IDs of users and sessions.
// No attribute contains an address, a token, a password or the text of an error.
package otel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/observe"
)

// scope is the name of the instrumentation.
const scope = "github.com/latchkey-go/latchkey/observe/otel"

// Options selects where spans and metrics are sent. The zero value uses the global providers.
type Options struct {
	// TracerProvider receives the spans. The default is otel.GetTracerProvider().
	TracerProvider trace.TracerProvider
	// MeterProvider receives the metrics. The default is otel.GetMeterProvider().
	MeterProvider metric.MeterProvider
}

// Wrap returns a copy of config that records traces and metrics. It still calls config's Audit and Observe, Observe
// within the span. It returns an error if the MeterProvider cannot create an instrument.
//
// The metrics are latchkey.decisions, a counter of decisions with the attributes latchkey.name, latchkey.outcome,
// latchkey.reason and latchkey.provider, and latchkey.call.duration, a histogram in seconds with latchkey.to,
// latchkey.call, latchkey.provider and latchkey.outcome.
func Wrap(config core.Config, o Options) (core.Config, error) {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	meter := o.MeterProvider.Meter(scope)
	decisions, err := meter.Int64Counter("latchkey.decisions", metric.WithUnit("{decision}"),
		metric.WithDescription("Authentication decisions by name, outcome and reason."))
	duration, err2 := meter.Float64Histogram("latchkey.call.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of calls to the store and to providers."),
		metric.WithExplicitBucketBoundaries(.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20))
	if err := errors.Join(err, err2); err != nil {
		return core.Config{}, err
	}
	t := &telemetry{
		tracer: o.TracerProvider.Tracer(scope), decisions: decisions, duration: duration, now: config.Now,
		audit: config.Audit, observe: config.Observe,
	}
	if t.now == nil {
		t.now = time.Now
	}
	config.Audit, config.Observe = t.decided, t.begin
	return config, nil
}

// telemetry records one configuration.
type telemetry struct {
	tracer    trace.Tracer
	decisions metric.Int64Counter
	duration  metric.Float64Histogram
	now       func() time.Time
	audit     func(ctx context.Context, e audit.Event)
	observe   func(ctx context.Context, c observe.Call) (context.Context, func(observe.Outcome))
}

// begin starts the span of a call.
func (t *telemetry) begin(ctx context.Context, c observe.Call) (context.Context, func(observe.Outcome)) {
	began := t.now()
	attributes := filled(
		attribute.String("latchkey.to", string(c.Target)), attribute.String("latchkey.call", c.Name),
		attribute.String("latchkey.provider", c.Provider),
	)
	ctx, span := t.tracer.Start(ctx, "latchkey "+string(c.Target)+" "+c.Name,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	within := ctx
	var end func(observe.Outcome)
	if t.observe != nil {
		if inner, tell := t.observe(ctx, c); inner != nil {
			within, end = inner, tell
		} else {
			end = tell
		}
	}
	return within, func(o observe.Outcome) {
		outcome := attribute.String("latchkey.outcome", string(o))
		t.duration.Record(ctx, t.now().Sub(began).Seconds(),
			metric.WithAttributeSet(attribute.NewSet(append(attributes, outcome)...)))
		span.SetAttributes(outcome)
		if o == observe.Failed || o == observe.Unavailable {
			span.SetStatus(codes.Error, string(o))
		}
		span.End()
		if end != nil {
			end(o)
		}
	}
}

// decided counts a decision and adds it to the request's span as an event.
func (t *telemetry) decided(ctx context.Context, e audit.Event) {
	attributes := filled(
		attribute.String("latchkey.outcome", word(string(e.Outcome))),
		attribute.String("latchkey.reason", word(string(e.Reason))),
		attribute.String("latchkey.provider", word(e.Provider)),
	)
	name := attribute.String("latchkey.name", word(string(e.Name)))
	t.decisions.Add(ctx, int64(max(e.Count, 1)), metric.WithAttributes(append(attributes, name)...))
	trace.SpanFromContext(ctx).AddEvent("latchkey."+word(string(e.Name)), trace.WithAttributes(append(attributes, filled(
		attribute.String("user.id", e.UserID), attribute.String("latchkey.actor_id", e.ActorID),
		attribute.String("latchkey.session_id", e.SessionID), attribute.String("latchkey.credential", e.Credential),
		attribute.String("latchkey.reference", e.Reference),
	)...)...))
	if t.audit != nil {
		t.audit(ctx, e)
	}
}

// filled returns the attributes with a non-empty text.
func filled(all ...attribute.KeyValue) []attribute.KeyValue {
	some := make([]attribute.KeyValue, 0, len(all)+1)
	for _, a := range all {
		if a.Value.AsString() != "" {
			some = append(some, a)
		}
	}
	return some[:len(some):len(some)]
}
