package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2/middleware/adaptor"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
)

// TestSite requests the pages as an unauthenticated user, as a member and as an administrator.
func TestSite(t *testing.T) {
	t.Setenv("ADMIN_EMAIL", "ada@example.com")
	store, err := bboltstore.Open(filepath.Join(t.TempDir(), "app.bolt"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	box := mailbox.New()
	config := newConfig(store, box)
	config.Secrets = []core.Secret{"a secret for tests, 32 bytes or more"}
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(adaptor.FiberApp(newSite(auth, box)))
	defer server.Close()

	clients := map[string]*http.Client{"signed out": server.Client()}
	for _, email := range []string{"ada@example.com", "bob@example.com"} {
		user := &core.User{ID: core.NewID(), Email: email, EmailVerified: time.Now()}
		if user, err = store.CreateUser(t.Context(), user); err != nil {
			t.Fatal(err)
		}
		clients[email] = authtest.SignIn(t, auth, server.URL, user)
	}
	for _, row := range []struct {
		who, path string
		want      int
	}{
		{"signed out", "/", http.StatusOK},
		{"signed out", "/members", http.StatusUnauthorized}, // a browser is redirected to the sign-in page
		{"bob@example.com", "/members", http.StatusOK},
		{"bob@example.com", "/admin", http.StatusForbidden},
		{"ada@example.com", "/admin", http.StatusOK},
	} {
		t.Run(row.who+" "+row.path, func(t *testing.T) {
			answer, err := clients[row.who].Get(server.URL + row.path)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != row.want {
				t.Errorf("status %d, want %d", answer.StatusCode, row.want)
			}
		})
	}
}
