package people_test

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// orgOf creates an organization of a user, with a member whose address begins with "other-".
func (s *site) orgOf(owner *core.User) (org *organization.Organization, other *core.User) {
	s.Helper()
	org, err := s.orgs.Create(s.Context(), organization.NewOrganization{OwnerID: owner.ID, Name: "Acme"})
	check(s.T, err)
	_, other = s.member("other-" + owner.Email)
	check(s.T, s.orgs.Add(s.Context(), org.ID, other.ID, organization.Member))
	return org, other
}

// onlyOrg returns the only organization of a user.
func (s *site) onlyOrg(user *core.User) organization.Joined {
	s.Helper()
	all, err := s.orgs.Of(s.Context(), user.ID)
	check(s.T, err)
	if len(all) != 1 {
		s.Fatalf("the organizations of %s are %+v", user.Email, all)
	}
	return all[0]
}

// roles returns the roles of the members of an organization, sorted.
func (s *site) roles(id string) string {
	s.Helper()
	var roles []string
	for cursor := ""; ; {
		members, next, err := s.orgs.Members(s.Context(), id, cursor, 100)
		check(s.T, err)
		for _, m := range members {
			roles = append(roles, m.Role)
		}
		if cursor = next; next == "" {
			slices.Sort(roles)
			return strings.Join(roles, " ")
		}
	}
}

func beginOrganization(s *site, address string) (*browser, *lastRequest) {
	b, _ := s.member(address)
	return b, b.posting("organization", "name", "Acme")
}

// afterOrganization: each organization of the user has an owner. The first one may exist although its browser got no
// response.
func afterOrganization(s *site, _ *browser, address string, _ *core.Response) {
	all, err := s.orgs.Of(s.Context(), s.user(address).ID)
	if err != nil || len(all) == 0 || len(all) > 2 {
		s.Errorf("the user's organizations are %+v, %v", all, err)
	}
	for _, org := range all {
		if got := s.roles(org.ID); got != "owner" {
			s.Errorf("the members are %q", got)
		}
	}
}

func beginInvitation(s *site, address string) (*browser, *lastRequest) {
	_, owner := s.member("owner-" + address)
	org, _ := s.orgOf(owner)
	b, _ := s.member(address)
	_, err := s.orgs.Invite(s.Context(), organization.NewInvitation{
		OrganizationID: org.ID, Email: address, Role: organization.Member,
	})
	check(s.T, err)
	check(s.T, s.auth.FlushMail(s.Context()))
	return b, b.posting("organization/accept", "token", s.token(mailkind.OrganizationInvite, address))
}

// afterInvitation: the user is a member once. If the process ended between the use of the invitation and the
// membership, another invitation works.
func afterInvitation(s *site, b *browser, address string, again *core.Response) {
	id := s.onlyOrg(s.user("owner-" + address)).ID
	if all, err := s.orgs.Of(s.Context(), s.user(address).ID); err == nil && len(all) == 0 {
		s.refused(again, "not_found")
		_, err := s.orgs.Invite(s.Context(), organization.NewInvitation{
			OrganizationID: id, Email: address, Role: organization.Member,
		})
		check(s.T, err)
		check(s.T, s.auth.FlushMail(s.Context()))
		b.post(200, "organization/accept", "token", s.token(mailkind.OrganizationInvite, address))
	}
	if got := s.roles(id); s.onlyOrg(s.user(address)).Role != organization.Member || got != "member member owner" {
		s.Errorf("the members are %q: %d %s", got, again.Status, again.Body)
	}
}

func beginAdmit(s *site, address string) (*browser, *lastRequest) {
	b, owner := s.member("owner-" + address)
	org, _ := s.orgOf(owner)
	check(s.T, s.orgs.SetJoinRequests(s.Context(), org.ID, true))
	_, user := s.member(address)
	return b, b.posting("organization/admit", "organization", org.ID, "id", s.asks(org.ID, user), "role",
		organization.Member)
}

// asks makes a user request to join, and returns the ID of the request.
func (s *site) asks(id string, user *core.User) string {
	s.Helper()
	_, err := s.orgs.RequestToJoin(s.Context(), id, user.ID)
	check(s.T, err)
	all, err := s.orgs.JoinRequests(s.Context(), id)
	check(s.T, err)
	if len(all) != 1 {
		s.Fatalf("the requests are %+v", all)
	}
	return all[0].ID
}

