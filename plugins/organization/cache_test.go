package organization_test

import (
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
