package organization_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// TestRequests asks to join, and accepts and declines.
func TestRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.found("bob member", "kim lead")
	org, err := s.orgs.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	ada, bob, kim, eve := s.as("ada"), s.as("bob"), s.as("kim"), s.as("eve")
	join := "/auth/organization/join?organization="
	const unknown = "org_0000000000000000000000"

	for _, at := range []string{id, org.Slug} { // no requests are allowed, as if there were no organization
		known, made := eve.get(join+at), eve.get(join+unknown)
		s.is(known, "404 not_found")
		if withoutReference(known.body) != withoutReference(made.body) {
			t.Errorf("%s and %s differ", known.body, made.body)
		}
		s.is(eve.post("join", "organization", at), "404 not_found")
	}
	s.is(bob.post("joining", "organization", id, "requests", "true"), "403 role_denied")
	s.is(eve.post("joining", "organization", id, "requests", "true"), "404 not_found")
	s.is(ada.post("joining", "organization", id, "requests", "true"), "200")
	if r := eve.get(join + org.Slug); r.body != `{"organization":"`+id+`","name":"Acme"}` {
		t.Errorf("an unauthorized user sees %s", r.body)
	}
	s.is(bob.post("join", "organization", id), "409 already_member")
	s.is(eve.post("join", "organization", org.Slug), "200")
	s.is(eve.get("/member"), "403 forbidden")
	s.is(eve.post("join", "organization", id), "409 already_requested")
	for _, page := range []string{"requests", "members", "domains"} {
		s.is(eve.get("/auth/organization/"+page+"?organization="+id), "404 not_found")
	}
	s.is(bob.get("/auth/organization/requests?organization="+id), "403 role_denied")

	first := func() string {
		t.Helper()
		var list struct {
			Requests []struct{ ID, User, Name, Email string }
		}
		r := kim.get("/auth/organization/requests?organization=" + id)
		if err := json.Unmarshal([]byte(r.body), &list); err != nil || len(list.Requests) != 1 ||
			list.Requests[0].Name != "EVE" || list.Requests[0].Email != "eve@example.com" || list.Requests[0].User != "eve" {
			t.Fatalf("the requests are %s, %v", r.body, err)
		}
		return list.Requests[0].ID
	}
	request := first()
	s.is(bob.post("decline", "organization", id, "id", request), "403 role_denied")
	s.is(eve.post("admit", "organization", id, "id", request, "role", "member"), "404 not_found")
	s.is(kim.post("decline", "organization", id, "id", request), "200")
	s.is(kim.post("decline", "organization", id, "id", request), "404 not_found")
	s.is(kim.post("admit", "organization", id, "id", request, "role", "member"), "404 not_found")
	s.is(eve.post("join", "organization", id), "409 already_requested") // until it expires
	s.wait(30 * 24 * time.Hour)
	ada, kim, eve = s.as("ada"), s.as("kim"), s.as("eve")
	s.is(eve.post("join", "organization", id), "200")
	request = first()
	s.is(kim.post("admit", "organization", id, "id", request, "role", "admin"), "403 role_denied")
	s.is(ada.post("admit", "organization", id, "id", request, "role", "owner"), "422 role_invalid")
	s.is(ada.post("admit", "organization", id, "id", request, "role", "king"), "422 role_invalid")
	s.is(ada.post("admit", "organization", s.found(), "id", request, "role", "member"), "404 not_found")
	s.is(ada.post("admit", "organization", id, "id", "../"+request, "role", "member"), "404 not_found")
	s.is(ada.post("admit", "organization", id, "id", request, "role", "accountant"), "200")
	s.is(ada.post("admit", "organization", id, "id", request, "role", "accountant"), "404 not_found")
	s.is(eve.get("/invoices"), "200")
	if got, want := s.events(), "organization.changed ada, member.requested eve, member.declined eve kim, "+
		"member.requested eve, member.joined eve ada"; got != want {
		t.Errorf("audited: %s\nwant: %s", got, want)
	}

	if _, err := s.rows.CreateUser(t.Context(), &core.User{ID: "new", Email: "new@example.com"}); err != nil {
		t.Fatal(err)
	}
	s.is(s.as("new").post("join", "organization", id), "403 address_unverified")
	s.is(ada.post("joining", "organization", id), "200")
	s.is(s.as("new").post("join", "organization", id), "404 not_found")
	if r := eve.page(join + unknown); r.status != 404 || !strings.Contains(r.body, "no longer exists") {
		t.Errorf("the page of an unknown organization: %d %s", r.status, r.body)
	}
}

