package main

import (
	"database/sql"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
	device := func() *http.Client {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Client{Jar: jar}
	}
	text := func(res *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	signIn := func(c *http.Client, email, password string) string {
		t.Helper()
		token := regexp.MustCompile(`"csrfToken":"([^"]+)"`).FindStringSubmatch(text(c.Get(server.URL + "/auth/csrf")))
		return text(c.PostForm(server.URL+"/auth/callback/credentials", url.Values{
			"csrfToken": {token[1]}, "callbackUrl": {"/"}, "email": {email}, "password": {password},
		}))
	}
	register := func(c *http.Client, email, password string) string {
		t.Helper()
		return text(c.PostForm(server.URL+"/register", url.Values{"email": {email}, "password": {password}}))
	}
	phone, laptop := device(), device()
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
	if got := text(phone.PostForm(server.URL+"/everywhere", nil)); !strings.Contains(got, "register") {
		t.Errorf("after signing out everywhere: %s", got)
	}
	if got := text(laptop.Get(server.URL + "/")); !strings.Contains(got, "register") {
		t.Errorf("the other device is still signed in: %s", got)
	}
}
