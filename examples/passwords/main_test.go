package main

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/examples/internal/surf"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// TestPasswords registers, signs in on a second device, and ends both sessions from the first.
func TestPasswords(t *testing.T) {
	t.Setenv("AUTH_SECRET", "a-secret-of-more-than-thirty-two-bytes")
	db, err := sql.Open("sqlite", sqlite.DSN(filepath.Join(t.TempDir(), "app.db")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var routes http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { routes.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	s, err := open(t.Context(), db, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	routes = s.routes()
	signIn := func(b *surf.Browser, email, password string) string {
		t.Helper()
		return b.Submit(b.Open(server.URL+"/auth/signin"), "/auth/callback/", "email", email, "password", password).Body
	}
	register := func(b *surf.Browser, email, password string) string {
		t.Helper()
		return b.Submit(b.Open(server.URL+"/"), "/register", "email", email, "password", password).Body
	}
	phone, laptop := surf.New(t), surf.New(t)
	if got := register(phone, "Ada@Example.com", "difference engine"); !strings.Contains(got, "Hello, ada@example.com") {
		t.Fatalf("registered, and saw %s", got)
	}
	if got := register(laptop, "ada@example.com", "analytical engine"); !strings.Contains(got, "already") {
		t.Errorf("registered a second time: %s", got)
	}
	for name, row := range map[string][2]string{
		"wrong password":  {"ada@example.com", "steam engine"},
		"unknown address": {"eve@example.com", "difference engine"},
	} {
		if got := signIn(laptop, row[0], row[1]); strings.Contains(got, "Hello,") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := signIn(laptop, "ADA@example.com", "difference engine"); !strings.Contains(got, "Hello, ada@example.com") {
		t.Fatalf("on a second device: %s", got)
	}
	if got := phone.Submit(phone.Open(server.URL+"/"), "/everywhere").Body; !strings.Contains(got, "register") {
		t.Errorf("after signing out everywhere: %s", got)
	}
	if got := laptop.Open(server.URL + "/").Body; !strings.Contains(got, "register") {
		t.Errorf("the other device is still signed in: %s", got)
	}
}
