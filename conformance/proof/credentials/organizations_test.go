package credentials_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/organization/orgkeys"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// noMail accepts emails and sends none.
type noMail struct{}

func (noMail) Send(context.Context, core.Email) error { return nil }

// TestOrganizationGuards protects a page with the guards of organizations on each router and with both strategies. The
// organization is selected by a header, a path parameter and the cookie of the browser.
func TestOrganizationGuards(t *testing.T) {
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, adapter := range wire.Adapters() {
			t.Run(string(strategy)+"/"+adapter, func(t *testing.T) { guarded(t, adapter, strategy) })
		}
	}
}

func guarded(t *testing.T, adapter string, strategy core.Strategy) {
	l, err := wire.Listen(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, url: "http://" + l.Addr().String()}
	keys := apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "invoice:write"}}})
	orgs := organization.New(organization.Options{
		Mail:  noMail{},
		Keys:  orgkeys.Of(keys),
		Roles: []organization.Role{{Name: "accountant", Permissions: []string{"invoice:write"}}},
		Select: func(r *core.Request) string {
			if id := r.Header.Get("X-Organization"); id != "" {
				return id
			}
			target, err := url.Parse(r.Target)
			if err != nil {
				return ""
			}
			return target.Query().Get("organization")
		},
	})
	store := memory.New()
	s.auth, err = core.New(core.Config{
		URL: s.url, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: store,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: strategy}, Plugins: []core.Plugin{orgs, keys},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop, err := wire.Serve(adapter, wire.Site{
		Auth: s.auth, Mounted: true, Private: private,
		PrivateGuards: []core.Guard{orgs.Member(), orgs.Permission("invoice:write")},
		API:           "/api/invoices", APIScope: "invoice:write", APIWriteScope: "invoice:write",
		APIGuard: orgs.PermissionOrScope("invoice:write"),
	}, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop() })
	for _, id := range []string{"ada", "bob", "eve"} {
		_, err := store.CreateUser(t.Context(), &core.User{
			ID: id, Email: id + "@example.com", EmailVerified: time.Now(),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	first, err := orgs.Create(t.Context(), organization.NewOrganization{OwnerID: "ada", Name: "First", Slug: "first"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := orgs.Create(t.Context(), organization.NewOrganization{OwnerID: "ada", Name: "Second", Slug: "second"})
	if err != nil {
		t.Fatal(err)
	}
	if err := orgs.Add(t.Context(), second.ID, "bob", "accountant"); err != nil {
		t.Fatal(err)
	}
	page := func(c *http.Client, query string, header ...string) int {
		t.Helper()
		r := s.send(c, "GET", private+query, nil, append(header, "Accept", "application/json")...)
		if (r.body == wire.Secret) != (r.StatusCode == http.StatusOK) {
			t.Errorf("status %d with %q", r.StatusCode, r.body)
		}
		return r.StatusCode
	}
	adas := authtest.SignIn(t, s.auth, s.url, &core.User{ID: "ada", Email: "ada@example.com"})
	bobs := authtest.SignIn(t, s.auth, s.url, &core.User{ID: "bob", Email: "bob@example.com"})
	eves := authtest.SignIn(t, s.auth, s.url, &core.User{ID: "eve", Email: "eve@example.com"})
	is := func(name string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: status %d, want %d", name, got, want)
		}
	}
	is("no session", page(http.DefaultClient, ""), 401)
	is("two organizations", page(adas, ""), 403)
	is("a header", page(adas, "", "X-Organization", first.ID), 200)
	is("a slug in the query", page(adas, "?organization=second"), 200)
	is("the only organization", page(bobs, ""), 200)
	is("another organization", page(bobs, "", "X-Organization", first.ID), 403)
	is("no member", page(eves, "", "X-Organization", second.ID), 403)
	is("a made-up organization", page(adas, "?organization=%2e%2e%2ffirst"), 403)
	token := s.send(adas, "GET", "/auth/organization", nil, "Accept", "text/html")
	chosen := s.submit(adas, token, "/auth/organization/switch", "organization", first.ID)
	is("select one", chosen.StatusCode, 303)
	is("the selected organization", page(adas, ""), 200)
	if err := orgs.SetRole(t.Context(), second.ID, "bob", organization.Member); err != nil {
		t.Fatal(err)
	}
	is("another role", page(bobs, ""), 403)
	if err := orgs.SetRole(t.Context(), second.ID, "bob", "accountant"); err != nil {
		t.Fatal(err)
	}
	is("the role again", page(bobs, ""), 200)
	if err := orgs.Remove(t.Context(), second.ID, "bob"); err != nil {
		t.Fatal(err)
	}
	is("after the removal", page(bobs, "", "X-Organization", second.ID), 403)

	// API keys and requests to join.
	act := func(c *http.Client, verb string, fields ...string) reply {
		t.Helper()
		token := s.send(c, "GET", "/auth/organization", nil, "Accept", "text/html")
		return s.submit(c, token, "/auth/organization/"+verb, append(fields, "organization", second.ID)...)
	}
	is("a key of an outsider", act(eves, "key", "name", "CI", "scope invoice:write", "on").StatusCode, 303)
	if all, err := keys.OfService(t.Context(), second.ID); err != nil || len(all) != 0 {
		t.Fatalf("an outsider has created a key: %v, %v", all, err)
	}
	is("create a key", act(adas, "key", "name", "CI", "scope invoice:write", "on").StatusCode, 303)
	shown := s.send(adas, "GET", "/auth/organization/keys?organization="+second.ID, nil, "Accept", "text/html")
	text := regexp.MustCompile(`value="(lk_\w+)"`).FindStringSubmatch(shown.body)
	if text == nil {
		t.Fatalf("the page shows no key: %s", shown.body)
	}
	call := func(query string, header ...string) int {
		t.Helper()
		header = append(header, "Authorization", "Bearer "+text[1])
		return s.send(http.DefaultClient, "GET", "/api/invoices"+query, nil, header...).StatusCode
	}
	is("a key", call(""), 200)
	is("a key with its organization in a header", call("", "X-Organization", second.ID), 200)
	is("a key with its organization in the query", call("?organization=second"), 200)
	is("a key with another organization in a header", call("", "X-Organization", first.ID), 403)
	is("a key with another organization in the query", call("?organization=first"), 403)
	if r := s.send(http.DefaultClient, "GET", private, nil, "Authorization", "Bearer "+text[1]); r.StatusCode == 200 {
		t.Error("a key opens a page for users")
	}
	all, err := keys.OfService(t.Context(), second.ID)
	if err != nil || len(all) != 1 {
		t.Fatalf("the keys are %v, %v", all, err)
	}
	is("revoke a key", act(adas, "revoke-key", "id", all[0].ID).StatusCode, 303)
	is("a revoked key", call(""), 401)

	is("allow requests", act(adas, "joining", "requests", "true").StatusCode, 303)
	is("ask to join", act(eves, "join").StatusCode, 303)
	is("a pending request", page(eves, "", "X-Organization", second.ID), 403)
	asked, err := orgs.JoinRequests(t.Context(), second.ID)
	if err != nil || len(asked) != 1 {
		t.Fatalf("the requests are %v, %v", asked, err)
	}
	is("accept", act(adas, "admit", "id", asked[0].ID, "role", "accountant").StatusCode, 303)
	is("an accepted request", page(eves, "", "X-Organization", second.ID), 200)
}
