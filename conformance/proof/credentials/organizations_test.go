package credentials_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/organization"
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
	orgs := organization.New(organization.Options{
		Mail:  noMail{},
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
		Session: core.SessionConfig{Strategy: strategy}, Plugins: []core.Plugin{orgs},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop, err := wire.Serve(adapter, wire.Site{
		Auth: s.auth, Mounted: true, Private: private,
		PrivateGuards: []core.Guard{orgs.Member(), orgs.Permission("invoice:write")},
	}, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop() })
	for _, id := range []string{"ada", "bob", "eve"} {
		if _, err := store.CreateUser(t.Context(), &core.User{ID: id, Email: id + "@example.com"}); err != nil {
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
}
