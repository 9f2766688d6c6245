package organization_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// strong returns a browser in which a user has signed in with a second factor.
func (s *site) strong(id string) *client {
	s.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	at := mustURL(s.T, s.url)
	cookies, err := s.auth.NewSession(s.Context(), &core.Request{
		Method: "GET", Target: "/", Hosts: []string{at.Host}, Scheme: "http", RemoteAddr: "127.0.0.1:1",
	}, &core.User{ID: id, Name: id, Email: id + "@example.com"}, core.SessionOptions{
		AuthTime: s.clock(), Methods: []amr.Method{amr.Password, amr.OTP},
	})
	if err != nil {
		s.Fatal(err)
	}
	for _, c := range cookies {
		parsed, err := http.ParseSetCookie(c.String())
		if err != nil {
			s.Fatal(err)
		}
		jar.SetCookies(at, []*http.Cookie{parsed})
	}
	stop := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{&http.Client{Jar: jar, CheckRedirect: stop}, s}
}

// TestSlug changes slugs. The old one is free, and a slug belongs to one organization also if several change.
func TestSlug(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx := t.Context()
	id, taken := s.found("bob admin"), s.found()
	if err := s.orgs.SetSlug(ctx, taken, "taken"); err != nil {
		t.Fatal(err)
	}
	ada, bob := s.as("ada"), s.as("bob")
	s.is(bob.post("slug", "organization", id, "slug", "bobs"), "403 role_denied")
	s.is(ada.post("slug", "organization", id, "slug", "taken"), "409 slug_taken")
	s.is(ada.post("slug", "organization", id, "slug", "org_1"), "422 slug_invalid")
	s.is(ada.post("slug", "organization", id, "slug", "first"), "200")
	s.is(ada.post("slug", "organization", id, "slug", "second"), "200")
	s.is(bob.get("/member", "X-Organization", "second"), "200")
	s.is(bob.get("/member", "X-Organization", "first"), "403 forbidden")
	if _, err := s.orgs.Get(ctx, "first"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the old slug: %v", err)
	}
	s.is(ada.post("slug", "organization", taken, "slug", "first"), "200")
	s.is(ada.post("slug", "organization", id, "slug", "first"), "409 slug_taken")
	if r := ada.page("/auth/organization/members?organization=" + id); !strings.Contains(r.body, `value="second"`) {
		t.Errorf("the page has no form: %s", r.body)
	}

	other := s.process()
	for i := range 20 { // there and back in two processes, and another organization wants the slugs too
		a, b := fmt.Sprint("a", i, "x"), fmt.Sprint("b", i, "x")
		calls := []func() error{
			func() error { return s.orgs.SetSlug(ctx, id, a) }, func() error { return other.orgs.SetSlug(ctx, id, b) },
			func() error { return s.orgs.SetSlug(ctx, id, b) }, func() error { return other.orgs.SetSlug(ctx, taken, a) },
		}
		together(calls...)
		for _, each := range []string{id, taken} {
			org, err := s.orgs.Get(ctx, each)
			if err != nil {
				t.Fatal(err)
			}
			if found, err := s.orgs.Get(ctx, org.Slug); err != nil || found.ID != each {
				t.Fatalf("the slug %q of %s belongs to %+v, %v", org.Slug, each, found, err)
			}
		}
	}

	// A process dies after each write: the slug belongs to the organization, and the change can be repeated.
	for writes := range 4 {
		rows := &counted{Store: s.rows.Store, dies: true, left: writes}
		dying := s.process(func(c *core.Config, _ *organization.Options) { c.Store = rows })
		want := fmt.Sprint("kill-", writes)
		_ = dying.orgs.SetSlug(ctx, id, want)
		if org, err := s.orgs.Get(ctx, id); err != nil {
			t.Fatal(err)
		} else if found, err := s.orgs.Get(ctx, org.Slug); err != nil || found.ID != id {
			t.Errorf("after %d writes the slug %q belongs to %+v, %v", writes, org.Slug, found, err)
		}
		if err := other.orgs.SetSlug(ctx, id, want); err != nil {
			t.Errorf("after %d writes it cannot be repeated: %v", writes, err)
		}
	}
}

