package organization_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// TestFlow creates an organization, invites a user, and changes and removes them, with both session strategies. Changes
// take effect in another process with the next request, with one query.
func TestFlow(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			change := func(c *core.Config, _ *organization.Options) { c.Session.Strategy = strategy }
			s := newSite(t, change)
			ada, bob := s.as("ada"), s.as("bob")
			r := ada.post("", "name", "Acme <b>", "slug", "acme")
			var org organization.Organization
			if err := json.Unmarshal([]byte(r.body), &org); err != nil || org.Slug != "acme" || org.Name != "Acme <b>" {
				t.Fatalf("created: %+v, %v: %s", org, err, r.body)
			}
			s.is(ada.get("/owners"), "200")
			s.is(bob.get("/member"), "403 forbidden")
			s.is(ada.post("invite", "organization", org.ID, "email", "BOB@example.com", "role", "accountant"), "200")
			token := s.link()
			s.is(bob.get("/auth/organization/accept?token="+token), "200")
			s.is(bob.post("accept", "token", token), "200")
			s.is(bob.post("accept", "token", token), "404 not_found")

			other := s.process(change)
			far := &client{bob.Client, other}
			far.get("/member", "X-Organization", org.ID) // reads the organization too, at most every 10 seconds
			s.rows.count()
			far.get("/member", "X-Organization", org.ID)
			if n := s.rows.count(); n != 1 {
				t.Errorf("a guard and Current read %d records, want 1", n)
			}
			far.get("/both")
			if n := s.rows.count(); n != 1 {
				t.Errorf("two guards read %d records, want 1", n)
			}
			s.is(far.get("/invoices"), "200")
			s.is(far.get("/admins"), "403 forbidden")
			s.is(ada.post("role", "organization", org.ID, "user", "bob", "role", "admin"), "200")
			s.is(far.get("/admins"), "200")
			s.is(far.get("/invoices"), "403 forbidden")
			s.is(ada.post("remove", "organization", org.ID, "user", "bob"), "200")
			s.is(far.get("/member"), "403 forbidden")
			s.is(far.get("/member", "X-Organization", "acme"), "403 forbidden")
			s.is(ada.post("leave", "organization", org.ID), "409 last_owner")
			s.is(ada.post("delete", "organization", org.ID, "confirm", "Acme"), "422 confirmation_required")
			s.is(ada.post("delete", "organization", org.ID, "confirm", "acme"), "200")
			s.is((&client{ada.Client, other}).get("/member"), "403 forbidden")
			want := "organization.created ada, member.joined bob, member.changed bob ada, member.removed bob ada, " +
				"organization.deleted ada"
			if got := s.events(); got != want {
				t.Errorf("audited: %s\nwant: %s", got, want)
			}
			if _, err := s.orgs.Create(t.Context(), organization.NewOrganization{
				OwnerID: "bob", Name: "Acme", Slug: "acme",
			}); err != nil {
				t.Errorf("the slug of a deleted organization is not free: %v", err)
			}
		})
	}
}

// TestSelection checks which organization a request is about.
func TestSelection(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first, second := s.found(), s.found("bob member")
	bobs, err := s.orgs.Create(t.Context(), organization.NewOrganization{OwnerID: "bob", Name: "Bob", Slug: "bobs"})
	if err != nil {
		t.Fatal(err)
	}
	ada, bob := s.as("ada"), s.as("bob")
	show := func(c *client, want string, header ...string) {
		t.Helper()
		if r := c.get("/open", header...); r.status != 200 || r.body != want {
			t.Errorf("the membership is %d %q, want %q", r.status, r.body, want)
		}
	}
	show(ada, "") // two, and none is selected
	s.is(ada.get("/member"), "403 forbidden")
	s.is(ada.post("switch", "organization", second), "200")
	show(ada, second+" owner")
	show(ada, first+" owner", "X-Organization", first)
	show(ada, "", "X-Organization", bobs.ID)
	show(ada, "", "X-Organization", "bobs")
	show(ada, "", "X-Organization", "org_unknown")
	show(bob, bobs.ID+" owner", "X-Organization", "bobs")
	s.is(ada.get("/nothing"), "403 forbidden")

	// The cookie of another user of the same browser does not count.
	s.is(bob.post("switch", "organization", second), "200")
	at := bob.Jar
	for _, c := range at.Cookies(mustURL(t, s.url)) {
		if strings.HasSuffix(c.Name, "organization") {
			ada.Jar.SetCookies(mustURL(t, s.url), []*http.Cookie{{Name: c.Name, Value: c.Value, Path: "/"}})
		}
	}
	show(ada, "")
}

