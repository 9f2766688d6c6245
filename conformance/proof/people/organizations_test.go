package people_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/organization/orgkeys"
)

// orgSite is an application with organizations in two processes that share a store.
type orgSite struct {
	*factorSite
	orgs  [2]*organization.Organizations
	ids   map[string]string // of users, by name
	names []string
	seats int
	zone  txtRecords
	keys  [2]*apikey.Keys
	links struct {
		sync.Mutex
		last string // the token of the last invitation
	}
}

// Send implements [core.Mailer].
func (s *orgSite) Send(_ context.Context, e core.Email) error {
	if _, token, ok := strings.Cut(string(e.URL), "accept?token="); ok {
		s.links.Lock()
		defer s.links.Unlock()
		s.links.last = token
	}
	return nil
}

func newOrgSite(t *testing.T, kept core.Store, strategy core.Strategy, ada *core.User) *orgSite {
	t.Helper()
	s := &orgSite{
		factorSite: &factorSite{T: t, now: time.Now().UTC().Truncate(time.Second)},
		ids:        map[string]string{"ada": ada.ID}, names: []string{"ada", "bob", "eve", "kim"}, seats: 100,
	}
	for _, name := range s.names[1:] {
		u, err := kept.CreateUser(t.Context(), &core.User{
			ID: core.NewID(), Email: name + "@example.com", EmailVerified: s.now,
		})
		check(t, err)
		s.ids[name] = u.ID
	}
	for i := range s.auths {
		s.keys[i] = apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "invoice:write"}}, MaxKeys: 100})
		s.orgs[i] = organization.New(organization.Options{
			Mail: s, Resolver: &s.zone, Keys: orgkeys.Of(s.keys[i]), Roles: []organization.Role{
				{Name: organization.Admin, Permissions: []string{organization.WriteKeys, "invoice:write"}},
			},
			Select: func(r *core.Request) string { return r.Header.Get("X-Organization") },
			Seats:  func(context.Context, *organization.Organization) (int, error) { return s.seats, nil },
		})
		auth, err := core.New(core.Config{
			URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
			Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, InsecureNoLimits: true,
			Now:    func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now },
			Logger: slog.New(slog.DiscardHandler), Session: core.SessionConfig{Strategy: strategy},
			Providers: []core.Provider{&core.CredentialsProvider{
				Authorize: func(ctx context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
					return kept.UserByEmail(ctx, form["email"])
				},
			}},
			Plugins: []core.Plugin{s.orgs[i], s.keys[i], account.New(account.Options{Delete: s.orgs[i].ForgetUser})},
		})
		check(t, err)
		s.auths[i] = auth
	}
	return s
}

// found creates an organization of ada with the other members, as "bob owner".
func (s *orgSite) found(members ...string) string {
	s.Helper()
	org, err := s.orgs[0].Create(s.Context(), organization.NewOrganization{OwnerID: s.ids["ada"], Name: "Acme"})
	check(s.T, err)
	for _, m := range members {
		name, role, _ := strings.Cut(m, " ")
		check(s.T, s.orgs[1].Add(s.Context(), org.ID, s.ids[name], organization.Member))
		if role != organization.Member {
			check(s.T, s.orgs[0].SetRole(s.Context(), org.ID, s.ids[name], role))
		}
	}
	return org.ID
}

// invite returns the token of an invitation.
func (s *orgSite) invite(process int, id, name, role string) (string, error) {
	s.Helper()
	_, err := s.orgs[process%2].Invite(s.Context(), organization.NewInvitation{
		OrganizationID: id, Email: name + "@example.com", Role: role,
	})
	if err != nil {
		return "", err
	}
	check(s.T, s.auths[process%2].FlushMail(s.Context()))
	s.links.Lock()
	defer s.links.Unlock()
	return s.links.last, nil
}

