package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// grown returns an Auth with an additional claim of this length, this number of providers, and one of many tenants.
func grown(tb testing.TB, tenant string, claim, providers int) *core.Auth {
	tb.Helper()
	c := core.Config{
		Secrets: []core.Secret{secret}, TrustHost: core.True, Audience: tenant,
		Logger: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) {
				return &core.User{ID: personID, Name: personName, Email: personEmail, Image: personImage}, nil
			},
		}},
	}
	for i := range providers {
		id := "op"
		if i > 0 {
			id += strconv.Itoa(i)
		}
		c.Providers = append(c.Providers, &core.OAuthProvider{
			ID: id, Name: id, Type: core.TypeOAuth, ClientID: "client", ClientSecret: "secret",
			Authorization: core.Endpoint{URL: "https://op.example/authorize"},
			Token:         core.Endpoint{URL: "https://op.example/token"},
			Userinfo:      core.Endpoint{URL: "https://op.example/userinfo"},
			Checks:        []core.Check{core.CheckPKCE, core.CheckState},
		})
	}
	if claim > 0 {
		text := strings.Repeat("x", claim)
		c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			return p.Token, p.Token.Extra.Set("further", text)
		}
	}
	auth, err := core.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return auth
}

// BenchmarkGrowth measures paths while one quantity grows.
func BenchmarkGrowth(b *testing.B) {
	for _, bytes := range []int{0, 500, 2000, 8000, 20000} {
		for _, path := range []string{"session", "page"} {
			b.Run(fmt.Sprintf("claims/%s/%d", path, bytes), func(b *testing.B) {
				grow(b, grown(b, "", bytes, 1), path)
			})
		}
	}
	for _, n := range []int{1, 10, 50, 200} {
		for _, path := range []string{"session", "providers", "start", "signin"} {
			b.Run(fmt.Sprintf("providers/%s/%d", path, n), func(b *testing.B) { grow(b, grown(b, "", 0, n), path) })
		}
	}
	for _, n := range []int{1, 100, 10000} {
		b.Run(fmt.Sprintf("tenants/session/%d", n), func(b *testing.B) {
			all := map[string]*core.Auth{}
			for i := range n {
				all[strconv.Itoa(i)] = grown(b, "t"+strconv.Itoa(i), 0, 1)
			}
			choose := func(context.Context, *core.Request) (*core.Auth, error) { return all["0"], nil }
			grow(b, core.PerRequest("/auth", choose), "session")
		})
	}
	b.Run("sessions", growSessions)
}

// grow measures a path of an Auth.
func grow(b *testing.B, auth *core.Auth, name string) {
	b.Helper()
	mux, a := http.NewServeMux(), authhttp.New(auth)
	a.Mount(mux)
	mux.Handle("GET /page", a.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
	})))
	running := httptest.NewServer(mux)
	defer running.Close()
	p, err := prepare(b.Context(), server{Name: "stdlib"}, running.URL, name)
	if err != nil {
		b.Fatal(err)
	}
	one := &asked{path: p, handler: mux, host: running.Listener.Addr().String()}
	r, w := one.request(b.Context()), &discard{header: make(http.Header, 16)}
	b.ReportAllocs()
	before := processor(b)
	for b.Loop() {
		if p.Body != "" {
			r = one.request(b.Context())
		}
		clear(w.header)
		mux.ServeHTTP(w, r)
	}
	b.ReportMetric(float64(processor(b)-before)/float64(b.N), "cpu-ns/op")
	if w.status >= http.StatusBadRequest {
		b.Fatal(w.status)
	}
}
