package organization_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/organization/orgkeys"
)

// together calls all functions at the same time and returns the number that succeeded.
func together(calls ...func() error) (succeeded int) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	start := make(chan struct{})
	for _, call := range calls {
		wait.Go(func() {
			<-start
			err := call()
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				succeeded++
			}
		})
	}
	close(start)
	wait.Wait()
	return succeeded
}

// consistent checks that the owners of an organization are the members with the role owner, and that there is one.
func (s *site) consistent(id string) {
	s.Helper()
	org, err := s.orgs.Get(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	if len(org.Owners) == 0 {
		s.Error("no owner is left")
	}
	for _, who := range people {
		m, err := s.orgs.MemberOf(s.Context(), id, who)
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			s.Fatal(err)
		}
		if owner := err == nil && m.Role == organization.Owner; owner != slices.Contains(org.Owners, who) {
			s.Errorf("%s: role owner is %t, the owners are %v", who, owner, org.Owners)
		}
	}
}

// TestRaces makes contradictory changes at the same time, in two processes.
func TestRaces(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	other := s.process()
	ctx := t.Context()
	t.Run("two owners leave", func(t *testing.T) {
		for range 20 {
			id := s.found("bob owner")
			n := together(func() error { return s.orgs.Remove(ctx, id, "ada") },
				func() error { return other.orgs.Remove(ctx, id, "bob") })
			if n != 1 {
				t.Fatalf("%d left, want 1", n)
			}
			s.consistent(id)
			_ = s.orgs.Delete(ctx, id)
		}
	})
	t.Run("an owner is demoted while another transfers", func(t *testing.T) {
		for range 20 {
			id := s.found("bob owner", "kim member")
			together(func() error { return s.orgs.SetRole(ctx, id, "bob", organization.Member) },
				func() error { return other.orgs.TransferOwnership(ctx, id, "bob", "kim") },
				func() error { return other.orgs.Remove(ctx, id, "ada") })
			s.consistent(id)
			_ = s.orgs.Delete(ctx, id)
		}
	})
	t.Run("a member is removed while becoming an owner", func(t *testing.T) {
		for range 20 {
			id := s.found("bob admin")
			together(func() error { return s.orgs.Remove(ctx, id, "bob") },
				func() error { return other.orgs.SetRole(ctx, id, "bob", organization.Owner) },
				func() error { return other.orgs.Remove(ctx, id, "ada") })
			s.consistent(id)
			_ = s.orgs.Delete(ctx, id)
		}
	})
	t.Run("one invitation is accepted 50 times", func(t *testing.T) {
		id := s.found()
		s.is(s.as("ada").post("invite", "organization", id, "email", "eve@example.com", "role", "member"), "200")
		token := s.link()
		var calls []func() error
		for i := range 50 {
			at := []*site{s, other}[i%2]
			calls = append(calls, func() error { _, err := at.orgs.Accept(ctx, token, "eve"); return err })
		}
		if n := together(calls...); n != 1 {
			t.Errorf("%d accepts succeeded, want 1", n)
		}
	})
	t.Run("an invitation is accepted while it is revoked", func(t *testing.T) {
		for range 20 {
			id := s.found()
			s.is(s.as("ada").post("invite", "organization", id, "email", "kim@example.com", "role", "member"), "200")
			token := s.link()
			all, err := s.orgs.Invitations(ctx, id)
			if err != nil || len(all) != 1 {
				t.Fatal(err)
			}
			n := together(func() error { _, err := other.orgs.Accept(ctx, token, "kim"); return err },
				func() error { return s.orgs.RevokeInvitation(ctx, id, all[0].ID) })
			if n != 1 {
				t.Errorf("%d succeeded, want 1", n)
			}
			_ = s.orgs.Delete(ctx, id)
		}
	})
	t.Run("users take the last seat, and the organization is deleted", func(t *testing.T) {
		full := s.process(func(_ *core.Config, o *organization.Options) { o.MaxMembers = 2 })
		for i := range 20 {
			id := s.found()
			calls := []func() error{
				func() error { return full.orgs.Add(ctx, id, "bob", organization.Member) },
				func() error { return full.orgs.Add(ctx, id, "kim", organization.Member) },
			}
			if i%2 == 1 {
				calls = append(calls, func() error { return s.orgs.Delete(ctx, id) })
			}
			together(calls...)
			if i%2 == 0 {
				if all, _, err := s.orgs.Members(ctx, id, "", 10); err != nil || len(all) > 2 {
					t.Errorf("the members are %+v, %v", all, err)
				}
				_ = s.orgs.Delete(ctx, id)
			}
			for _, who := range people {
				if _, err := s.orgs.MemberOf(ctx, id, who); !errors.Is(err, core.ErrNotFound) {
					t.Errorf("%s is a member of a deleted organization: %v", who, err)
				}
			}
		}
	})
	t.Run("a slug is taken by two organizations", func(t *testing.T) {
		found := func(at *site, who string) func() error {
			return func() error {
				_, err := at.orgs.Create(ctx, organization.NewOrganization{OwnerID: who, Name: "Same", Slug: "same"})
				return err
			}
		}
		if n := together(found(s, "ada"), found(other, "bob"), found(s, "kim")); n != 1 {
			t.Errorf("%d organizations have the slug, want 1", n)
		}
	})
}