// TestAttacks sends requests that must change nothing.
func TestAttacks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.found("bob admin", "kim lead")
	const unknown = "org_0000000000000000000000"
	ada, bob, kim, eve := s.as("ada"), s.as("bob"), s.as("kim"), s.as("eve")

	t.Run("an ID reveals nothing to other users", func(t *testing.T) {
		for _, verb := range []string{"switch", "update", "role", "remove", "leave", "transfer", "delete", "invite",
			"resend", "revoke"} {
			known := eve.post(verb, "organization", id, "user", "bob", "role", "member", "email", "x@example.com")
			made := eve.post(verb, "organization", unknown, "user", "bob", "role", "member", "email", "x@example.com")
			s.is(known, "404 not_found")
			if withoutReference(known.body) != withoutReference(made.body) {
				t.Errorf("%s: %s and %s differ", verb, known.body, made.body)
			}
		}
		for _, page := range []string{"members", "invitations"} {
			s.is(eve.get("/auth/organization/"+page+"?organization="+id), "404 not_found")
			s.is(eve.get("/auth/organization/"+page+"?organization="+unknown), "404 not_found")
		}
	})
	t.Run("an admin cannot become or touch an owner", func(t *testing.T) {
		s.is(bob.post("role", "organization", id, "user", "bob", "role", "owner"), "403 role_denied")
		s.is(bob.post("role", "organization", id, "user", "ada", "role", "member"), "403 role_denied")
		s.is(bob.post("remove", "organization", id, "user", "ada"), "403 role_denied")
		s.is(bob.post("transfer", "organization", id, "user", "bob"), "403 role_denied")
		s.is(bob.post("delete", "organization", id, "confirm", "x"), "403 role_denied")
		s.is(bob.post("invite", "organization", id, "email", "x@example.com", "role", "owner"), "422 role_invalid")
		s.is(bob.post("role", "organization", id, "user", "kim", "role", "root"), "422 role_invalid")
	})
	t.Run("nobody gives a permission they do not have", func(t *testing.T) {
		s.is(bob.post("role", "organization", id, "user", "kim", "role", "accountant"), "403 role_denied")
		s.is(kim.post("role", "organization", id, "user", "kim", "role", "admin"), "403 role_denied")
		s.is(kim.post("remove", "organization", id, "user", "bob"), "403 role_denied")
		s.is(kim.post("invite", "organization", id, "email", "x@example.com", "role", "admin"), "403 role_denied")
		s.is(kim.post("update", "organization", id, "name", "Kim"), "403 role_denied")
	})
	t.Run("fields that are not asked for change nothing", func(t *testing.T) {
		s.is(bob.post("update", "organization", id, "name", "Acme 2", "owners", "bob", "slug", "stolen", "role", "owner"),
			"200")
		org, err := s.orgs.Get(t.Context(), id)
		if err != nil || org.Name != "Acme 2" || org.Slug == "stolen" || len(org.Owners) != 1 || org.Owners[0] != "ada" {
			t.Errorf("the organization is %+v, %v", org, err)
		}
	})
	t.Run("a stolen invitation is refused", func(t *testing.T) {
		s.is(ada.post("invite", "organization", id, "email", "new@example.com", "role", "member"), "200")
		token := s.link()
		s.is(eve.post("accept", "token", token), "403 address_mismatch")
		if _, err := s.rows.CreateUser(t.Context(), &core.User{ID: "new", Email: "new@example.com"}); err != nil {
			t.Fatal(err)
		}
		s.is(s.as("new").post("accept", "token", token), "403 address_mismatch") // the address is not verified
		s.is(s.as("new").get("/member"), "403 forbidden")
		s.is(eve.post("accept", "token", token[:len(token)-1]+"!"), "404 not_found")
	})
	t.Run("an invitation ends with its sender's permission", func(t *testing.T) {
		s.is(bob.post("invite", "organization", id, "email", "eve@example.com", "role", "member"), "200")
		token := s.link()
		s.is(ada.post("role", "organization", id, "user", "bob", "role", "member"), "200")
		s.is(eve.post("accept", "token", token), "404 not_found")
		s.is(ada.post("role", "organization", id, "user", "bob", "role", "admin"), "200")
	})
	t.Run("a request without the CSRF token is refused", func(t *testing.T) {
		r := bob.send("POST", "/auth/organization/leave", strings.NewReader(`{"organization":"`+id+`"}`),
			"Content-Type", "application/json", "Accept", "application/json")
		if r.status/100 == 2 {
			t.Errorf("it was accepted: %s", r.body)
		}
		s.is(bob.get("/admins"), "200")
	})
	t.Run("names are text on pages", func(t *testing.T) {
		s.is(ada.post("update", "organization", id, "name", `<script>alert(1)</script>`), "200")
		for _, page := range []string{
			"/auth/organization", "/auth/organization/members?organization=" + id, "/auth/account",
		} {
			r := ada.page(page)
			if r.status != 200 || strings.Contains(r.body, "<script>alert") || !strings.Contains(r.body, "&lt;script&gt;alert") {
				t.Errorf("%s: status %d, escaped: %t", page, r.status, strings.Contains(r.body, "&lt;script&gt;alert"))
			}
		}
		s.is(ada.post("update", "organization", id, "name", "evil\u202egnp"), "422 name_invalid")
		s.is(ada.post("", "name", "x", "slug", `"><script>`), "422 slug_invalid")
		s.is(ada.post("update", "organization", id, "logo", "javascript:alert(1)"), "422 logo_invalid")
	})
	t.Run("a member sees no addresses", func(t *testing.T) {
		s.is(ada.post("role", "organization", id, "user", "bob", "role", "member"), "200")
		if r := bob.get("/auth/organization/members?organization=" + id); strings.Contains(r.body, "@example.com") {
			t.Errorf("the list has addresses: %s", r.body)
		}
		s.is(bob.get("/auth/organization/invitations?organization="+id), "403 role_denied")
	})
	t.Run("a cursor of another organization is refused", func(t *testing.T) {
		s.is(ada.get("/auth/organization/members?organization="+id+"&cursor=abc"), "400 cursor_invalid")
	})
}

