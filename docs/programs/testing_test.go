package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/storage/memory"
)

func site(auth *core.Auth) http.Handler {
	a, mux := authhttp.New(auth), http.NewServeMux()
	a.Mount(mux)
	mux.Handle("GET /account", a.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, _ := authhttp.Session(r) // RequireSession has read it
		_, _ = io.WriteString(w, "Hello, "+session.User.Name)
	})))
	return mux
}

func TestAccount(t *testing.T) {
	store := memory.New()
	auth, err := core.New(core.Config{
		Store:     store,
		Secrets:   []core.Secret{"a secret of the tests, 32 bytes or more"},
		Providers: []core.Provider{&core.EmailProvider{Send: discard}},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(site(auth))
	defer server.Close()

	ada, err := store.CreateUser(t.Context(), &core.User{ID: core.NewID(), Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	client := authtest.SignIn(t, auth, server.URL, ada)
	for _, c := range []struct {
		name   string
		client *http.Client
		status int
		body   string
	}{
		{"signed in", client, http.StatusOK, "Hello, Ada"},
		{"not signed in", server.Client(), http.StatusUnauthorized, "session_required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			response, err := c.client.Get(server.URL + "/account")
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != c.status || !strings.Contains(string(body), c.body) {
				t.Errorf("%d: %s, %v", response.StatusCode, body, err)
			}
		})
	}
}
