package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/organization"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
)

// TestRoles: an unauthenticated user must sign in, a guest reads, a member writes, the owner decides who is a member.
func TestRoles(t *testing.T) {
	p := serve(t)
	members := "/auth/organization/members"
	owner, guest, stranger := p.owner(), p.byMail("guest@example.com"), p.browse()
	for _, row := range []struct {
		name         string
		who          *person
		method, path string
		status       int
		at           string
	}{
		{"a stranger has a page", stranger, "GET", "/", 200, "/"},
		{"and signs in for the board", stranger, "GET", "/board", 200, "/auth/signin"},
		{"and to watch it", stranger, "GET", "/live", 200, "/auth/signin"},
		{"and for the team", stranger, "GET", members, 200, "/auth/signin"},

		{"a guest reads", guest, "GET", "/board", 200, "/board"},
		{"and is led there", guest, "GET", "/", 200, "/board"},
		{"and has a token", guest, "GET", "/token", 200, "/token"},
		{"and writes nothing", guest, "POST", "/cards", 403, "/cards"},
		{"and moves nothing", guest, "POST", "/cards/1/move", 403, "/cards/1/move"},
		{"and removes nothing", guest, "POST", "/cards/1/remove", 403, "/cards/1/remove"},
		{"and sees no team", guest, "GET", members + "?organization=" + p.people.board, 404, members},

		{"the owner sees the team", owner, "GET", members + "?organization=" + p.people.board, 200, members},
		{"and a card that is none", owner, "POST", "/cards/1/move", 422, "/cards/1/move"},
	} {
		t.Run(row.name, func(t *testing.T) {
			status, at, text := row.who.ask(row.method, row.path, http.NoBody, nil)
			if status != row.status || at != row.at {
				t.Errorf("%d at %s: %s", status, at, text)
			}
		})
	}
	if _, _, text := guest.open("/board"); strings.Contains(text, `name="title"`) ||
		!strings.Contains(text, "You are a guest") {
		t.Error("the board of a guest has a form: " + text)
	}
	guest.send("/auth/organization", "csrfToken", guest.csrf("/auth/organization"), "name", "Mine")
	if all, err := p.people.Of(t.Context(), p.id("guest@example.com")); err != nil || len(all) != 0 {
		t.Errorf("a guest has created %+v, %v", all, err)
	}

	p.admit(owner, guest, "member")
	if status, at, text := guest.send("/cards", "title", "Written by a member"); status != 200 || at != "/board" ||
		!strings.Contains(text, "Written by a member") {
		t.Errorf("a member writes: %d at %s: %s", status, at, text)
	}
}

// TestInvitation: an invited user is a member after the sign-up, and other users cannot use the link.
func TestInvitation(t *testing.T) {
	p := serve(t)
	owner := p.owner()
	const home = "/auth/organization"
	owner.send(home+"/invite", "csrfToken", owner.csrf(home+"/members?organization="+p.people.board),
		"organization", p.people.board, "email", "Zoe@example.com", "role", "member")
	letter, err := p.ways.mailbox.Wait(t.Context(), "zoe@example.com")
	if err != nil || letter.Kind != mailkind.OrganizationInvite {
		t.Fatalf("the letter is %+v, %v", letter, err)
	}
	link, err := url.Parse(letter.URL)
	if err != nil {
		t.Fatal(err)
	}
	token := link.Query().Get("token")

	other := p.byMail("other@example.com")
	other.send(home+"/accept", "csrfToken", other.csrf(home), "token", token)
	if status, _, _ := other.send("/cards", "title", "Stolen"); status != http.StatusForbidden {
		t.Errorf("another user has used the invitation: %d", status)
	}

	zoe := p.byMail("zoe@example.com")
	zoe.send(home+"/accept", "csrfToken", zoe.csrf(link.RequestURI()), "token", token)
	if status, _, text := zoe.send("/cards", "title", "From the first moment"); status != 200 ||
		!strings.Contains(text, "From the first moment") {
		t.Errorf("writes: %d %s", status, text)
	}
}

// TestLeaving: deleting the account removes the member and keeps the cards. The owner cannot leave, alone or not.
func TestLeaving(t *testing.T) {
	p := serve(t)
	owner, guest := p.owner(), p.byMail("guest@example.com")
	p.admit(owner, guest, "admin")
	id := p.id("guest@example.com")
	for _, b := range []*person{owner, guest, owner} {
		b.send("/auth/account/delete", "csrfToken", b.csrf("/auth/account"), "phrase", "delete my account")
	}
	if all, err := p.people.Of(t.Context(), id); err != nil || len(all) != 0 {
		t.Errorf("the guest is still there: %+v, %v", all, err)
	}
	if _, at, _ := guest.open("/board"); at != "/auth/signin" {
		t.Errorf("the guest is at %s", at)
	}
	if m, err := p.people.MemberOf(t.Context(), p.people.board, p.id(demoEmail)); err != nil || m.Role != organization.Owner {
		t.Errorf("the owner is %+v, %v", m, err)
	}
}

// id returns the ID of the user with an address.
func (p *product) id(address string) string {
	p.Helper()
	store, err := bboltstore.New(p.db)
	if err != nil {
		p.Fatal(err)
	}
	u, err := store.UserByEmail(p.Context(), address)
	if err != nil {
		p.Fatal(err)
	}
	return u.ID
}
