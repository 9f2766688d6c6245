package people_test

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/apikey"
)

// BenchmarkKeys compares a request with an API key with one with a database session, alone and concurrently. A key may
// take 1.2 times as long. The rows "ratio" compare the fastest of many short runs, which take turns, so that other
// programs on the machine do not change the result.
func BenchmarkKeys(b *testing.B) {
	for _, engine := range stores {
		b.Run(engine.name, func(b *testing.B) { benchmarkKeys(b, engine) })
	}
}

func benchmarkKeys(b *testing.B, engine engine) {
	kept := engine.empty(b)
	keys := apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read"}}})
	auth, err := core.New(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: core.StrategyDatabase}, Plugins: []core.Plugin{keys},
	})
	check(b, err)
	user, err := kept.CreateUser(b.Context(), &core.User{ID: core.NewID(), Email: "ada@example.com"})
	check(b, err)
	_, text, err := keys.Create(b.Context(), apikey.NewKey{UserID: user.ID, Name: "x", Scopes: []string{"orders:read"}})
	check(b, err)
	cookie := authtest.Cookies(b, auth, "https://app.example", user)[0]
	requester := func(name, value string) func() {
		header := http.Header{name: {value}}
		return func() {
			visit := auth.Visit(b.Context(), &core.Request{
				Method: "GET", Target: "/api", Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: "192.0.2.7:4711",
				Header: header,
			})
			if p, refusal := visit.RequirePrincipal(core.Scopes("orders:read")); refusal != nil || p.UserID != user.ID {
				b.Errorf("refused: %+v", refusal)
			}
		}
	}
	session := requester("Cookie", cookie.Name+"="+cookie.Value)
	key := requester("Authorization", "Bearer "+string(text))
	session()
	key()
	b.Run("ratio", func(b *testing.B) {
		const requests = 100 // of a run
		fastest := [2]time.Duration{time.Hour, time.Hour}
		for b.Loop() {
			for i, request := range []func(){session, key} {
				start := time.Now()
				for range requests {
					request()
				}
				fastest[i] = min(fastest[i], time.Since(start))
			}
		}
		b.ReportMetric(float64(fastest[0].Nanoseconds())/requests, "ns/session")
		b.ReportMetric(float64(fastest[1].Nanoseconds())/requests, "ns/key")
		b.ReportMetric(float64(fastest[1])/float64(fastest[0]), "ratio")
	})
	for _, row := range []struct {
		name    string
		request func()
	}{{"session", session}, {"key", key}} {
		request := row.request
		b.Run(row.name+"/alone", func(b *testing.B) {
			for b.Loop() {
				request()
			}
		})
		b.Run(row.name+"/concurrent", func(b *testing.B) {
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					request()
				}
			})
		})
	}
	check(b, keys.Flush(b.Context()))
}