// TestInvitations checks resending, revocation and expiry.
func TestInvitations(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *core.Config, o *organization.Options) { o.MaxInvitations = 2 })
	id := s.found()
	ada, bob := s.as("ada"), s.as("bob")
	invite := func(email string) (own, token string) {
		t.Helper()
		r := ada.post("invite", "organization", id, "email", email, "role", "member")
		s.is(r, "200")
		var i organization.Invitation
		if err := json.Unmarshal([]byte(r.body), &i); err != nil {
			t.Fatal(err)
		}
		return i.ID, s.link()
	}
	own, first := invite("bob@example.com")
	s.is(ada.post("resend", "organization", id, "id", own), "200")
	second := s.link()
	s.is(bob.post("accept", "token", first), "404 not_found")
	s.is(ada.post("revoke", "organization", id, "id", own), "200")
	s.is(ada.post("revoke", "organization", id, "id", own), "404 not_found")
	s.is(bob.post("accept", "token", second), "404 not_found")
	_, third := invite("bob@example.com")
	s.wait(8 * 24 * time.Hour)
	ada, bob = s.as("ada"), s.as("bob")
	s.is(bob.post("accept", "token", third), "404 not_found")
	invite("kim@example.com")
	invite("eve@example.com")
	s.is(ada.post("invite", "organization", id, "email", "x@example.com", "role", "member"), "409 too_many_invitations")
	s.is(ada.post("invite", "organization", id, "email", "x", "role", "member"), "422 email_invalid")
	if all, err := s.orgs.Invitations(t.Context(), id); err != nil || len(all) != 2 {
		t.Errorf("the invitations are %+v, %v", all, err)
	}
}

