// Package otel traces an Auth: a span for each call to the store and to a provider, beneath the span of the request,
// whose events are the decisions about somebody's access; and the same as metrics.
//
//	config, err := otel.Wrap(config, otel.Options{})
//	auth, err := core.New(config)
//
// The span of the request is that of what traces the router, such as otelhttp. Attributes are texts from closed lists,
// the IDs of providers that are configured and, in events of spans alone, the IDs that this site gave to users and
// sessions: no address, token or password, and nothing of an error's text.
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
)

// scope is the name of the instrumentation.
const scope = "github.com/latchkey-go/latchkey/observe/otel"

// Options say where spans and metrics go. The zero value sends them to the global providers.
type Options struct {
	// TracerProvider is where spans go; nil: that of otel.GetTracerProvider.
	TracerProvider trace.TracerProvider
	// MeterProvider is where metrics go; nil: that of otel.GetMeterProvider.
	MeterProvider metric.MeterProvider
}

// Wrap returns a configuration that is traced and measured. Audit and Observe that it has are called too, Observe
// within the span. An error is one of the MeterProvider, which could not make an instrument.
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
		metric.WithDescription("Decisions about somebody's access, by what, how and why."))
	duration, err2 := meter.Float64Histogram("latchkey.call.duration", metric.WithUnit("s"),
		metric.WithDescription("How long the store and providers take."),
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

// telemetry is what one configuration is traced and measured with.
type telemetry struct {
	tracer    trace.Tracer
	decisions metric.Int64Counter
	duration  metric.Float64Histogram
	now       func() time.Time
	audit     func(ctx context.Context, e core.AuditEvent)
	observe   func(ctx context.Context, c core.ObservedCall) (context.Context, func(core.CallOutcome))
}

// begin begins the span of a call.
func (t *telemetry) begin(ctx context.Context, c core.ObservedCall) (context.Context, func(core.CallOutcome)) {
	began := t.now()
	attributes := filled(
		attribute.String("latchkey.to", string(c.To)), attribute.String("latchkey.call", c.Name),
		attribute.String("latchkey.provider", c.Provider),
	)
	ctx, span := t.tracer.Start(ctx, "latchkey "+string(c.To)+" "+c.Name,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	within := ctx
	var end func(core.CallOutcome)
	if t.observe != nil {
		if inner, tell := t.observe(ctx, c); inner != nil {
			within, end = inner, tell
		} else {
			end = tell
		}
	}
	return within, func(o core.CallOutcome) {
		outcome := attribute.String("latchkey.outcome", string(o))
		t.duration.Record(ctx, t.now().Sub(began).Seconds(),
			metric.WithAttributeSet(attribute.NewSet(append(attributes, outcome)...)))
		span.SetAttributes(outcome)
		if o == core.CallFailed || o == core.CallUnavailable {
			span.SetStatus(codes.Error, string(o))
		}
		span.End()
		if end != nil {
			end(o)
		}
	}
}

// decided counts a decision and makes an event of it, in the span of the request.
func (t *telemetry) decided(ctx context.Context, e core.AuditEvent) {
	attributes := filled(
		attribute.String("latchkey.outcome", word(string(e.Outcome))),
		attribute.String("latchkey.reason", word(string(e.Reason))),
		attribute.String("latchkey.provider", word(e.Provider)),
	)
	name := attribute.String("latchkey.name", word(string(e.Name)))
	t.decisions.Add(ctx, int64(max(e.Count, 1)), metric.WithAttributes(append(attributes, name)...))
	trace.SpanFromContext(ctx).AddEvent("latchkey."+word(string(e.Name)), trace.WithAttributes(append(attributes, filled(
		attribute.String("user.id", e.UserID), attribute.String("latchkey.actor_id", e.ActorID),
		attribute.String("latchkey.session_id", e.SessionID), attribute.String("latchkey.reference", e.Reference),
	)...)...))
	if t.audit != nil {
		t.audit(ctx, e)
	}
}

// filled leaves out attributes without a text.
func filled(all ...attribute.KeyValue) []attribute.KeyValue {
	some := make([]attribute.KeyValue, 0, len(all)+1)
	for _, a := range all {
		if a.Value.AsString() != "" {
			some = append(some, a)
		}
	}
	return some[:len(some):len(some)]
}
