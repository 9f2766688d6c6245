package otel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/latchkey-go/latchkey/conformance/kit/observetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/observe/otel"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// collector stores the spans and metrics that the SDK would export.
type collector struct {
	options otel.Options
	spans   *tracetest.SpanRecorder
	reader  *sdkmetric.ManualReader
	tracer  *sdktrace.TracerProvider
}

func newCollector() *collector {
	c := &collector{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	c.tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(c.spans))
	c.options.TracerProvider = c.tracer
	c.options.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(c.reader))
	return c
}

func (c *collector) wrap(t *testing.T) func(core.Config) core.Config {
	return func(config core.Config) core.Config {
		wrapped, err := otel.Wrap(config, c.options)
		if err != nil {
			t.Fatal(err)
		}
		return wrapped
	}
}

// metrics returns the measured points: name, attributes and count.
func (c *collector) metrics(t *testing.T) (points []string) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := c.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					points = append(points, fmt.Sprint(m.Name, " ", p.Attributes.Encoded(encoder{}), " ", p.Value))
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					points = append(points, fmt.Sprint(m.Name, " ", p.Attributes.Encoded(encoder{}), " ", p.Count))
				}
			default:
				t.Errorf("%s is a %T", m.Name, m.Data)
			}
		}
	}
	return points
}

// TestFlows: sign-ins are recorded as spans below the request's span, as its events and as metrics, without personal
// data.
func TestFlows(t *testing.T) {
	t.Parallel()
	c := newCollector()
	ctx, request := c.tracer.Tracer("router").Start(t.Context(), "POST /auth/…")
	secrets := observetest.Drive(ctx, t, memory.New(), c.wrap(t))
	request.End()

	spans := c.spans.Ended()
	var lines []string
	var of []sdktrace.ReadOnlySpan
	for _, s := range spans {
		if s.SpanContext().SpanID() == request.SpanContext().SpanID() {
			of = append(of, s)
			continue
		}
		if s.SpanContext().TraceID() != request.SpanContext().TraceID() || !s.Parent().IsValid() {
			t.Errorf("%s is not beneath the request", s.Name())
		}
		lines = append(lines, line(s.Name(), s.Attributes()))
	}
	for _, want := range []string{
		"latchkey store read session latchkey.call=read session latchkey.outcome=ok latchkey.to=store",
		"latchkey provider token latchkey.call=token latchkey.outcome=refused latchkey.provider=acme latchkey.to=provider",
		"latchkey provider authorize latchkey.call=authorize latchkey.outcome=ok latchkey.provider=credentials " +
			"latchkey.to=provider",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no span %s", want)
		}
	}
	if len(of) != 1 {
		t.Fatalf("%d spans of requests", len(of))
	}
	var events []string
	for _, e := range of[0].Events() {
		events = append(events, line(e.Name, e.Attributes))
	}
	const refused = "latchkey.signin latchkey.outcome=refused latchkey.provider=credentials latchkey.reason=credentials"
	if !slices.ContainsFunc(events, func(e string) bool { return strings.HasPrefix(e, refused) }) {
		t.Errorf("no event of a refused sign-in in\n%s", strings.Join(events, "\n"))
	}
	points := c.metrics(t)
	for _, want := range []string{
		"latchkey.decisions latchkey.name=signin latchkey.outcome=refused latchkey.provider=credentials " +
			"latchkey.reason=credentials 2",
		"latchkey.call.duration latchkey.call=token latchkey.outcome=refused latchkey.provider=acme " +
			"latchkey.to=provider 1",
	} {
		if !slices.Contains(points, want) {
			t.Errorf("not measured: %s in\n%s", want, strings.Join(points, "\n"))
		}
	}
	nowhere(t, strings.Join(slices.Concat(lines, points), "\n"), secrets)
	userID := secrets[slices.Index(secrets, "192.0.2.1")-1]
	own := slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return s == userID })
	nowhere(t, strings.Join(events, "\n"), own) // events contain user and session IDs
}

func nowhere(t *testing.T, text string, secrets []string) {
	t.Helper()
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%q is recorded", secret)
		}
	}
}

// TestOutcomes: a failure marks the span as an error, "not found" does not. The application's own functions are called.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	type key struct{}
	for outcome, want := range map[observe.Outcome]codes.Code{
		observe.OK: codes.Unset, observe.Absent: codes.Unset, observe.Refused: codes.Unset,
		observe.Canceled: codes.Unset, observe.Failed: codes.Error, observe.Unavailable: codes.Error,
	} {
		c := newCollector()
		var told observe.Outcome
		var audited int
		config := c.wrap(t)(core.Config{
			Audit: func(context.Context, audit.Event) { audited++ },
			Observe: func(ctx context.Context, _ observe.Call) (context.Context, func(observe.Outcome)) {
				return context.WithValue(ctx, key{}, "within"), func(o observe.Outcome) { told = o }
			},
		})
		config.Audit(t.Context(), audit.Event{Name: audit.SignIn, Reason: "ada@example.com typed"})
		ctx, end := config.Observe(t.Context(), observe.Call{Target: observe.Store, Name: "read user"})
		end(outcome)
		if got := c.spans.Ended()[0].Status().Code; got != want {
			t.Errorf("%s: status %v", outcome, got)
		}
		if told != outcome || audited != 1 || ctx.Value(key{}) == nil {
			t.Errorf("%s: told %q, audited %d", outcome, told, audited)
		}
		const counted = "latchkey.decisions latchkey.name=signin latchkey.reason=other 1"
		if points := c.metrics(t); !slices.Contains(points, counted) {
			t.Errorf("measured %s", points)
		}
	}
}

// TestObserveWithoutAContext: if the application's Observe returns no context, the span's context is used.
func TestObserveWithoutAContext(t *testing.T) {
	t.Parallel()
	c := newCollector()
	ended := false
	config := c.wrap(t)(core.Config{
		Observe: func(context.Context, observe.Call) (context.Context, func(observe.Outcome)) {
			return nil, func(observe.Outcome) { ended = true }
		},
	})
	ctx, end := config.Observe(t.Context(), observe.Call{})
	end(observe.OK)
	if ctx == nil || !ended {
		t.Errorf("context %v, ended %v", ctx, ended)
	}
}

// broken fails to create instruments.
type broken struct{ noop.MeterProvider }

type brokenMeter struct{ noop.Meter }

func (broken) Meter(string, ...metric.MeterOption) metric.Meter { return brokenMeter{} }

func (brokenMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, errors.New("no counters here")
}

// TestZeroOptions: the zero Options use the global providers, which do nothing by default. A provider that fails is an
// error of Wrap.
func TestZeroOptions(t *testing.T) {
	t.Parallel()
	observetest.Drive(t.Context(), t, memory.New(), func(config core.Config) core.Config {
		wrapped, err := otel.Wrap(config, otel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return wrapped
	})
	if _, err := otel.Wrap(core.Config{}, otel.Options{MeterProvider: broken{}}); err == nil {
		t.Error("no error of a provider that makes no counter")
	}
}