// TestPromotedWhileRemoved makes a member an owner between the steps of a removal: the member stays.
func TestPromotedWhileRemoved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.found("bob admin")
	bobLeaves := make(chan error, 1)
	s.rows.after("organization", func() { // the promotion has written the owners, and not the membership
		bobLeaves <- s.orgs.Remove(t.Context(), id, "ada")
	})
	if err := s.orgs.SetRole(t.Context(), id, "bob", organization.Owner); err != nil {
		t.Fatal(err)
	}
	if err := <-bobLeaves; err != nil && !errors.Is(err, organization.ErrLastOwner) {
		t.Errorf("bob leaves: %v", err)
	}
	s.consistent(id)

	id = s.found("kim admin")
	kim := s.as("kim")
	s.rows.after("organization-member", func() { // the removal has taken the role
		if err := s.orgs.SetRole(t.Context(), id, "kim", organization.Owner); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a member who is being removed became an owner: %v", err)
		}
		s.is(kim.get("/member", "X-Organization", id), "403 forbidden")
	})
	if err := s.orgs.Remove(t.Context(), id, "kim"); err != nil {
		t.Fatal(err)
	}
	s.consistent(id)
}

// TestFaults fails writes of the store. A user who was not a member must not be one then, and a repeated call finishes
// the change.
func TestFaults(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, fault := range []string{
		"create organization-member", "update organization-member", "create organization", "create organization-slug",
	} {
		t.Run("create, "+fault, func(t *testing.T) {
			s := newSite(t)
			s.rows.failing(fault)
			if _, err := s.orgs.Create(ctx, organization.NewOrganization{OwnerID: "ada", Name: "A", Slug: "aa"}); err == nil {
				t.Fatal("it succeeded")
			}
			s.rows.failing("")
			if all, err := s.orgs.Of(ctx, "ada"); err != nil || len(all) != 0 {
				t.Errorf("the organizations are %+v, %v", all, err)
			}
			if _, err := s.orgs.Create(ctx, organization.NewOrganization{OwnerID: "ada", Name: "A", Slug: "aa"}); err != nil {
				t.Error(err)
			}
		})
	}
	s := newSite(t)
	for _, fault := range []string{"update organization", "update organization-member", "delete organization-member"} {
		t.Run("remove, "+fault, func(t *testing.T) {
			id := s.found("bob owner")
			s.rows.failing(fault)
			if err := s.orgs.Remove(ctx, id, "ada"); err == nil {
				t.Error("it succeeded")
			}
			s.rows.failing("")
			if err := s.orgs.Remove(ctx, id, "ada"); err != nil && !errors.Is(err, core.ErrNotFound) {
				t.Error(err)
			}
			if _, err := s.orgs.MemberOf(ctx, id, "ada"); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("the removed member is %v", err)
			}
			s.consistent(id)
			if err := s.orgs.Delete(ctx, id); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("accept", func(t *testing.T) {
		id := s.found()
		s.is(s.as("ada").post("invite", "organization", id, "email", "kim@example.com", "role", "member"), "200")
		token := s.link()
		s.rows.failing("update organization-member")
		if _, err := s.orgs.Accept(ctx, token, "kim"); err == nil {
			t.Error("it succeeded")
		}
		s.rows.failing("")
		if _, err := s.orgs.MemberOf(ctx, id, "kim"); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("the member is %v", err)
		}
		if _, err := s.orgs.Accept(ctx, token, "kim"); err != nil {
			t.Errorf("the invitation is lost: %v", err)
		}
	})
	t.Run("delete", func(t *testing.T) {
		id, other := s.found("bob member"), s.process()
		bob := s.as("bob")
		far := &client{bob.Client, other}
		s.is(bob.get("/member", "X-Organization", id), "200")
		s.is(far.get("/member", "X-Organization", id), "200")
		s.rows.failing("delete organization-member")
		if err := s.orgs.Delete(ctx, id); err == nil {
			t.Error("it succeeded")
		}
		s.rows.failing("")
		if _, err := s.orgs.Get(ctx, id); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("the organization is there: %v", err)
		}
		s.is(bob.get("/member", "X-Organization", id), "403 forbidden")
		s.wait(10 * time.Second)
		s.is(far.get("/member", "X-Organization", id), "403 forbidden")
		s.is(far.get("/member"), "403 forbidden")
		if err := s.orgs.FinishDeletions(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.orgs.MemberOf(ctx, id, "bob"); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("the membership is %v", err)
		}
	})
}

