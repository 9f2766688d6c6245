package people_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// txtRecords is a Resolver. Its result is that of the last call of set.
type txtRecords struct {
	mu    sync.Mutex
	value string
	err   error
}

func (z *txtRecords) set(value string, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.value, z.err = value, err
}

// LookupTXT implements [organization.Resolver].
func (z *txtRecords) LookupTXT(context.Context, string) ([]string, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	return []string{z.value}, z.err
}

// TestOrganizationJoining runs random histories of requests to join, verified domains and API keys, on the store of
// each database, with both strategies and in two processes. After each step it compares all guards with a model.
func TestOrganizationJoining(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, ada *core.User) {
		s := newOrgSite(t, kept, strategy, ada)
		s.joinRaces()
		s.joinHistory(uint64(len(strategy)))
	})
}

// joinRaces makes contradictory changes at the same time in two processes.
func (s *orgSite) joinRaces() {
	ctx, bob := s.Context(), s.ids["bob"]
	id := s.found("kim admin")
	check(s.T, s.orgs[0].SetJoinRequests(ctx, id, true))
	if n := together(10, func(i int) bool {
		_, err := s.orgs[i%2].RequestToJoin(ctx, id, bob)
		return err == nil
	}); n != 1 {
		s.Errorf("a user has made %d requests, want 1", n)
	}
	all, err := s.orgs[1].JoinRequests(ctx, id)
	check(s.T, err)
	if len(all) != 1 {
		s.Fatalf("%d requests are pending", len(all))
	}
	if n := together(10, func(i int) bool {
		if i%3 == 0 {
			_, err := s.orgs[i%2].DeclineRequest(ctx, id, all[0].ID)
			return err == nil
		}
		_, err := s.orgs[i%2].AcceptRequest(ctx, id, all[0].ID, organization.Member)
		return err == nil
	}); n != 1 {
		s.Errorf("a request was accepted or declined %d times, want once", n)
	}

	// Two organizations verify one domain.
	other := s.found()
	var claims [2]*organization.Domain
	for i, each := range []string{id, other} {
		claims[i], err = s.orgs[i].ClaimDomain(ctx, each, "raced.example", organization.Member, false)
		check(s.T, err)
	}
	s.zone.set(claims[0].Value, nil)
	_, err = s.orgs[0].VerifyDomain(ctx, id, "raced.example")
	check(s.T, err)
	if _, err := s.orgs[1].VerifyDomain(ctx, other, "raced.example"); err == nil {
		s.Error("a domain was verified with the record of another organization")
	}
	s.zone.set(claims[1].Value, nil)
	s.wait(10 * time.Second)
	if n := together(6, func(i int) bool {
		_, err := s.orgs[i%2].VerifyDomain(ctx, other, "raced.example")
		return err == nil
	}); n != 1 {
		s.Errorf("a domain was verified %d times at once, want once", n)
	}
	check(s.T, s.orgs[0].Delete(ctx, id))
	check(s.T, s.orgs[1].Delete(ctx, other))
}

// joined is the expected state of an organization with a claimed domain.
type joined struct {
	id, domain         string
	roles              map[string]string
	pending, declined  map[string]bool
	left               map[string]bool // may not join by the domain
	allowed, verified  bool
	keys               map[string]string // texts by ID
	revoked            []string
	browsers           map[string][2]*factorBrowser
	claim, description string
}

// joinHistory makes random changes.
func (s *orgSite) joinHistory(seed uint64) {
	const steps = 50
	random := rand.New(rand.NewPCG(seed, 7))
	m := &joined{
		id: s.found(), domain: "example.com", roles: map[string]string{"ada": organization.Owner},
		pending: map[string]bool{}, declined: map[string]bool{}, left: map[string]bool{}, keys: map[string]string{},
		browsers: map[string][2]*factorBrowser{},
	}
	d, err := s.orgs[0].ClaimDomain(s.Context(), m.id, m.domain, organization.Member, false)
	check(s.T, err)
	m.claim = d.Value
	for _, name := range s.names {
		first := s.browse(0)
		first.signIn(name + "@example.com")
		m.browsers[name] = [2]*factorBrowser{first, {s.factorSite, s.auths[1], first.cookies}}
	}
	for range steps {
		s.joinStep(m, random)
		s.compareJoined(m)
	}
	check(s.T, s.orgs[random.IntN(2)].Delete(s.Context(), m.id))
	s.wait(10 * time.Second)
	m.roles, m.description = nil, "the deletion"
	for _, text := range m.keys {
		m.revoked = append(m.revoked, text)
	}
	m.keys = nil
	s.compareJoined(m)
	for i := range s.keys {
		if left, err := s.keys[i].OfService(s.Context(), m.id); err != nil || len(left) != 0 {
			s.Errorf("%d keys are left after the deletion, %v", len(left), err)
		}
	}
}

