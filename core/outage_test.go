package core_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// brokenStore fails, panics or answers nothing.
type brokenStore struct{ fail func() error }

func (s brokenStore) CreateUser(context.Context, *core.User) (*core.User, error) {
	return nil, s.fail()
}
func (s brokenStore) User(context.Context, string) (*core.User, error)        { return nil, s.fail() }
func (s brokenStore) UserByEmail(context.Context, string) (*core.User, error) { return nil, s.fail() }
func (s brokenStore) UserByAccount(_ context.Context, _, _ string) (*core.User, error) {
	return nil, s.fail()
}
func (s brokenStore) UpdateUser(context.Context, *core.User) (*core.User, error) {
	return nil, s.fail()
}
func (s brokenStore) LinkAccount(context.Context, *core.Account) error         { return s.fail() }
func (s brokenStore) CreateSession(context.Context, *core.StoredSession) error { return s.fail() }
func (s brokenStore) SessionAndUser(context.Context, string) (*core.StoredSession, *core.User, error) {
	return nil, nil, s.fail()
}
func (s brokenStore) UpdateSession(context.Context, string, time.Time) error { return s.fail() }
func (s brokenStore) DeleteSession(context.Context, string) (*core.StoredSession, error) {
	return nil, s.fail()
}

// TestStoreOutage: nobody is signed out because a store fails, and nobody gets in.
func TestStoreOutage(t *testing.T) {
	t.Parallel()
	const cookie = "__Secure-authjs.session-token"
	for name, fail := range map[string]func() error{
		"error":   func() error { return errors.New("connection refused") },
		"panic":   func() error { panic("nil pointer") },
		"nothing": func() error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			b := visit(t, newApp(t, core.Config{Store: brokenStore{fail}}))
			b.cookies[cookie] = "s1"
			r := b.get("/auth/session")
			if r.Status != http.StatusInternalServerError || string(r.Body) == "null" || b.cookies[cookie] == "" {
				t.Errorf("answered %d: %s; cookie %q", r.Status, r.Body, b.cookies[cookie])
			}
			v := core.Begin(t.Context(), b.auth, b.request("GET", "/account", "", ""))
			if _, refusal := v.Require(); refusal == nil || refusal.Status != http.StatusInternalServerError {
				t.Errorf("the guard let through, or answered %+v", refusal)
			}
			if _, err := core.SessionFrom(v); err == nil {
				t.Error("the hook takes an outage for an answer")
			}
		})
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	for _, row := range []struct {
		name, method, target, accept string
		status                       int
		location                     string
	}{
		{"browser", "GET", "/account?tab=1", "text/html", 303, "https://app.test/auth/signin?callbackUrl=%2Faccount%3Ftab%3D1"},
		{"API client", "GET", "/account", "application/json", 401, ""},
		{"form post", "POST", "/account", "text/html", 401, ""},
		{"target that names a host", "GET", "//evil.example/", "text/html", 303, "https://app.test/auth/signin?callbackUrl=%2F"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := visit(t, a)
			b.header.Set("Accept", row.accept)
			_, refusal := core.Begin(t.Context(), a, b.request(row.method, row.target, "", "")).Require()
			if refusal == nil || refusal.Status != row.status || refusal.Redirect != row.location {
				t.Errorf("got %+v", refusal)
			}
		})
	}
}

func TestProxyNeedsKnownHosts(t *testing.T) {
	t.Parallel()
	provider := &core.OAuthProvider{ID: "p", Type: core.TypeOIDC, Issuer: "https://op.example", ClientID: "id", ClientSecret: "s"}
	config := core.Config{
		TrustHost: core.On, Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" },
		Providers: []core.Provider{provider}, RedirectProxyURL: "https://auth.example/auth",
	}
	if _, err := core.New(config); err == nil || !strings.Contains(err.Error(), "redirect proxy") {
		t.Errorf("open hosts behind a redirect proxy: %v", err)
	}
	config.TrustedHosts = []string{"*.preview.example"}
	if _, err := core.New(config); err != nil {
		t.Errorf("listed hosts: %v", err)
	}
}
