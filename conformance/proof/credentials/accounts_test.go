package credentials_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/multisession"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestAccounts adds accounts on each router with its default header limit and with both strategies, until none fits,
// switches between them and signs out of all.
func TestAccounts(t *testing.T) {
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, adapter := range wire.Adapters() {
			t.Run(string(strategy)+"/"+adapter, func(t *testing.T) { switches(t, adapter, strategy) })
		}
	}
}

func switches(t *testing.T, adapter string, strategy core.Strategy) {
	l, err := wire.Listen(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, url: "http://" + l.Addr().String()}
	store := memory.New()
	s.auth, err = core.New(core.Config{
		URL: s.url, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: store,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), InsecureNoLimits: true,
		Session: core.SessionConfig{Strategy: strategy}, Plugins: []core.Plugin{multisession.New()},
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(ctx context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
				return store.User(ctx, form["id"])
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	people := []string{"ada", "bob", "cleo", "dan", "eve", "fay"}
	for _, id := range people {
		if _, err := store.CreateUser(t.Context(), &core.User{ID: id, Email: id + "@example.com"}); err != nil {
			t.Fatal(err)
		}
	}
	stop, err := wire.Serve(adapter, wire.Site{Auth: s.auth, Mounted: true, Private: private}, l)
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
	read := func(path string, v any) {
		t.Helper()
		r := s.send(c, "GET", path, nil, "Accept", "application/json")
		if err := json.Unmarshal([]byte(r.body), v); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d: %s (%v)", path, r.StatusCode, r.body, err)
		}
	}
	post := func(path string, form url.Values) int {
		t.Helper()
		var token struct{ CSRFToken string }
		read("/auth/csrf", &token)
		form.Set("csrfToken", token.CSRFToken)
		return s.send(c, "POST", path, form, "Accept", "text/html").StatusCode
	}
	list := func() (all []struct {
		ID, Email string
		Active    bool
	}) {
		t.Helper()
		var answer struct{ Accounts json.RawMessage }
		read("/auth/accounts", &answer)
		if err := json.Unmarshal(answer.Accounts, &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	n := 0
	for _, id := range people {
		if n > 0 && post("/auth/accounts/add", url.Values{}) == http.StatusConflict {
			break
		}
		post("/auth/callback/credentials", url.Values{"id": {id}})
		if n++; len(list()) != n || list()[0].Email != id+"@example.com" {
			t.Fatalf("after the sign-in of %s the accounts are %v", id, list())
		}
	}
	if n < 2 || n > 5 || strategy == core.StrategyDatabase && n != 5 {
		t.Errorf("%d accounts fit", n)
	}
	for range n {
		next := list()[1]
		if status := post("/auth/accounts/switch", url.Values{"account": {next.ID}}); status != http.StatusSeeOther {
			t.Fatalf("the switch has status %d", status)
		}
		if now := list(); len(now) != n || now[0].Email != next.Email || !now[0].Active {
			t.Errorf("after the switch to %s the accounts are %v", next.Email, now)
		}
		if r := s.send(c, "GET", private, nil); r.body != wire.Secret {
			t.Errorf("the page has status %d", r.StatusCode)
		}
	}
	post("/auth/accounts/sign-out-all", url.Values{})
	if all := list(); len(all) != 0 {
		t.Errorf("after the sign-out the accounts are %v", all)
	}
	if r := s.send(c, "GET", private, nil, "Accept", "application/json"); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("the page has status %d", r.StatusCode)
	}
}