// TestRequestPages asks and accepts with forms.
func TestRequestPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.found()
	ada, eve := s.as("ada"), s.as("eve")
	s.is(ada.post("update", "organization", id, "name", "<b>Acme"), "200")
	has := func(r reply, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if r.status != http.StatusOK || !strings.Contains(r.body, text) {
				t.Errorf("status %d, without %q: %s", r.status, text, r.body)
			}
		}
	}
	has(ada.submit("joining", "organization", id, "requests", "true"), "Changes saved", "Stop allowing requests",
		"/auth/organization/join?organization=")
	has(eve.page("/auth/organization/join?organization="+id), "Ask to join", "An admin of &lt;b&gt;Acme")
	has(eve.submit("join", "organization", id), "You asked to join")
	has(eve.submit("join", "organization", id), "already asked")
	has(ada.page("/auth/organization/members?organization="+id), "Requests to join (1)", "/requests?organization="+id)
	has(ada.page("/auth/organization/requests?organization="+id), "EVE", "eve@example.com", "Asked on")
	all, err := s.orgs.JoinRequests(t.Context(), id)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	has(ada.submit("admit", "organization", id, "id", all[0].ID, "role", "member"), "is a member now")
}

// TestRequestLimits: users and organizations have a limited number of requests. Declined ones count.
func TestRequestLimits(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	seats := 100
	s := newSite(t, func(_ *core.Config, o *organization.Options) {
		o.MaxOrganizations = 30
		o.Seats = func(context.Context, *organization.Organization) (int, error) { return seats, nil }
	})
	open := func() string {
		t.Helper()
		id := s.found()
		if err := s.orgs.SetJoinRequests(ctx, id, true); err != nil {
			t.Fatal(err)
		}
		return id
	}
	id := ""
	for range 20 {
		id = open()
		if _, err := s.orgs.RequestToJoin(ctx, id, "eve"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.orgs.RequestToJoin(ctx, open(), "eve"); !errors.Is(err, organization.ErrRequests) {
		t.Errorf("the 21st request of a user: %v", err)
	}
	for i := range 200 {
		user := fmt.Sprint("user", i)
		_, err := s.rows.CreateUser(ctx, &core.User{ID: user, Email: user + "@example.com", EmailVerified: s.clock()})
		if err == nil {
			_, err = s.orgs.RequestToJoin(ctx, id, user)
		}
		if i < 199 && err != nil || i == 199 && !errors.Is(err, organization.ErrRequests) {
			t.Fatalf("request %d: %v", i+2, err)
		}
	}

	// A request stays if the store fails, or if there is no seat.
	for _, fault := range []string{"create organization-member", "update organization-member"} {
		s.rows.failing(fault)
		all, err := s.orgs.JoinRequests(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.orgs.AcceptRequest(ctx, id, all[0].ID, "member"); err == nil {
			t.Errorf("%s: the request was accepted", fault)
		}
		s.rows.failing("")
		if again, err := s.orgs.JoinRequests(ctx, id); err != nil || len(again) != len(all) {
			t.Errorf("%s: %d of %d requests are left, %v", fault, len(again), len(all), err)
		}
		if _, err := s.orgs.MemberOf(ctx, id, all[0].UserID); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: the user is a member: %v", fault, err)
		}
	}
	seats = 1
	all, err := s.orgs.JoinRequests(ctx, id)
	if err != nil || len(all) != 200 {
		t.Fatalf("%d requests, %v", len(all), err)
	}
	if _, err := s.orgs.AcceptRequest(ctx, id, all[0].ID, "member"); !errors.Is(err, organization.ErrFull) {
		t.Errorf("without a seat: %v", err)
	}
	seats = 3
	s.rows.after("organization-request", func() {
		if _, err := s.orgs.DeclineRequest(ctx, id, all[1].ID); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a request is declined while it is accepted: %v", err)
		}
	})
	if _, err := s.orgs.AcceptRequest(ctx, id, all[1].ID, "member"); err != nil {
		t.Errorf("the second request: %v", err)
	}
	var wait sync.WaitGroup
	results := make([]error, 6)
	for i := range results {
		wait.Go(func() {
			if i%2 == 0 {
				_, results[i] = s.orgs.AcceptRequest(ctx, id, all[0].ID, "member")
			} else {
				_, results[i] = s.orgs.DeclineRequest(ctx, id, all[0].ID)
			}
		})
	}
	wait.Wait()
	won := 0
	for _, err := range results {
		if err == nil {
			won++
		} else if !errors.Is(err, core.ErrNotFound) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of several decisions about a request succeeded", won)
	}
	if err := s.orgs.Delete(ctx, id); err != nil {
		t.Fatal(err)
	}
	if left, err := s.rows.UserRecords(ctx, "user7", ""); err != nil || len(left) != 0 {
		t.Errorf("a deleted organization leaves %v, %v", left, err)
	}
}

// zone is a Resolver with the TXT records of a test.
type zone struct {
	mu      sync.Mutex
	records map[string][]string
	err     error
	stuck   bool
	asked   int
}

func (z *zone) LookupTXT(ctx context.Context, name string) ([]string, error) {
	z.mu.Lock()
	z.asked++
	all, err, stuck := z.records[name], z.err, z.stuck
	z.mu.Unlock()
	if stuck {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err == nil && all == nil {
		err = &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return all, err
}

func (z *zone) set(change func()) {
	z.mu.Lock()
	defer z.mu.Unlock()
	change()
}

// count returns the number of lookups since the last call.
func (z *zone) count() (n int) {
	z.mu.Lock()
	defer z.mu.Unlock()
	n, z.asked = z.asked, 0
	return n
}

func newZone() *zone { return &zone{records: map[string][]string{}} }

// domains returns a site whose organizations can claim domains, with users of firm.example.
func domains(t *testing.T, strategy core.Strategy, change ...func(*core.Config, *organization.Options)) (*site, *zone) {
	t.Helper()
	z := newZone()
	var s *site
	s = newSite(t, append(change, func(c *core.Config, o *organization.Options) {
		c.Session.Strategy = strategy
		o.Resolver = z
		o.PublicDomain = func(d string) bool { return d == "isp.example" }
		c.Providers = []core.Provider{&core.CredentialsProvider{
			Authorize: func(ctx context.Context, fields map[string]string, _ *core.Request) (*core.User, error) {
				return s.rows.User(ctx, fields["name"])
			},
		}}
	})...)
	for _, u := range []*core.User{
		{ID: "fay", Email: "fay@firm.example", EmailVerified: s.clock()},
		{ID: "gus", Email: "gus@firm.example", EmailVerified: s.clock()},
		{ID: "hal", Email: "hal@firm.example"}, // not verified
		{ID: "ira", Email: "ira@sub.firm.example", EmailVerified: s.clock()},
	} {
		if _, err := s.rows.CreateUser(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	return s, z
}

// verify claims and verifies firm.example.
func (s *site) verify(z *zone, id, role string, automatic bool) {
	s.Helper()
	d, err := s.orgs.ClaimDomain(s.Context(), id, "firm.example", role, automatic)
	if err != nil {
		s.Fatal(err)
	}
	z.set(func() { z.records[d.Record] = append(z.records[d.Record], "v=spf1 -all", d.Value) })
	if _, err := s.orgs.VerifyDomain(s.Context(), id, "firm.example"); err != nil {
		s.Fatal(err)
	}
}

// TestDomain claims a domain, and joins with an address of it.
func TestDomain(t *testing.T) {
	t.Parallel()
	s, z := domains(t, core.StrategyDatabase)
	id := s.found("bob admin")
	other, err := s.orgs.Create(t.Context(), organization.NewOrganization{OwnerID: "eve", Name: "Evil"})
	if err != nil {
		t.Fatal(err)
	}
	ada, bob, eve, fay := s.as("ada"), s.as("bob"), s.as("eve"), s.as("fay")
	for _, row := range []struct{ domain, role, want string }{
		{"gmail.com", "member", "422 domain_public"},
		{"GMail.com.", "member", "422 domain_public"},
		{"isp.example", "member", "422 domain_public"},
		{"localhost", "member", "422 domain_invalid"},
		{"127.0.0.1", "member", "422 domain_invalid"},
		{"[127.0.0.1]", "member", "422 domain_invalid"},
		{"ada@firm.example", "member", "422 domain_invalid"},
		{"firm.example/x", "member", "422 domain_invalid"},
		{"firm .example", "member", "422 domain_invalid"},
		{strings.Repeat("a.", 101) + "example", "member", "422 domain_invalid"},
		{"", "member", "422 domain_invalid"},
		{"firm.example", "owner", "422 role_invalid"},
		{"firm.example", "king", "422 role_invalid"},
	} {
		if r := ada.post("domain", "organization", id, "domain", row.domain, "role", row.role); r.code() != row.want {
			t.Errorf("%q as %s: %s, want %s", row.domain, row.role, r.code(), row.want)
		}
	}
	at := []string{"organization", id, "domain", "Firm.example"}
	s.is(bob.post("domain", append(at, "role", "member")...), "403 role_denied")
	s.is(bob.post("verify-domain", at...), "403 role_denied")
	s.is(bob.post("remove-domain", at...), "403 role_denied")
	s.is(bob.get("/auth/organization/domains?organization="+id), "403 role_denied")
	s.is(eve.post("domain", append(at, "role", "member")...), "404 not_found")
	s.is(ada.post("verify-domain", at...), "404 not_found")

	var d organization.Domain
	r := ada.post("domain", append(at, "role", "accountant")...)
	if err := json.Unmarshal([]byte(r.body), &d); err != nil || d.Name != "firm.example" || d.Verified || d.Automatic ||
		d.Record != "_organization.firm.example" || !strings.HasPrefix(d.Value, "organization-verification=") {
		t.Fatalf("claimed: %s, %v", r.body, err)
	}
	s.is(ada.post("verify-domain", at...), "409 domain_unverified")
	s.is(fay.post("join", "organization", id), "404 not_found") // it is only claimed
	s.is(ada.post("verify-domain", at...), "429 domain_wait")
	s.wait(5 * time.Second)
	z.set(func() { z.records[d.Record] = []string{"other", " " + d.Value + " "} })
	s.is(ada.post("verify-domain", at...), "200")

	// Another organization cannot take it while the record exists.
	theirs, err := s.orgs.ClaimDomain(t.Context(), other.ID, "firm.example", "member", true)
	if err != nil {
		t.Fatal(err)
	}
	if theirs.Value == d.Value {
		t.Error("two organizations have the same TXT record")
	}
	z.set(func() { z.records[d.Record] = []string{d.Value, theirs.Value} })
	s.is(eve.post("verify-domain", "organization", other.ID, "domain", "firm.example"), "409 domain_taken")

	for user, want := range map[string]bool{
		"fay": true, "gus": true, "hal": false, "ira": false, "bob": false, "eve": false,
	} {
		offer, err := s.orgs.Offer(t.Context(), user)
		if err != nil || (offer != nil) != want {
			t.Errorf("the offer to %s is %+v, %v", user, offer, err)
		}
	}
	s.is(s.as("hal").post("join", "organization", id), "404 not_found")
	s.is(s.as("ira").post("join", "organization", id), "404 not_found")
	s.is(fay.post("join", "organization", other.ID), "404 not_found")
	if r := fay.get("/auth/organization"); !strings.Contains(r.body,
		`"offer":{"organization":"`+id+`","name":"Acme","role":"accountant"}`) {
		t.Errorf("listed: %s", r.body)
	}
	if r := fay.page("/auth/organization"); !strings.Contains(r.body, "Your email address lets you join Acme") {
		t.Errorf("the page has no offer: %s", r.body)
	}
	s.is(fay.get("/member"), "403 forbidden")
	s.is(fay.post("join", "organization", id), "200")
	s.is(fay.get("/invoices"), "200")
	s.is(ada.post("remove", "organization", id, "user", "fay"), "200")
	s.is(fay.post("join", "organization", id), "404 not_found") // a removed member needs an invitation

	// When the record is gone, another organization can take the domain.
	z.set(func() { z.records[d.Record] = []string{theirs.Value} })
	s.wait(5 * time.Second)
	s.is(eve.post("verify-domain", "organization", other.ID, "domain", "firm.example"), "200")
	if offer, err := s.orgs.Offer(t.Context(), "gus"); err != nil || offer == nil || offer.ID != other.ID {
		t.Errorf("the offer is %+v, %v", offer, err)
	}
	s.is(eve.post("remove-domain", "organization", other.ID, "domain", "firm.example"), "200")
	if offer, err := s.orgs.Offer(t.Context(), "gus"); err != nil || offer != nil {
		t.Errorf("the offer of a removed domain is %+v, %v", offer, err)
	}
}

// TestDomainLost: a domain is looked up again after a day. A lost domain stops new joins, also if the DNS has no answer
// for three days.
func TestDomainLost(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	offers := func(s *site, want bool) {
		t.Helper()
		if offer, err := s.orgs.Offer(ctx, "fay"); err != nil || (offer != nil) != want {
			t.Errorf("the offer is %+v, %v", offer, err)
		}
	}
	t.Run("removed", func(t *testing.T) {
		s, z := domains(t, core.StrategyJWT)
		id := s.found()
		s.verify(z, id, "member", false)
		z.count()
		offers(s, true)
		z.set(func() { clear(z.records) })
		s.wait(23 * time.Hour)
		offers(s, true)
		if n := z.count(); n != 0 {
			t.Errorf("%d lookups within a day", n)
		}
		s.wait(time.Hour)
		offers(s, false)
		offers(s, false)
		if n := z.count(); n != 1 {
			t.Errorf("%d lookups, want 1", n)
		}
		if all, err := s.orgs.Domains(ctx, id); err != nil || len(all) != 1 || all[0].Verified {
			t.Errorf("the domains are %+v, %v", all, err)
		}
		other := s.found()
		s.wait(5 * time.Second)
		s.verify(z, other, "member", false)
		offers(s, true)
	})
	t.Run("in the background", func(t *testing.T) {
		s, z := domains(t, core.StrategyJWT)
		id := s.found()
		s.verify(z, id, "member", false)
		z.set(func() { clear(z.records) })
		s.wait(24 * time.Hour)
		if err := s.orgs.CheckDomains(ctx); err != nil {
			t.Fatal(err)
		}
		if all, err := s.orgs.Domains(ctx, id); err != nil || len(all) != 1 || all[0].Verified {
			t.Errorf("the domains are %+v, %v", all, err)
		}
	})
	t.Run("without an answer", func(t *testing.T) {
		s, z := domains(t, core.StrategyJWT)
		s.verify(z, s.found(), "member", false)
		z.set(func() { z.err = errors.New("the resolver is unavailable") })
		s.wait(71 * time.Hour)
		offers(s, true)
		s.wait(time.Hour)
		offers(s, false)
		z.set(func() { z.err = nil })
		s.wait(5 * time.Second)
		offers(s, true)
	})
	t.Run("deleted", func(t *testing.T) {
		s, z := domains(t, core.StrategyJWT)
		id := s.found()
		s.verify(z, id, "member", false)
		if err := s.orgs.Delete(ctx, id); err != nil {
			t.Fatal(err)
		}
		offers(s, false)
		other := s.found()
		s.verify(z, other, "member", false)
		offers(s, true)
	})
}

// TestDomainTimeout: a resolver that does not return is not waited for.
func TestDomainTimeout(t *testing.T) {
	t.Parallel()
	s, z := domains(t, core.StrategyJWT)
	id := s.found()
	if _, err := s.orgs.ClaimDomain(t.Context(), id, "firm.example", "member", false); err != nil {
		t.Fatal(err)
	}
	z.set(func() { z.stuck = true })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan error, 1)
	go func() {
		_, err := s.orgs.VerifyDomain(ctx, id, "firm.example")
		result <- err
	}()
	for z.count() == 0 {
		if ctx.Err() != nil {
			t.Fatal("no lookup")
		}
	}
	cancel()
	if err := <-result; !errors.Is(err, organization.ErrDomainLookup) {
		t.Errorf("the error is %v", err)
	}
}

// TestAutomaticJoin: users join when they sign in, with both strategies. It never stops a sign-in.
func TestAutomaticJoin(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			seats := 2
			s, z := domains(t, strategy, func(_ *core.Config, o *organization.Options) {
				o.Seats = func(context.Context, *organization.Organization) (int, error) { return seats, nil }
			})
			id := s.found()
			s.verify(z, id, "accountant", true)
			signIn := func(user string) *client {
				t.Helper()
				jar, err := cookiejar.New(nil)
				if err != nil {
					t.Fatal(err)
				}
				c := &client{&http.Client{Jar: jar}, s}
				r := c.postTo("/auth/callback/credentials", "name", user)
				if r := c.get("/auth/session"); !strings.Contains(r.body, "expires") {
					t.Fatalf("%s is not signed in: %s", user, r.body)
				}
				if r.status >= http.StatusInternalServerError {
					t.Errorf("the sign-in of %s: %d", user, r.status)
				}
				return c
			}
			fay := signIn("fay")
			s.is(fay.get("/invoices"), "200")
			s.is(signIn("hal").get("/member"), "403 forbidden") // the address is not verified
			s.is(signIn("ira").get("/member"), "403 forbidden") // of a subdomain
			s.is(signIn("gus").get("/member"), "403 forbidden") // no seat is left
			seats = 3
			s.rows.failing("create organization-member")
			s.is(signIn("gus").get("/member"), "403 forbidden")
			s.rows.failing("")
			s.is(signIn("gus").get("/member"), "200")
			s.is(fay.post("leave", "organization", id), "200")
			s.is(signIn("fay").get("/member"), "403 forbidden") // users who left stay out
			want := "member.joined fay, member.joined gus, member.removed fay"
			if got := s.events(); got != want {
				t.Errorf("audited: %s\nwant: %s", got, want)
			}
			if err := s.orgs.Add(t.Context(), id, "fay", "member"); err != nil {
				t.Error(err)
			}
			s.wait(25 * time.Hour)
			z.count()
			if offer, err := s.orgs.Offer(t.Context(), "gus"); err != nil || offer != nil {
				t.Errorf("a member is offered %+v, %v", offer, err)
			}
			if n := z.count(); n != 0 {
				t.Errorf("the sign-in of a member waits for %d lookups", n)
			}
		})
	}
}