// TestSecondFactor: an organization can require a second factor, with both strategies and in two processes.
func TestSecondFactor(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			change := func(c *core.Config, _ *organization.Options) { c.Session.Strategy = strategy }
			s := newSite(t, change)
			id, free := s.found("bob member"), s.found("bob member")
			other := s.process(change)
			weak, strong, owner, bob := s.as("ada"), s.strong("ada"), s.strong("ada"), s.as("bob")
			far := &client{bob.Client, other}
			at := []string{"X-Organization", id}
			s.is(far.get("/member", at...), "200")
			if r := weak.post("security", "organization", id, "secondFactor", "true"); r.status != http.StatusUnauthorized {
				t.Errorf("without a second factor: %d %s", r.status, r.body)
			}
			s.is(s.strong("bob").post("security", "organization", id, "secondFactor", "true"), "403 role_denied")
			if r := strong.page("/auth/organization/members?organization=" + id); !strings.Contains(r.body, "Require a second") {
				t.Errorf("the page has no form: %s", r.body)
			}
			s.is(strong.post("security", "organization", id, "secondFactor", "true"), "200")
			s.wait(10 * time.Second)
			for _, c := range []*client{weak, bob, far} {
				for _, page := range []string{"/member", "/auth/organization/members?organization=" + id} {
					if r := c.get(page, at...); r.status != http.StatusUnauthorized {
						t.Errorf("%s without a second factor: %d %s", page, r.status, r.body)
					}
				}
				if r := c.get("/open", at...); r.body != "" {
					t.Errorf("Current returns %q", r.body)
				}
			}
			if r := weak.post("security", "organization", id, "secondFactor", "false"); r.status != http.StatusUnauthorized {
				t.Errorf("the requirement ends without a second factor: %d %s", r.status, r.body)
			}
			s.is(bob.get("/member", "X-Organization", free), "200")
			s.is(owner.get("/owners", at...), "200")
			if r := owner.get("/open", at...); r.body != id+" owner" {
				t.Errorf("Current returns %q", r.body)
			}
			s.is(bob.post("leave", "organization", id), "200")
			s.is(strong.post("security", "organization", id, "secondFactor", "false"), "200")
			s.is(weak.get("/member", at...), "200")
		})
	}
}

// TestSwitcher selects organizations with the component, without JavaScript.
func TestSwitcher(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := authhttp.New(s.auth)
	page := a.Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		org, err := s.orgs.Selected(r.Context())
		if err == nil && org != nil {
			_, err = fmt.Fprintf(w, "[%s]", org.Slug)
		}
		if err == nil {
			err = s.orgs.Switcher().Render(r.Context(), w)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	s.mux.Handle("GET /board", page)
	first := s.found()
	ada := s.as("ada")
	if r := ada.page("/board"); strings.Contains(r.body, "<form") || !strings.HasPrefix(r.body, "[") {
		t.Errorf("with one organization: %s", r.body)
	}
	second := s.found()
	if err := s.orgs.SetSlug(t.Context(), second, "second"); err != nil {
		t.Fatal(err)
	}
	if err := s.orgs.Update(t.Context(), organization.Organization{ID: second, Name: `<i>"&`}); err != nil {
		t.Fatal(err)
	}
	r := ada.page("/board?x=1")
	if !strings.Contains(r.body, "&lt;i&gt;") || strings.Contains(r.body, "<i>") || strings.Contains(r.body, "[") ||
		!strings.Contains(r.body, `name="callbackUrl" value="/board?x=1"`) {
		t.Errorf("the component is %s", r.body)
	}
	r = ada.submit("switch", "organization", second, "callbackUrl", "/board?x=1")
	if !strings.Contains(r.body, "[second]") || !strings.Contains(r.body, second+`" selected`) {
		t.Errorf("after the choice: %s", r.body)
	}
	form := url.Values{"csrfToken": {ada.csrf()}, "organization": {first}, "callbackUrl": {"https://evil.example/"}}
	r = ada.send("POST", "/auth/organization/switch", strings.NewReader(form.Encode()),
		"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	if to := r.header.Get("Location"); r.status != http.StatusSeeOther || strings.Contains(to, "evil") {
		t.Errorf("it redirects to %s", to)
	}
	out := &client{&http.Client{}, s}
	if r := out.page("/board"); r.body != "" {
		t.Errorf("without a session: %s", r.body)
	}
}
