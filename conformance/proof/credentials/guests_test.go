package credentials_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestGuests continues as a guest on each router and with both strategies, opens a page that needs an account, and
// signs in as an existing user.
func TestGuests(t *testing.T) {
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, adapter := range wire.Adapters() {
			t.Run(string(strategy)+"/"+adapter, func(t *testing.T) { continued(t, adapter, strategy) })
		}
	}
}

func continued(t *testing.T, adapter string, strategy core.Strategy) {
	l, err := wire.Listen(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, url: "http://" + l.Addr().String()}
	guests, store, merges := guest.New(guest.Options{}), memory.New(), atomic.Int32{}
	s.auth, err = core.New(core.Config{
		URL: s.url, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: store,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: strategy}, Plugins: []core.Plugin{guests},
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return ada, nil },
		}},
		Callbacks: core.Callbacks{Merge: func(context.Context, *core.User, *core.User) error {
			merges.Add(1)
			return nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.CreateUser(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	stop, err := wire.Serve(adapter, wire.Site{
		Auth: s.auth, Mounted: true, Private: private, PrivateGuards: []core.Guard{guests.NotGuest()},
	}, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop() })
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	post := func(path string) {
		t.Helper()
		var token struct{ CSRFToken string }
		body := s.send(c, "GET", "/auth/csrf", nil, "Accept", "application/json").body
		if err := json.Unmarshal([]byte(body), &token); err != nil {
			t.Fatal(err)
		}
		r := s.send(c, "POST", path, url.Values{"csrfToken": {token.CSRFToken}}, "Accept", "text/html")
		if r.StatusCode != http.StatusSeeOther && r.StatusCode != http.StatusFound {
			t.Fatalf("%s: status %d: %s", path, r.StatusCode, r.body)
		}
	}
	page := func(accept string, status int) {
		t.Helper()
		r := s.send(c, "GET", private, nil, "Accept", accept)
		if r.StatusCode != status || (r.body == wire.Secret) != (status == http.StatusOK) {
			t.Errorf("the page has status %d, want %d: %s", r.StatusCode, status, r.body)
		}
	}
	page("application/json", http.StatusUnauthorized)
	post("/auth/guest")
	page("application/json", http.StatusForbidden)
	page("text/html", http.StatusSeeOther)
	post("/auth/callback/credentials")
	page("text/html", http.StatusOK)
	if merges.Load() != 1 {
		t.Errorf("%d merges", merges.Load())
	}
}