// TestLimits checks the limits, and that a refused invitation can be accepted later.
func TestLimits(t *testing.T) {
	t.Parallel()
	seats := 1
	s := newSite(t, func(_ *core.Config, o *organization.Options) {
		o.MaxOrganizations = 2
		o.Seats = func(_ context.Context, _ *organization.Organization) (int, error) { return seats, nil }
	})
	id := s.found()
	ada, bob := s.as("ada"), s.as("bob")
	s.is(ada.post("invite", "organization", id, "email", "bob@example.com", "role", "member"), "200")
	token := s.link()
	s.is(bob.post("accept", "token", token), "409 no_seats")
	s.is(bob.get("/member"), "403 forbidden")
	seats = 2
	s.is(bob.post("accept", "token", token), "200")
	s.is(ada.post("", "name", "Two"), "200")
	s.is(ada.post("", "name", "Three"), "409 too_many_organizations")
	if all, err := s.orgs.Of(t.Context(), "ada"); err != nil || len(all) != 2 {
		t.Errorf("the organizations are %+v, %v", all, err)
	}
	s.is(bob.post("", "name", strings.Repeat("x", 65)), "422 name_invalid")
	s.is(bob.post("", "name", "Taken", "slug", "taken"), "200")
	s.is(s.as("eve").post("", "name", "Taken", "slug", "taken"), "409 slug_taken")
}

// TestPages sends the forms of the pages, without JavaScript.
func TestPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada, bob := s.as("ada"), s.as("bob")
	contains := func(r reply, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if r.status != 200 || !strings.Contains(r.body, text) {
				t.Errorf("status %d, without %q: %s", r.status, text, r.body)
			}
		}
	}
	contains(ada.page("/auth/organization"), "You aren&#39;t a member")
	contains(ada.submit("", "name", "Acme", "slug", "acme"), "Organization created.", "Acme", "Delete organization")
	org, err := s.orgs.Get(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	contains(ada.submit("invite", "organization", org.ID, "email", "bob@example.com", "role", "admin"),
		"Invitation sent.", "bob@example.com")
	token := s.link()
	contains(bob.page("/auth/organization/accept?token="+token), "You&#39;ve been invited to join Acme.")
	if r := s.as("eve").page("/auth/organization/accept?token=" + token); r.status != 403 ||
		strings.Contains(r.body, "Acme") {
		t.Errorf("another user sees the invitation: %d", r.status)
	}
	contains(bob.submit("accept", "token", token), "You joined the organization.", "Selected")
	one := "/auth/organization/members?organization=" + org.ID + "&member="
	if r := ada.page("/auth/organization/members?organization=" + org.ID); !strings.Contains(r.body, "member=bob") ||
		strings.Contains(r.body, "/organization/remove") {
		t.Errorf("the list has no link to a member, or the forms of all: %s", r.body)
	}
	contains(ada.page(one+"bob"), "/organization/role", "/organization/remove", "/organization/transfer")
	if r := ada.page(one + "bob"); strings.Contains(r.body, "ada@example.com · ") || strings.Contains(r.body, "invite") {
		t.Errorf("the page of a member has more: %s", r.body)
	}
	if r := bob.page(one + "ada"); r.status != 200 || strings.Contains(r.body, "/organization/remove") {
		t.Errorf("an admin can change an owner: %d %s", r.status, r.body)
	}
	s.is(ada.get(one+"eve"), "404 not_found")
	s.is(s.as("eve").get(one+"bob"), "404 not_found")
	contains(bob.submit("role", "organization", org.ID, "user", "ada", "role", "member"),
		"Your role doesn&#39;t allow this.")
	contains(ada.submit("transfer", "organization", org.ID, "user", "bob"), "Changes saved.")
	contains(ada.submit("leave", "organization", org.ID), "You left the organization.")
	contains(bob.submit("leave", "organization", org.ID), "An organization needs an owner.")
	contains(bob.submit("delete", "organization", org.ID, "confirm", "acme"), "Organization deleted.")
	out := &client{&http.Client{CheckRedirect: bob.CheckRedirect}, s}
	if r := out.page("/auth/organization/accept?token=" + token); r.status != 303 ||
		!strings.Contains(r.header.Get("Location"), "callbackUrl=") {
		t.Errorf("without a session: %d %s", r.status, r.header.Get("Location"))
	}
}

// TestFresh checks that a transfer and a deletion require a recent sign-in.
func TestFresh(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.found("bob member")
	ada := s.as("ada")
	s.wait(time.Hour)
	for _, verb := range []string{"transfer", "delete"} {
		if r := ada.post(verb, "organization", id, "user", "bob"); r.status != 401 {
			t.Errorf("%s: %d %s", verb, r.status, r.body)
		}
	}
}