// TestKills kills the process after each write of a change. No user who was not a member passes a guard then, an owner
// is left, and another process can repeat the change.
func TestKills(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx := t.Context()
	for _, change := range []struct {
		name string
		run  func(p *organization.Organizations, id, token string) error
		// done is the role of bob afterwards.
		done string
	}{
		{"accept", func(p *organization.Organizations, _, token string) error {
			_, err := p.Accept(ctx, token, "kim")
			return err
		}, organization.Admin},
		{"promote", func(p *organization.Organizations, id, _ string) error {
			return p.SetRole(ctx, id, "bob", organization.Owner)
		}, organization.Owner},
		{"transfer", func(p *organization.Organizations, id, _ string) error {
			return p.TransferOwnership(ctx, id, "ada", "bob")
		}, organization.Owner},
		{"remove", func(p *organization.Organizations, id, _ string) error { return p.Remove(ctx, id, "bob") }, ""},
		{"delete", func(p *organization.Organizations, id, _ string) error { return p.Delete(ctx, id) }, ""},
	} {
		t.Run(change.name, func(t *testing.T) {
			for writes, finished := 0, false; !finished; writes++ {
				id := s.found("bob admin")
				ada := s.as("ada")
				s.is(ada.post("invite", "organization", id, "email", "kim@example.com", "role", "member"), "200")
				token := s.link()
				rows := &counted{Store: s.rows.Store, dies: true, left: writes}
				dying := s.process(func(c *core.Config, _ *organization.Options) { c.Store = rows })
				finished = change.run(dying.orgs, id, token) == nil
				s.wait(time.Minute)
				if change.name != "delete" {
					s.consistent(id)
				}
				if _, err := s.orgs.MemberOf(ctx, id, "eve"); !errors.Is(err, core.ErrNotFound) {
					t.Errorf("after %d writes eve is a member: %v", writes, err)
				}
				err := change.run(s.orgs, id, token)
				if err != nil && !errors.Is(err, core.ErrNotFound) && !errors.Is(err, organization.ErrMember) {
					t.Errorf("after %d writes it cannot be repeated: %v", writes, err)
				}
				m, err := s.orgs.MemberOf(ctx, id, "bob")
				if change.done == "" && !errors.Is(err, core.ErrNotFound) || change.done != "" &&
					(err != nil || m.Role != change.done) {
					t.Errorf("after %d writes bob is %+v, %v", writes, m, err)
				}
				_ = s.orgs.Delete(ctx, id)
			}
		})
	}
}

