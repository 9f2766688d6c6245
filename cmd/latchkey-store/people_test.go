package main

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// creates checks create, verify-email and invite. It returns the ID of bob.
func (c *terminal) creates() (bob string) {
	c.Helper()
	out := c.must("users", "--yes", "create", "Bob@Example.org", "--name", "Bob")
	if !strings.Contains(out, "  bob@example.org (not verified)  Bob") {
		c.Errorf("create says %s", out)
	}
	bob, _, _ = strings.Cut(out, " ")
	for want, args := range map[string][]string{
		"already": {"create", "bob@example.org"}, "not a plain": {"create", "bob@"}, "no user": {"verify-email", "x@example.org"},
	} {
		if out, err := c.run(append([]string{"users", "--yes"}, args...)...); err == nil ||
			!strings.Contains(err.Error(), want) {
			c.Errorf("%v: %v, want %s: %s", args, err, want, out)
		}
	}
	c.must("users", "--yes", "verify-email", "bob@example.org")
	if out := c.must("users", "find", bob); !strings.Contains(out, "(verified ") {
		c.Errorf("after verify-email, find says %s", out)
	}
	if _, err := c.run("users", "--yes", "verify-email", bob); err == nil || !strings.Contains(err.Error(), "already") {
		c.Errorf("the second verify-email: %v", err)
	}
	c.must("users", "--yes", "invite", "carol@example.org")
	if len(c.letters) != 1 || c.letters[0].To != "carol@example.org" ||
		!strings.HasPrefix(string(c.letters[0].URL), "https://app.example.org/auth/") {
		c.Errorf("the emails are %+v", c.letters)
	}
	secret := c.env["AUTH_SECRET"]
	c.env["AUTH_SECRET"] = ""
	if _, err := c.run("users", "--yes", "invite", "carol@example.org"); err == nil || len(c.letters) != 1 {
		c.Errorf("an invitation without a secret: %v", err)
	}
	c.env["AUTH_SECRET"] = secret
	for _, want := range []string{
		`"action":"latchkey users create","user":"` + bob, `"action":"latchkey users verify-email","user":"` + bob,
		`"action":"latchkey users invite","user":""`,
	} {
		if !strings.Contains(c.log.String(), want) {
			c.Errorf("the audit lacks %s: %s", want, c.log.String())
		}
	}
	return bob
}

// inOrganizations runs do with the organizations in the store.
func (c *terminal) inOrganizations(do func(orgs *organization.Organizations) error) {
	c.Helper()
	s, err := open(c.env["LATCHKEY_STORE"], false)
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	orgs, err := (&command{getenv: func(string) string { return "" }}).organizations(s)
	if err == nil {
		err = do(orgs)
	}
	if err != nil {
		c.Fatal(err)
	}
}

// deletes checks that the last owner of an organization is not deleted without --force.
func (c *terminal) deletes(ada, bob string) {
	c.Helper()
	var first *organization.Organization
	c.inOrganizations(func(orgs *organization.Organizations) (err error) {
		first, err = orgs.Create(c.Context(), organization.NewOrganization{OwnerID: ada, Name: "First", Slug: "first"})
		if err == nil {
			err = orgs.Add(c.Context(), first.ID, bob, organization.Member)
		}
		return err
	})
	refused := func(id string) {
		c.Helper()
		if _, err := c.run("users", "--yes", "delete", id); err == nil || !strings.Contains(err.Error(), "last owner") {
			c.Errorf("the deletion of the last owner: %v", err)
		}
		c.must("users", "find", id)
	}
	refused(ada)
	c.inOrganizations(func(orgs *organization.Organizations) error {
		return orgs.SetRole(c.Context(), first.ID, bob, organization.Owner)
	})
	c.must("users", "--yes", "delete", ada)
	out := c.must("users", "--yes", "create", "dan@example.org")
	dan, _, _ := strings.Cut(out, " ")
	c.inOrganizations(func(orgs *organization.Organizations) error {
		members, _, err := orgs.Members(c.Context(), first.ID, "", 10)
		if err == nil && (len(members) != 1 || members[0].UserID != bob) {
			c.Errorf("after the deletion, the members are %+v", members)
		}
		if err != nil {
			return err
		}
		return orgs.Add(c.Context(), first.ID, dan, organization.Member)
	})
	refused(bob)
	if out := c.must("users", "--yes", "--force", "delete", bob); !strings.Contains(out, "has no owner now") {
		c.Errorf("with --force, delete says %s", out)
	}
	if _, err := c.run("users", "find", bob); err == nil {
		c.Error("with --force, the user is not deleted")
	}
}

// TestNoAddress checks the refusal of verify-email for a user without an address.
func TestNoAddress(t *testing.T) {
	address := "bbolt:" + bolt(t)
	c := newTerminal(t, address)
	s, err := open(address, false)
	if err != nil {
		t.Fatal(err)
	}
	u, err := s.CreateUser(t.Context(), &core.User{ID: core.NewID()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.run("users", "--yes", "verify-email", u.ID); err == nil || !strings.Contains(err.Error(), "no address") {
		t.Errorf("a user without an address: %v", err)
	}
}
