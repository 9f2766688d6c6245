package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// BenchmarkSharedLimits measures a sign-in with the right password at one of four processes with shared limits, and at
// one with its own limits. Both include everything except the password hash.
func BenchmarkSharedLimits(b *testing.B) {
	for name, limits := range map[string]core.Limits{"alone": {}, "shared": {Shared: true}} {
		b.Run(name, func(b *testing.B) {
			s := memory.New()
			var auths []*core.Auth
			for range 4 {
				auths = append(auths, guessable(b, s, limits))
			}
			cookie, token := csrf(b, auths[0])
			var n, failed atomic.Int64
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := n.Add(1)
					if r := enter(auths[i%4], cookie, token, i%1000, "engine"); r.Status != http.StatusFound || r.Err != nil {
						failed.Add(1)
					}
				}
			})
			b.ReportMetric(float64(failed.Load())/float64(b.N), "refused/op")
		})
	}
}

// TestSharedLimits checks that four processes with one store count like one process.
func TestSharedLimits(t *testing.T) {
	t.Parallel()
	s, looked := memory.New(), 0
	var auths []*core.Auth
	for range 4 {
		auths = append(auths, guessable(t, s, core.Limits{Shared: true}))
	}
	cookie, token := csrf(t, auths[0])
	for i := range 200 {
		if r := enter(auths[i%4], cookie, token, 7, "wrong"); errors.Is(r.Err, core.ErrCredentialsSignin) {
			looked++
		}
	}
	if looked != 10 {
		t.Errorf("%d of 200 guesses at four processes were looked at, want 10", looked)
	}
}

func guessable(tb testing.TB, s core.Store, limits core.Limits) *core.Auth {
	tb.Helper()
	a, err := core.New(core.Config{
		Secrets: []core.Secret{"0123456789abcdef0123456789abcdef"}, URL: "https://app.test", Store: s, Limits: limits,
		Session:        core.SessionConfig{Strategy: core.StrategyJWT},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
				if form["password"] != "engine" {
					return nil, nil
				}
				return &core.User{ID: form["email"]}, nil
			},
		}},
		Logger: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
	})
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func csrf(tb testing.TB, a *core.Auth) (cookie, token string) {
	tb.Helper()
	r := a.Handle(tb.Context(), &core.Request{
		Method: "GET", Target: "/auth/csrf", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{},
	})
	var body struct{ CSRFToken string }
	if err := json.Unmarshal(r.Body, &body); err != nil {
		tb.Fatal(err)
	}
	return r.Cookies[0].Name + "=" + url.QueryEscape(r.Cookies[0].Value), body.CSRFToken
}

// enter posts the form for the person with that number, from a separate network.
func enter(a *core.Auth, cookie, token string, person int64, password string) *core.Response {
	at := netip.AddrFrom4([4]byte{192, 0, byte(person >> 8), byte(person)})
	name := at.String() + "@example.com"
	form := url.Values{"csrfToken": {token}, "email": {name}, "password": {password}}
	return a.Handle(context.Background(), &core.Request{
		Method: "POST", Target: "/auth/callback/credentials", Hosts: []string{"app.test"}, Scheme: "https",
		RemoteAddr: at.String() + ":1", Body: strings.NewReader(form.Encode()),
		Header: http.Header{"Cookie": {cookie}, "Content-Type": {"application/x-www-form-urlencoded"}},
	})
}