// role returns the roles whose guards a user passes in a process.
func (s *orgSite) role(b *factorBrowser, id string) string {
	s.Helper()
	role := ""
	for _, each := range []string{organization.Owner, organization.Admin, organization.Member} {
		i := slices.Index(s.auths[:], b.auth)
		r := &core.Request{
			Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: "192.0.2.7:4711",
			Header: http.Header{"X-Organization": {id}},
		}
		for name, value := range b.cookies {
			r.Header.Set("Cookie", r.Header.Get("Cookie")+name+"="+value+"; ")
		}
		_, refused := b.auth.Visit(s.Context(), r).Require(s.orgs[i].Role(each))
		switch {
		case refused == nil:
			role += each
		case refused.Status != http.StatusForbidden:
			s.Fatalf("the guard answered %d %s: %v", refused.Status, refused.Body, refused.Err)
		}
	}
	return role
}

// consistent checks that the owners of an organization are the members with the role owner, and that there is one.
func (s *orgSite) consistent(id string) {
	s.Helper()
	org, err := s.orgs[0].Get(s.Context(), id)
	check(s.T, err)
	if len(org.Owners) == 0 {
		s.Error("no owner is left")
	}
	for name, user := range s.ids {
		m, err := s.orgs[1].MemberOf(s.Context(), id, user)
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			s.Fatal(err)
		}
		if owner := err == nil && m.Role == organization.Owner; owner != slices.Contains(org.Owners, user) {
			s.Errorf("%s: role owner is %t, the owners are %v", name, owner, org.Owners)
		}
	}
}

// TestOrganizations makes contradictory changes at the same time, and runs a random history, on the store of each
// database, with both strategies and in two processes.
func TestOrganizations(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, ada *core.User) {
		s := newOrgSite(t, kept, strategy, ada)
		s.race()
		s.history(uint64(len(strategy)))
	})
}

func (s *orgSite) race() {
	ctx, ada, bob, kim := s.Context(), s.ids["ada"], s.ids["bob"], s.ids["kim"]
	a, b := s.orgs[0], s.orgs[1]
	for range 4 {
		id := s.found("bob owner")
		if n := together(2, func(i int) bool {
			return s.orgs[i].Remove(ctx, id, []string{ada, bob}[i]) == nil
		}); n != 1 {
			s.Errorf("%d of two owners left, want 1", n)
		}
		s.consistent(id)
		check(s.T, a.Delete(ctx, id))

		id = s.found("bob owner", "kim member")
		together(3, func(i int) bool {
			switch i {
			case 0:
				return a.SetRole(ctx, id, bob, organization.Member) == nil
			case 1:
				return b.TransferOwnership(ctx, id, bob, kim) == nil
			}
			return b.Remove(ctx, id, ada) == nil
		})
		s.consistent(id)
		check(s.T, b.Delete(ctx, id))

		id = s.found("bob admin")
		together(3, func(i int) bool {
			switch i {
			case 0:
				return a.Remove(ctx, id, bob) == nil
			case 1:
				return b.SetRole(ctx, id, bob, organization.Owner) == nil
			}
			return b.Remove(ctx, id, ada) == nil
		})
		s.consistent(id)
		check(s.T, a.Delete(ctx, id))
	}

	id := s.found()
	token, err := s.invite(0, id, "kim", organization.Member)
	check(s.T, err)
	if n := together(20, func(i int) bool {
		_, err := s.orgs[i%2].Accept(ctx, token, kim)
		return err == nil
	}); n != 1 {
		s.Errorf("an invitation was accepted %d times, want once", n)
	}
	s.seats = 3
	if n := together(2, func(i int) bool {
		return s.orgs[i].Add(ctx, id, []string{bob, s.ids["eve"]}[i], organization.Member) == nil
	}); n > 1 {
		s.Errorf("%d users have taken the last seat", n)
	}
	s.seats = 100
	if n := together(2, func(i int) bool {
		_, err := s.orgs[i].Create(ctx, organization.NewOrganization{OwnerID: ada, Name: "Same", Slug: "same"})
		return err == nil
	}); n != 1 {
		s.Errorf("%d organizations have one slug, want 1", n)
	}
	together(3, func(i int) bool {
		switch i {
		case 0:
			return a.Delete(ctx, id) == nil
		case 1:
			return b.Add(ctx, id, bob, organization.Member) == nil
		}
		return b.Remove(ctx, id, kim) == nil
	})
	for name, user := range s.ids {
		if _, err := b.MemberOf(ctx, id, user); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("%s is a member of a deleted organization: %v", name, err)
		}
	}
}