// compareJoined compares the guards of both processes with the model.
func (s *orgSite) compareJoined(m *joined) {
	s.Helper()
	for at := range 2 {
		for _, name := range s.names {
			if got := s.role(m.browsers[name][at], m.id); got != m.roles[name] {
				s.Fatalf("after %s: in process %d %s is %q, want %q", m.description, at, name, got, m.roles[name])
			}
		}
		for id, text := range m.keys {
			if status := s.call(at, text, m.id); status != http.StatusOK {
				s.Fatalf("after %s: in process %d the key %s is refused with %d", m.description, at, id, status)
			}
			if status := s.call(at, text, "org_0000000000000000000000"); status != http.StatusForbidden {
				s.Fatalf("after %s: a key for another organization: %d", m.description, status)
			}
		}
		for _, text := range m.revoked {
			if status := s.call(at, text, m.id); status != http.StatusUnauthorized && status != http.StatusForbidden {
				s.Fatalf("after %s: in process %d a revoked key is accepted: %d", m.description, at, status)
			}
		}
	}
}

// call returns the status of a request with an API key.
func (s *orgSite) call(process int, key, organizationID string) int {
	s.Helper()
	r := &core.Request{
		Method: "GET", Target: "/api", Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: "192.0.2.7:4711",
		Header: http.Header{"X-Organization": {organizationID}, "Authorization": {"Bearer " + key}},
	}
	may := s.orgs[process].PermissionOrScope("invoice:write")
	_, refused := s.auths[process].Visit(s.Context(), r).RequirePrincipal(may)
	if refused == nil {
		return http.StatusOK
	}
	return refused.Status
}

// joinStep makes one change. It must succeed if the model says so, and otherwise fail.
func (s *orgSite) joinStep(m *joined, random *rand.Rand) {
	s.Helper()
	process := random.IntN(2)
	ctx, orgs, name := s.Context(), s.orgs[process], s.names[random.IntN(4)]
	user, browser, role := s.ids[name], m.browsers[name][process], m.roles[name]
	manages := role == organization.Owner || role == organization.Admin
	var err error
	what, want := "", false
	switch random.IntN(14) {
	case 0:
		what, want, m.allowed = "allow requests", true, random.IntN(4) != 0
		err = orgs.SetJoinRequests(ctx, m.id, m.allowed)
	case 1, 2, 3:
		what, want = "request", m.allowed && role == "" && !m.pending[name] && !m.declined[name]
		if _, err = orgs.RequestToJoin(ctx, m.id, user); want {
			m.pending[name] = true
		}
	case 4, 5:
		given := []string{organization.Admin, organization.Member}[random.IntN(2)]
		what, want = "accept as "+given, m.pending[name] && role == ""
		all, listErr := orgs.JoinRequests(ctx, m.id)
		check(s.T, listErr)
		err = core.ErrNotFound
		for _, j := range all {
			if j.UserID == user {
				_, err = orgs.AcceptRequest(ctx, m.id, j.ID, given)
			}
		}
		if m.pending[name] { // a member's request is removed too
			delete(m.pending, name)
			if role == "" {
				m.roles[name] = given
			}
		}
	case 6:
		what, want = "decline", m.pending[name]
		all, listErr := orgs.JoinRequests(ctx, m.id)
		check(s.T, listErr)
		err = core.ErrNotFound
		for _, j := range all {
			if j.UserID == user {
				_, err = orgs.DeclineRequest(ctx, m.id, j.ID)
			}
		}
		if want {
			delete(m.pending, name)
			m.declined[name] = true
		}
	case 7:
		what, want = "remove", role != "" && role != organization.Owner
		if err = orgs.Remove(ctx, m.id, user); want {
			delete(m.roles, name)
			m.left[name] = true
		}
	case 8, 9:
		what = "verify"
		s.wait(6 * time.Second)
		switch random.IntN(3) {
		case 0:
			s.zone.set(m.claim, nil)
			want, m.verified = true, true
		case 1:
			s.zone.set("another value", nil)
		default:
			s.zone.set("", &net.DNSError{Err: "no answer", IsTimeout: true})
		}
		_, err = orgs.VerifyDomain(ctx, m.id, m.domain)
	case 10, 11:
		what, want = "join by domain", m.verified && role == "" && !m.left[name]
		if _, err = orgs.JoinByDomain(ctx, m.id, user); want {
			m.roles[name] = organization.Member
		}
	case 12:
		what, want = "create a key", manages
		status, body := browser.send("POST", "organization/key", url.Values{
			"organization": {m.id}, "name": {"CI"}, "scope invoice:write": {"on"},
		})
		if status != http.StatusOK {
			err = fmt.Errorf("status %d: %s", status, body)
			break
		}
		var made struct{ ID, Key, CreatedBy string }
		check(s.T, json.Unmarshal(body, &made))
		if made.CreatedBy != user {
			s.Errorf("the key is by %q", made.CreatedBy)
		}
		m.keys[made.ID] = made.Key
	default:
		what = "revoke a key"
		id := "0123456789abcdef"
		for each := range m.keys {
			id = each
		}
		text, exists := m.keys[id]
		want = manages && exists
		status, body := browser.send("POST", "organization/revoke-key", url.Values{"organization": {m.id}, "id": {id}})
		if status != http.StatusOK {
			err = fmt.Errorf("status %d: %s", status, body)
		}
		if want {
			delete(m.keys, id)
			m.revoked = append(m.revoked, text)
		}
	}
	m.description = fmt.Sprintf("%s of %s in process %d", what, name, process)
	if want != (err == nil) {
		s.Fatalf("%s: %v; roles %v, pending %v, declined %v, allowed %t, verified %t", m.description, err, m.roles, m.pending,
			m.declined, m.allowed, m.verified)
	}
	if errors.Is(err, core.ErrStoreUnavailable) {
		s.Fatal(err)
	}
}
