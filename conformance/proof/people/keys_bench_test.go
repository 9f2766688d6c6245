package people_test

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/apikey"
)

// BenchmarkKeys compares a request with an API key with one with a database session, alone and concurrently. A key may
// take 1.2 times as long.
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
	for _, row := range []struct {
		name   string
		header http.Header
	}{
		{"session", http.Header{"Cookie": {cookie.Name + "=" + cookie.Value}}},
		{"key", http.Header{"Authorization": {"Bearer " + string(text)}}},
	} {
		request := func() {
			visit := auth.Visit(b.Context(), &core.Request{
				Method: "GET", Target: "/api", Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: "192.0.2.7:4711",
				Header: row.header,
			})
			if p, refusal := visit.RequirePrincipal(core.Scopes("orders:read")); refusal != nil || p.UserID != user.ID {
				b.Errorf("refused: %+v", refusal)
			}
		}
		request()
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
