package prometheus_test

import (
	"context"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/observe/prometheus"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// hashing is a provider that claims to compute hashes.
type hashing struct {
	*core.CredentialsProvider
	load observe.HashStats
}

func (h *hashing) Stats() observe.HashStats { return h.load }

// loaded creates two Auths with one provider and revocable sessions, and sends each a request.
func loaded(t *testing.T, metrics *prometheus.Metrics) {
	t.Helper()
	provider := &hashing{&core.CredentialsProvider{
		Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
	}, observe.HashStats{Slots: 4, Busy: 3, Waiting: 2, Refused: 7}}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 2 {
		auth, err := core.New(metrics.Wrap(core.Config{
			URL: "https://app.test", Secrets: []core.Secret{"a secret of the tests, 32 bytes or more"},
			Store: memory.New(), Now: func() time.Time { return now }, Getenv: func(string) string { return "" },
			Session:   core.SessionConfig{Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.True}},
			Providers: []core.Provider{provider},
		}))
		if err != nil {
			t.Fatal(err)
		}
		r := &core.Request{
			Method: "GET", Target: "/", Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1",
		}
		cookies, err := auth.NewSession(t.Context(), r, &core.User{ID: "1"})
		if err != nil {
			t.Fatal(err)
		}
		r.Target, r.Header = "/auth/session", map[string][]string{"Cookie": {cookies[0].Name + "=" + cookies[0].Value}}
		if answer := auth.Handle(t.Context(), r); answer.Status != 200 {
			t.Fatal(answer.Status)
		}
		metrics.Follow(auth)
		now = now.Add(90 * time.Second)
	}
}

// TestLoad: a provider of several Auths counts once, and the largest revocation age is reported.
func TestLoad(t *testing.T) {
	t.Parallel()
	metrics, scrape := measured(t)
	if got := samples(scrape(), "latchkey_hash") + samples(scrape(), "latchkey_revocation"); got != "" {
		t.Errorf("without any there is\n%s", got)
	}
	loaded(t, metrics)
	text := scrape()
	for _, row := range []struct{ prefix, want string }{
		{"latchkey_hash", "latchkey_hash_busy 3\nlatchkey_hash_refused_total 7\n" +
			"latchkey_hash_slots 4\nlatchkey_hash_waiting 2\n"},
		{"latchkey_revocation", "latchkey_revocation_age_seconds 180\n"},
	} {
		if got := samples(text, row.prefix); got != row.want {
			t.Errorf("got\n%swant\n%s", got, row.want)
		}
	}
}
