package organization_test

import (
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// TestMembershipAge: with MembershipAge and JWT, requests need no query, or one when something is read again. A change
// takes effect immediately in this process, and after MembershipAge in others.
func TestMembershipAge(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			change := func(c *core.Config, o *organization.Options) {
				c.Session.Strategy, o.MembershipAge = strategy, 10*time.Second
			}
			s := newSite(t, change)
			id := s.found("bob admin")
			other := s.process(change)
			bob := s.as("bob")
			far := &client{bob.Client, other}
			jwt := strategy == core.StrategyJWT
			for _, at := range [][]string{nil, {"X-Organization", id}} {
				s.is(far.get("/admins", at...), "200") // reads both records
				s.rows.count()
				most := 0
				for second := range 60 {
					s.is(far.get("/admins", at...), "200")
					n := s.rows.count()
					if jwt && n > 1 {
						t.Errorf("second %d: %d queries", second, n)
					}
					most += n
					s.wait(time.Second)
				}
				if jwt && most > 20 || !jwt && most < 60 {
					t.Errorf("60 requests made %d queries", most)
				}
			}

			kept := func(at ...string) string {
				if jwt {
					return "200"
				}
				return "403 forbidden"
			}
			s.is(far.get("/admins"), "200")
			s.is(far.get("/admins", "X-Organization", id), "200")
			s.is(bob.get("/admins"), "200")
			if err := s.orgs.SetRole(t.Context(), id, "bob", "accountant"); err != nil {
				t.Fatal(err)
			}
			s.is(bob.get("/admins"), "403 forbidden")
			s.is(bob.get("/invoices"), "200")
			s.is(far.get("/admins"), kept())
			s.is(far.get("/admins", "X-Organization", id), kept())
			s.wait(10 * time.Second)
			s.is(far.get("/admins"), "403 forbidden")
			s.is(far.get("/invoices", "X-Organization", id), "200")
			s.is(bob.get("/member"), "200")
			s.is(bob.get("/member", "X-Organization", id), "200")
			if err := s.orgs.Remove(t.Context(), id, "bob"); err != nil {
				t.Fatal(err)
			}
			s.is(bob.get("/member"), "403 forbidden")
			s.is(bob.get("/member", "X-Organization", id), "403 forbidden")
			s.wait(10 * time.Second)
			s.is(far.get("/member"), "403 forbidden")
			s.is(far.get("/member", "X-Organization", id), "403 forbidden")
			if err := s.orgs.Add(t.Context(), id, "bob", "member"); err != nil {
				t.Fatal(err)
			}
			s.is(bob.get("/member"), "200")
			if err := s.orgs.Delete(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			s.is(bob.get("/member"), "403 forbidden")
			s.is(bob.get("/member", "X-Organization", id), "403 forbidden")
		})
	}
}

// TestOneQuery: a guard makes one query for each request, also the first one in a process and when the organization is
// read again. If no organization is selected, the first request needs a second one.
func TestOneQuery(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, way := range []string{"header", "slug", "cookie", "only"} {
			t.Run(string(strategy)+"/"+way, func(t *testing.T) {
				t.Parallel()
				change := func(c *core.Config, _ *organization.Options) { c.Session.Strategy = strategy }
				s := newSite(t, change)
				id := s.found("bob admin")
				bob := s.as("bob")
				var header []string
				first, later := 1, 1
				switch way {
				case "header":
					header = []string{"X-Organization", id}
				case "slug":
					header, first, later = []string{"X-Organization", s.slug(id)}, 2, 2
				case "cookie":
					s.is(bob.post("switch", "organization", id), "200")
				case "only":
					first = 2
				}
				far := &client{bob.Client, s.process(change)}
				s.rows.count()
				for second := range 60 {
					s.is(far.get("/admins", header...), "200")
					want := later
					if second == 0 {
						want = first
					}
					if n := s.rows.count(); n != want {
						t.Errorf("second %d: %d queries, want %d", second, n, want)
					}
					s.wait(time.Second)
				}

				// The organization and the membership that were read together are current.
				if err := s.orgs.RequireSecondFactor(t.Context(), id, true); err != nil {
					t.Fatal(err)
				}
				s.wait(10 * time.Second)
				s.is(far.get("/admins", header...), "401 reauth_required")
				if err := s.orgs.RequireSecondFactor(t.Context(), id, false); err != nil {
					t.Fatal(err)
				}
				s.wait(10 * time.Second)
				s.is(far.get("/admins", header...), "200")
				if err := s.orgs.SetRole(t.Context(), id, "bob", "member"); err != nil {
					t.Fatal(err)
				}
				s.is(far.get("/admins", header...), "403 forbidden")
				if err := s.orgs.Remove(t.Context(), id, "bob"); err != nil {
					t.Fatal(err)
				}
				s.is(far.get("/member", header...), "403 forbidden")
			})
		}
	}
}

// TestSecondOrganization: a user who has joined a second organization has no only one: immediately in the process in
// which they joined, and within ten seconds in another.
func TestSecondOrganization(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.found("bob member")
	bob, other := s.as("bob"), s.process()
	far := &client{bob.Client, other}
	for _, c := range []*client{bob, far} {
		if r := c.get("/member"); r.body != id+" member" {
			t.Fatalf("bob is %d %s", r.status, r.body)
		}
	}
	s.found("bob admin")
	s.is(bob.get("/member"), "403 forbidden")
	if r := far.get("/member"); r.status == 200 && r.body != id+" member" {
		t.Errorf("bob is %s", r.body)
	}
	s.wait(10 * time.Second)
	s.is(far.get("/member"), "403 forbidden")
}

// TestAdvice: package doctor reports weaknesses of the configuration.
func TestAdvice(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(*core.Config, *organization.Options)
		want   string
	}{
		{"a good configuration", func(c *core.Config, o *organization.Options) {
			c.URL, c.Session.Strategy, o.MembershipAge = "https://app.example", core.StrategyJWT, 10*time.Second
			o.Resolver, o.PublicDomain = newZone(), func(string) bool { return false }
		}, ""},
		{"no URL", func(*core.Config, *organization.Options) {}, "programs cannot send invitations"},
		{"a long age", func(c *core.Config, o *organization.Options) {
			c.URL, c.Session.Strategy, o.MembershipAge = "https://app.example", core.StrategyJWT, time.Minute
		}, "for 1m0s"},
		{"an age without an effect", func(c *core.Config, o *organization.Options) {
			c.URL, c.Session.Strategy, o.MembershipAge = "https://app.example", core.StrategyDatabase, time.Second
		}, "no effect with database sessions"},
		{"a function without an effect", func(c *core.Config, o *organization.Options) {
			c.URL, o.PublicDomain = "https://app.example", func(string) bool { return false }
		}, "no effect without a Resolver"},
	} {
		t.Run(row.name, func(t *testing.T) {
			said := ""
			newSite(t, row.change).orgs.Advise(func(what, fix string) {
				if fix == "" {
					t.Errorf("%q has no fix", what)
				}
				said += what + "\n"
			})
			if strings.Count(said, "\n") != min(len(row.want), 1) || !strings.Contains(said, row.want) {
				t.Errorf("the advice is %q", said)
			}
		})
	}
}