// history makes random changes, and compares the guards of both processes with a model after each.
func (s *orgSite) history(seed uint64) {
	const steps = 60
	random := rand.New(rand.NewPCG(seed, 42))
	browsers := map[string][2]*factorBrowser{}
	for _, name := range s.names {
		first := s.browse(0)
		first.signIn(name + "@example.com")
		if !first.signedIn() {
			s.Fatalf("%s is not signed in", name)
		}
		browsers[name] = [2]*factorBrowser{first, {s.factorSite, s.auths[1], first.cookies}}
	}
	roles := map[string]map[string]string{} // by organization and name
	var ids []string
	for range steps {
		process, name := random.IntN(2), s.names[random.IntN(4)]
		if len(ids) < 2 {
			org, err := s.orgs[process].Create(s.Context(), organization.NewOrganization{OwnerID: s.ids[name], Name: "A"})
			check(s.T, err)
			ids, roles[org.ID] = append(ids, org.ID), map[string]string{name: organization.Owner}
		}
		id := ids[random.IntN(len(ids))]
		what := s.change(process, random, roles[id], id, name)
		if what == "delete" {
			ids = slices.DeleteFunc(ids, func(each string) bool { return each == id })
			delete(roles, id)
		}
		for at := range 2 {
			for _, each := range s.names {
				if got, want := s.role(browsers[each][at], id), roles[id][each]; got != want {
					text, _ := json.Marshal(roles[id])
					s.Fatalf("after %s of %s in process %d: in process %d %s is %q, want %q: %s", what, name, process, at, each,
						got, want, text)
				}
			}
		}
	}
}

// change makes one change, and applies it to the expected roles if it must succeed. Otherwise it must fail.
func (s *orgSite) change(process int, random *rand.Rand, roles map[string]string, id, name string) (what string) {
	s.Helper()
	ctx, orgs, user := s.Context(), s.orgs[process], s.ids[name]
	other := s.names[random.IntN(4)]
	role := []string{organization.Owner, organization.Admin, organization.Member}[random.IntN(3)]
	last := roles[name] == organization.Owner
	for each, r := range roles {
		last = last && (each == name || r != organization.Owner)
	}
	var err error
	want := roles[name] != ""
	switch random.IntN(12) {
	case 0, 1, 2, 3:
		what, want = "accept", roles[name] == "" && role != organization.Owner
		var token string
		if token, err = s.invite(process, id, name, role); err == nil {
			if _, stolen := s.orgs[1-process].Accept(ctx, token, s.ids[other]); stolen == nil && other != name {
				s.Errorf("%s has accepted the invitation of %s", other, name)
			} else if other != name || stolen != nil {
				_, err = s.orgs[1-process].Accept(ctx, token, user)
			}
		}
		if want {
			roles[name] = role
		}
	case 4, 5, 6:
		what, want = "role "+role, want && (role == organization.Owner || !last)
		if err = orgs.SetRole(ctx, id, user, role); want {
			roles[name] = role
		}
	case 7, 8:
		what, want = "remove", want && !last
		if err = orgs.Remove(ctx, id, user); want {
			delete(roles, name)
		}
	case 9:
		what = "transfer to " + other
		want = roles[name] == organization.Owner && other != name && roles[other] != ""
		if err = orgs.TransferOwnership(ctx, id, user, s.ids[other]); want {
			roles[name], roles[other] = organization.Admin, organization.Owner
		}
	case 10:
		what, want = "delete", true
		err = orgs.Delete(ctx, id)
	default:
		return "nothing"
	}
	if want != (err == nil) {
		s.Errorf("%s of %s: %v, the roles were %v", what, name, err, fmt.Sprint(roles))
	}
	return what
}