// afterAdmit: the user is a member once. If the process ended between the acceptance and the membership, the request is
// pending again after a minute.
func afterAdmit(s *site, _ *browser, address string, _ *core.Response) {
	user, id := s.user(address), s.onlyOrg(s.user("owner-"+address)).ID
	s.ahead.Store(int64(2 * time.Minute))
	pending, err := s.orgs.JoinRequests(s.Context(), id)
	check(s.T, err)
	for _, r := range pending {
		_, err := s.orgs.AcceptRequest(s.Context(), id, r.ID, organization.Member)
		if err != nil && !errors.Is(err, organization.ErrMember) {
			s.Error(err)
		}
	}
	if org := s.onlyOrg(user); org.ID != id || s.roles(id) != "member member owner" {
		s.Errorf("the members are %q", s.roles(id))
	}
}

func beginTransfer(s *site, address string) (*browser, *lastRequest) {
	b, user := s.member(address)
	org, other := s.orgOf(user)
	return b, b.posting("organization/transfer", "organization", org.ID, "user", other.ID)
}

// afterTransfer: the organization has an owner, and both are members.
func afterTransfer(s *site, _ *browser, address string, _ *core.Response) {
	other := s.onlyOrg(s.user("other-" + address))
	if got := s.roles(other.ID); other.Role != organization.Owner || strings.Count(got, " ") != 1 {
		s.Errorf("the members are %q", got)
	}
}

func beginRemove(s *site, address string) (*browser, *lastRequest) {
	b, user := s.member(address)
	org, other := s.orgOf(user)
	return b, b.posting("organization/remove", "organization", org.ID, "user", other.ID)
}

// afterRemove: the member is removed, and the owner stays.
func afterRemove(s *site, _ *browser, address string, _ *core.Response) {
	if got := s.roles(s.onlyOrg(s.user(address)).ID); got != "owner" {
		s.Errorf("the members are %q", got)
	}
	if all, err := s.orgs.Of(s.Context(), s.user("other-"+address).ID); err != nil || len(all) > 0 {
		s.Errorf("the removed user has the organizations %+v, %v", all, err)
	}
}

func beginOrgKey(s *site, address string) (*browser, *lastRequest) {
	b, user := s.member(address)
	org, _ := s.orgOf(user)
	return b, b.posting("organization/key", "organization", org.ID, "name", "CI", "scope orders:read", "1")
}

// afterOrgKey: the browser has the text of a key of the organization, which works.
func afterOrgKey(s *site, b *browser, address string, again *core.Response) {
	id := s.onlyOrg(s.user(address)).ID
	keys, err := s.keys.OfService(s.Context(), id)
	if err != nil || len(keys) == 0 || len(keys) > 2 || !strings.Contains(string(again.Body), `"key":"lk_`) {
		s.Errorf("the keys are %+v, %v: %d %s", keys, err, again.Status, again.Body)
	}
}

func beginOrgDelete(s *site, address string) (*browser, *lastRequest) {
	b, user := s.member(address)
	org, _ := s.orgOf(user)
	_, text, err := s.keys.Create(s.Context(), apikey.NewKey{
		Service: org.ID, Name: "CI", Scopes: []string{"orders:read"},
	})
	check(s.T, err)
	if s.key = string(text); !s.accepts(s.key) {
		s.Fatal("the key of the organization does not work")
	}
	return b, b.posting("organization/delete", "organization", org.ID, "confirm", org.Slug)
}

// afterOrgDelete: the organization has no member, and the key ends.
func afterOrgDelete(s *site, b *browser, address string, _ *core.Response) {
	for _, each := range []string{address, "other-" + address} {
		all, err := s.orgs.Of(s.Context(), s.user(each).ID)
		if err != nil || len(all) > 0 {
			s.Errorf("%s has the organizations %+v, %v", each, all, err)
		}
	}
	for deadline := time.Now().Add(time.Minute); s.accepts(s.key); { // a task finishes what the dead process started
		if time.Now().After(deadline) {
			s.Fatal("the key of the organization works")
		}
		s.ahead.Add(int64(10 * time.Minute))
		_, _ = s.auth.Visit(s.Context(), b.asking("GET", "session")).Session()
		for again := time.Now().Add(time.Second); s.accepts(s.key) && time.Now().Before(again); {
			time.Sleep(10 * time.Millisecond)
		}
	}
}