// TestForgetUser checks the deletion of accounts.
func TestForgetUser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	shared, alone := s.found("bob member"), s.found()
	var problem *core.Problem
	err := s.orgs.ForgetUser(t.Context(), &core.User{ID: "ada"})
	if !errors.As(err, &problem) || problem.Code != "last_owner" {
		t.Fatalf("the error is %v", err)
	}
	if _, err := s.orgs.Get(t.Context(), alone); err != nil {
		t.Errorf("a refused deletion has deleted an organization: %v", err)
	}
	if err := s.orgs.SetRole(t.Context(), shared, "bob", organization.Owner); err != nil {
		t.Fatal(err)
	}
	if err := s.orgs.ForgetUser(t.Context(), &core.User{ID: "ada"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.orgs.Get(t.Context(), alone); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("an organization without members is left: %v", err)
	}
	if org, err := s.orgs.Get(t.Context(), shared); err != nil || len(org.Owners) != 1 || org.Owners[0] != "bob" {
		t.Errorf("the shared organization is %+v, %v", org, err)
	}
}

// TestAccountDeletion deletes an account on the account page. The last owner of a shared organization must transfer it
// first.
func TestAccountDeletion(t *testing.T) {
	t.Parallel()
	deleted := 0
	s := newSite(t, func(c *core.Config, _ *organization.Options) {
		c.Plugins = []core.Plugin{account.New(account.Options{
			Delete: func(context.Context, *core.User) error { deleted++; return nil },
		})}
	})
	shared, alone := s.found("bob member"), s.found()
	ada := s.as("ada")
	ask := func() reply { return ada.postTo("/auth/account/delete", "phrase", "delete my account") }
	s.is(ask(), "409 last_owner")
	s.is(ada.get("/member", "X-Organization", shared), "200")
	if deleted != 0 {
		t.Error("the application has deleted data of a user who stays")
	}
	s.is(ada.post("transfer", "organization", shared, "user", "bob"), "200")
	s.is(ask(), "200")
	if _, err := s.rows.User(t.Context(), "ada"); !errors.Is(err, core.ErrNotFound) || deleted != 1 {
		t.Errorf("ada was not deleted: %v, %d", err, deleted)
	}
	if _, err := s.orgs.Get(t.Context(), alone); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("an organization without members is left: %v", err)
	}
	if org, err := s.orgs.Get(t.Context(), shared); err != nil || len(org.Owners) != 1 || org.Owners[0] != "bob" {
		t.Errorf("the shared organization is %+v, %v", org, err)
	}
}

// TestOptions checks the configuration errors.
func TestOptions(t *testing.T) {
	t.Parallel()
	_, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Getenv: func(string) string { return "" },
		Plugins: []core.Plugin{organization.New(organization.Options{
			MaxMembers: -1, Roles: []organization.Role{{Name: "owner"}, {Name: "A"}, {Name: "a"}, {Name: "a"}},
		})},
	})
	for _, want := range []string{
		"Options.Mail is nil", "Roles[0]", "Roles[1]", "Roles[3]", "MaxMembers", "needs a Store",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error has no %q: %v", want, err)
		}
	}
}

// withoutReference removes the random code of a problem document.
func withoutReference(body string) string {
	return regexp.MustCompile(`"reference":"\w+"`).ReplaceAllString(body, "")
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// emptyPages is a store whose first page of each list is empty, as that of a store that filters its pages can be.
type emptyPages struct{ *counted }

func (s emptyPages) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) ([]*store.Record, string, error) {
	if cursor == "" {
		return nil, "first", nil
	}
	return s.counted.ListRecords(ctx, kind, prefix, strings.TrimPrefix(cursor, "first"), limit)
}

// TestEmptyPages: a list of members is empty only if no more members follow.
func TestEmptyPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.found("bob member")
	other := s.process(func(c *core.Config, _ *organization.Options) { c.Store = emptyPages{s.rows} })
	members, next, err := other.orgs.Members(t.Context(), id, "", 15)
	if err != nil || len(members) != 2 || next != "" {
		t.Errorf("%d members, %q, %v", len(members), next, err)
	}
}