// TestKilledJoining kills the process after each write of a request to join, its acceptance or refusal, a verification
// and a deletion. No user gets more than was decided, and another process can repeat the change.
func TestKilledJoining(t *testing.T) {
	t.Parallel()
	s := newKeySite(t, core.StrategyJWT)
	ctx := t.Context()
	zone := newZone()
	sharing := func(rows core.Store) func(*core.Config, *organization.Options) {
		return func(c *core.Config, o *organization.Options) {
			c.Store, o.Resolver = rows, zone
			keys := apikey.New(apikey.Options{Prefix: "acme", Scopes: []apikey.Scope{{Name: "invoice:write"}}})
			o.Keys = orgkeys.Of(keys)
			c.Plugins = []core.Plugin{keys}
		}
	}
	first := func(p *organization.Organizations, id string) (string, error) {
		all, err := p.JoinRequests(ctx, id)
		if err != nil || len(all) == 0 {
			return "none", err
		}
		return all[0].ID, nil
	}
	healthy := s.process(sharing(s.rows))
	for _, change := range []struct {
		name string
		run  func(p *organization.Organizations, id string) error
		// done checks the result of the repeated change.
		done func(id string) error
	}{
		{"request", func(p *organization.Organizations, id string) error {
			_, err := p.RequestToJoin(ctx, id, "kim")
			return err
		}, func(id string) error {
			if all, err := healthy.orgs.JoinRequests(ctx, id); err != nil || len(all) != 2 {
				return fmt.Errorf("the requests are %v, %w", all, err)
			}
			return nil
		}},
		{"accept", func(p *organization.Organizations, id string) error {
			own, err := first(p, id)
			if err == nil {
				_, err = p.AcceptRequest(ctx, id, own, "accountant")
			}
			return err
		}, func(id string) error {
			if m, err := healthy.orgs.MemberOf(ctx, id, "eve"); err != nil || m.Role != "accountant" {
				return fmt.Errorf("eve is %+v, %w", m, err)
			}
			return nil
		}},
		{"decline", func(p *organization.Organizations, id string) error {
			own, err := first(p, id)
			if err == nil {
				_, err = p.DeclineRequest(ctx, id, own)
			}
			return err
		}, func(id string) error {
			if own, err := first(healthy.orgs, id); err != nil || own != "none" {
				return fmt.Errorf("the request is %s, %w", own, err)
			}
			return nil
		}},
		{"verify", func(p *organization.Organizations, id string) error {
			_, err := p.VerifyDomain(ctx, id, "killed.example")
			return err
		}, func(id string) error {
			if all, err := healthy.orgs.Domains(ctx, id); err != nil || len(all) != 1 || !all[0].Verified {
				return fmt.Errorf("the domains are %v, %w", all, err)
			}
			return nil
		}},
		{"delete", func(p *organization.Organizations, id string) error { return p.Delete(ctx, id) }, func(id string) error {
			for _, kind := range []string{
				"organization-request", "organization-domain", "organization-reported", "api-key", "organization-member",
			} {
				if left, _, err := s.rows.ListRecords(ctx, kind, "", "", 100); err != nil || len(left) != 0 {
					return fmt.Errorf("%d records of the kind %s are left, %w", len(left), kind, err)
				}
			}
			return nil
		}},
	} {
		t.Run(change.name, func(t *testing.T) {
			for writes, finished := 0, false; !finished; writes++ {
				id := s.found("bob keeper")
				d, err := healthy.orgs.ClaimDomain(ctx, id, "killed.example", "accountant", false)
				if err == nil {
					zone.set(func() { zone.records = map[string][]string{"_organization.killed.example": {d.Value}} })
					err = healthy.orgs.SetJoinRequests(ctx, id, true)
				}
				if err == nil {
					_, err = healthy.orgs.RequestToJoin(ctx, id, "eve")
				}
				if err != nil {
					t.Fatal(err)
				}
				key := s.create(s.as("bob"), id)
				rows := &counted{Store: s.rows.Store, dies: true, left: writes}
				dying := s.process(sharing(rows))
				finished = change.run(dying.orgs, id) == nil
				s.wait(time.Minute)
				if change.name != "delete" {
					s.consistent(id)
				}
				if _, err := healthy.orgs.MemberOf(ctx, id, "kim"); !errors.Is(err, core.ErrNotFound) {
					t.Errorf("after %d writes kim is a member: %v", writes, err)
				}
				m, err := healthy.orgs.MemberOf(ctx, id, "eve")
				if err == nil && (change.name != "accept" || m.Role != "accountant") {
					t.Errorf("after %d writes eve is %s", writes, m.Role)
				}
				err = change.run(healthy.orgs, id)
				if err != nil && !errors.Is(err, core.ErrNotFound) && !errors.Is(err, organization.ErrRequested) &&
					!errors.Is(err, organization.ErrMember) {
					t.Errorf("after %d writes it cannot be repeated: %v", writes, err)
				}
				if change.done != nil {
					if err := change.done(id); err != nil {
						t.Errorf("after %d writes: %v", writes, err)
					}
				}
				if err := healthy.orgs.Delete(ctx, id); err != nil && !errors.Is(err, core.ErrNotFound) {
					t.Fatal(err)
				}
				if r := s.call("/api", key.Key); r.status != 401 {
					t.Errorf("after %d writes, a key of the deleted organization: %s", writes, r.code())
				}
			}
		})
	}
}

// model is the expected state after a history of calls.
type model struct {
	roles   map[string]map[string]string // by organization and user
	invited map[string][3]string         // by token: organization, user, role
}

func (m *model) owners(id string) (n int) {
	for _, role := range m.roles[id] {
		if role == organization.Owner {
			n++
		}
	}
	return n
}

