package organization_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// sent returns the emails of all processes since the last call, sorted, as "kind address".
func (s *site) sent(others ...*site) string {
	s.Helper()
	for _, p := range append(others, s) {
		if err := p.auth.FlushMail(s.Context()); err != nil {
			s.Fatal(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, e := range *s.mails {
		all = append(all, fmt.Sprint(e.Kind, " ", e.To))
	}
	*s.mails = nil
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// asks creates users who ask to join, in turn in the processes.
func (s *site) asks(id string, names ...string) (statuses []int) {
	s.Helper()
	for _, name := range names {
		_, err := s.rows.CreateUser(s.Context(), &core.User{
			ID: name, Name: "Buy at evil.example", Email: name + "@example.com", EmailVerified: s.clock(),
		})
		if err != nil {
			s.Fatal(err)
		}
		statuses = append(statuses, s.as(name).post("join", "organization", id).status)
	}
	return statuses
}

// TestRequestEmails: members who can accept a request get an email, at most one an hour, and the user gets one when the
// request is accepted.
func TestRequestEmails(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := newSite(t)
	id := s.found("bob member", "kim lead")
	const ok = 200
	if err := s.orgs.SetJoinRequests(ctx, id, true); err != nil {
		t.Fatal(err)
	}
	is := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: the emails are %q, want %q", what, got, want)
		}
	}
	const both = "organization-request ada@example.com, organization-request kim@example.com"
	s.asks(id, "first")
	if err := s.auth.FlushMail(ctx); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	for _, e := range *s.mails {
		text := fmt.Sprint(string(e.URL), e.Organization, e.Service, e.Device)
		if want := "/auth/organization/requests?organization=" + id; !strings.HasSuffix(string(e.URL), want) ||
			e.Organization != "Acme" || strings.Contains(text, "evil") || strings.Contains(text, "first") {
			t.Errorf("the email is %s", text)
		}
	}
	s.mu.Unlock()
	is("the first request", s.sent(), both)
	s.asks(id, "second", "third")
	s.wait(59 * time.Minute)
	s.asks(id, "fourth")
	is("requests in the same hour", s.sent(), "")
	s.wait(time.Minute)
	other := s.process()
	var names []string
	for i := range 6 {
		names = append(names, fmt.Sprint("many", i))
		_, err := s.rows.CreateUser(ctx, &core.User{ID: names[i], Email: names[i] + "@example.com", EmailVerified: s.clock()})
		if err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for i, name := range names {
		c := []*site{s, other}[i%2].as(name)
		wait.Go(func() { c.post("join", "organization", id) })
	}
	wait.Wait()
	is("at the same time in two processes", s.sent(other), both)

	_, err := s.rows.UpdateUser(ctx, &core.User{ID: "ada", Name: "ADA", Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	s.wait(time.Hour)
	s.asks(id, "fifth")
	is("an unverified address", s.sent(), "organization-request kim@example.com")

	all, err := s.orgs.JoinRequests(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	s.is(s.as("kim").post("decline", "organization", id, "id", all[0].ID), "200")
	is("a declined request", s.sent(), "")
	s.is(s.as("kim").post("admit", "organization", id, "id", all[1].ID, "role", "member"), "200")
	is("an accepted request", s.sent(), "organization-joined "+all[1].UserID+"@example.com")

	// A store that fails, or a full queue, does not stop the request.
	s.wait(time.Hour)
	s.rows.failing("update organization-reported")
	if got := s.asks(id, "sixth"); got[0] != ok {
		t.Errorf("without the store: %v", got)
	}
	s.rows.failing("")
	is("without the store", s.sent(), "")
	quiet := s.process(func(_ *core.Config, o *organization.Options) { o.NoRequestEmails = true })
	s.wait(time.Hour)
	quiet.asks(id, "seventh")
	if all, err = s.orgs.JoinRequests(ctx, id); err != nil {
		t.Fatal(err)
	}
	s.is(quiet.as("kim").post("admit", "organization", id, "id", all[0].ID, "role", "member"), "200")
	is("with NoRequestEmails", s.sent(quiet), "")
}

// TestRequestEmailLimits: at most ten admins get an email, only if they are admins when it is sent. The organization's
// name is left out if it could be a message.
func TestRequestEmailLimits(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := newSite(t)
	id := s.found("bob member")
	if err := s.orgs.SetJoinRequests(ctx, id, true); err != nil {
		t.Fatal(err)
	}
	for i := range 42 {
		name, role := fmt.Sprintf("lead%02d", i), "lead"
		if i >= 12 {
			role = "member"
		}
		_, err := s.rows.CreateUser(ctx, &core.User{ID: name, Email: name + "@example.com", EmailVerified: s.clock()})
		if err := cmp.Or(err, s.orgs.Add(ctx, id, name, role)); err != nil {
			t.Fatal(err)
		}
	}
	s.asks(id, "first")
	if got := s.sent(); strings.Count(got, "organization-request ") != 10 || !strings.Contains(got, " ada@example.com") {
		t.Errorf("the emails are %s", got)
	}
	write := func(kind mailkind.Kind, user string) core.Email {
		t.Helper()
		data, err := json.Marshal(map[string]string{"organization": id, "user": user, "base": "https://app.example/x"})
		if err != nil {
			t.Fatal(err)
		}
		e, err := organization.WriteJoinEmail(s.orgs)(ctx, core.Email{Kind: kind}, data)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, row := range []struct {
		kind     mailkind.Kind
		user, to string
	}{
		{mailkind.OrganizationRequest, "ada", "ada@example.com"},
		{mailkind.OrganizationRequest, "bob", ""},
		{mailkind.OrganizationRequest, "eve", ""},
		{mailkind.OrganizationRequest, "nobody", ""},
		{mailkind.OrganizationJoined, "bob", "bob@example.com"},
		{mailkind.OrganizationJoined, "eve", ""},
	} {
		if e := write(row.kind, row.user); e.To != row.to {
			t.Errorf("%s of %s is sent to %q, want %q", row.kind, row.user, e.To, row.to)
		}
	}
	s.is(s.as("ada").post("update", "organization", id, "name", "Visit evil.example"), "200")
	if e := write(mailkind.OrganizationRequest, "ada"); e.Organization != "" || e.URL == "" {
		t.Errorf("the email has the name %q and the link %q", e.Organization, string(e.URL))
	}
	if err := s.orgs.Delete(ctx, id); err != nil {
		t.Fatal(err)
	}
	if e := write(mailkind.OrganizationJoined, "bob"); e.To != "" {
		t.Errorf("an email about a deleted organization: %s", e.To)
	}
	page, _, err := s.rows.ListRecords(ctx, "organization-reported", "", "", 10)
	if err != nil || len(page) != 0 {
		t.Errorf("records stay: %v, %v", page, err)
	}
}
