package otel_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/observe/otel"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// hashing is a provider that claims to compute hashes.
type hashing struct{ *core.CredentialsProvider }

func (hashing) Stats() observe.HashStats {
	return observe.HashStats{Slots: 4, Busy: 3, Waiting: 2, Refused: 7}
}

// TestFollow reads the metrics of an Auth that has handled a request.
func TestFollow(t *testing.T) {
	t.Parallel()
	c := newCollector()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	ways := []core.Provider{&hashing{&core.CredentialsProvider{
		Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
	}}}
	auth, err := core.New(core.Config{
		URL: "https://app.test", Secrets: []core.Secret{"a secret of the tests, 32 bytes or more"}, Store: memory.New(),
		Now: func() time.Time { return now }, Getenv: func(string) string { return "" }, Providers: ways,
		Session: core.SessionConfig{Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.True}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := otel.Follow(auth, ways, c.options); err != nil {
		t.Fatal(err)
	}
	r := &core.Request{Method: "GET", Target: "/", Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1"}
	cookies, err := auth.NewSession(t.Context(), r, &core.User{ID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	r.Target, r.Header = "/auth/session", map[string][]string{"Cookie": {cookies[0].Name + "=" + cookies[0].Value}}
	auth.Handle(t.Context(), r)
	now = now.Add(time.Minute)

	var all metricdata.ResourceMetrics
	if err := c.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Gauge[int64]:
			got = append(got, fmt.Sprint(m.Name, " ", data.DataPoints[0].Value))
		case metricdata.Gauge[float64]:
			got = append(got, fmt.Sprint(m.Name, " ", data.DataPoints[0].Value))
		case metricdata.Sum[int64]:
			got = append(got, fmt.Sprint(m.Name, " ", data.DataPoints[0].Value))
		}
	}
	slices.Sort(got)
	want := []string{
		"latchkey.hash.busy 3", "latchkey.hash.refused 7", "latchkey.hash.slots 4", "latchkey.hash.waiting 2",
		"latchkey.revocation.age 60",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