// TestModel runs random histories in two processes, and compares each guard with a model after every step: only members
// pass, with their role, and an organization always has an owner.
func TestModel(t *testing.T) {
	t.Parallel()
	const steps = 400
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			sites := []*site{s, s.process()}
			clients := map[string][]*client{}
			for _, who := range people {
				c := s.as(who)
				clients[who] = []*client{c, {c.Client, sites[1]}}
			}
			m := &model{map[string]map[string]string{}, map[string][3]string{}}
			random := rand.New(rand.NewPCG(seed, 42))
			pick := func(all []string) string { return all[random.IntN(len(all))] }
			var ids []string
			for range steps {
				at, who := sites[random.IntN(2)], pick(people)
				id := ""
				if len(ids) > 0 {
					id = pick(ids)
				}
				m.step(at, random, clients, &ids, id, who, pick(people))
				if len(ids) == 0 {
					continue
				}
				id, who = pick(ids), pick(people)
				c, role := clients[who][random.IntN(2)], m.roles[id][who]
				want := map[bool]string{true: "200", false: "403 forbidden"}
				s.is(c.get("/member", "X-Organization", id), want[role != ""])
				s.is(c.get("/admins", "X-Organization", id), want[role == "owner" || role == "admin"])
				s.is(c.get("/invoices", "X-Organization", id), want[role == "owner" || role == "accountant"])
				if m.roles[id] != nil && m.owners(id) == 0 {
					t.Fatal("no owner is left")
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// step makes one change, and applies it to the model if it succeeds.
func (m *model) step(
	at *site, random *rand.Rand, clients map[string][]*client, ids *[]string, id, who, other string,
) {
	at.Helper()
	c := &client{clients[who][0].Client, at}
	role := []string{"owner", "admin", "member", "accountant", "lead"}[random.IntN(5)]
	ok := func(r reply) bool { return r.status == 200 }
	mine := m.roles[id][who]
	switch action := random.IntN(9); {
	case action == 0 && len(*ids) < 8:
		if org, err := at.orgs.Create(at.Context(), organization.NewOrganization{OwnerID: who, Name: "Acme"}); err == nil {
			*ids = append(*ids, org.ID)
			m.roles[org.ID] = map[string]string{who: organization.Owner}
		}
	case id == "":
	case action == 1 && ok(c.post("invite", "organization", id, "email", other+"@example.com", "role", role)):
		if mine != "owner" && mine != "admin" && mine != "lead" || role == "owner" {
			at.Errorf("%s (%s) has invited as %s", who, mine, role)
		}
		for token, i := range m.invited {
			if i[0] == id && i[1] == other {
				delete(m.invited, token)
			}
		}
		m.invited[at.link()] = [3]string{id, other, role}
	case action <= 3:
		for token, i := range m.invited {
			c := &client{clients[i[1]][0].Client, at}
			if _, err := at.orgs.Accept(at.Context(), token, who); err == nil && who != i[1] {
				at.Errorf("%s has accepted the invitation of %s", who, i[1])
			} else if err == nil || ok(c.post("accept", "token", token)) {
				if m.roles[i[0]] == nil || m.roles[i[0]][i[1]] != "" {
					at.Errorf("%s has joined a deleted organization, or again", i[1])
					return
				}
				m.roles[i[0]][i[1]] = i[2]
				delete(m.invited, token)
			}
			break
		}
	case action == 4 && ok(c.post("role", "organization", id, "user", other, "role", role)):
		if mine != "owner" && (role == "owner" || m.roles[id][other] == "owner") {
			at.Errorf("%s (%s) has made %s (%s) %s", who, mine, other, m.roles[id][other], role)
		}
		m.roles[id][other] = role
	case action == 5 && ok(c.post("remove", "organization", id, "user", other)):
		if mine != "owner" && m.roles[id][other] == "owner" || mine == "" {
			at.Errorf("%s (%s) has removed %s (%s)", who, mine, other, m.roles[id][other])
		}
		delete(m.roles[id], other)
	case action == 6 && ok(c.post("leave", "organization", id)):
		delete(m.roles[id], who)
	case action == 7 && ok(c.post("transfer", "organization", id, "user", other)):
		if mine != "owner" || m.roles[id][other] == "" {
			at.Errorf("%s (%s) has transferred to %s", who, mine, other)
		}
		m.roles[id][who], m.roles[id][other] = "admin", "owner"
	case action == 8 && random.IntN(6) == 0:
		org, err := at.orgs.Get(at.Context(), id)
		if err == nil && ok(c.post("delete", "organization", id, "confirm", org.Slug)) {
			if mine != "owner" {
				at.Errorf("%s (%s) has deleted the organization", who, strings.TrimSpace(mine))
			}
			delete(m.roles, id)
		}
	}
}
