package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/account"
)

// TestRoles: an unauthenticated user must sign in, a guest reads, a member writes, the owner assigns roles.
func TestRoles(t *testing.T) {
	p := serve(t)
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
		{"and for the team", stranger, "GET", "/team", 200, "/auth/signin"},

		{"a guest reads", guest, "GET", "/board", 200, "/board"},
		{"and is led there", guest, "GET", "/", 200, "/board"},
		{"and has a token", guest, "GET", "/token", 200, "/token"},
		{"and writes nothing", guest, "POST", "/cards", 403, "/cards"},
		{"and moves nothing", guest, "POST", "/cards/1/move", 403, "/cards/1/move"},
		{"and removes nothing", guest, "POST", "/cards/1/remove", 403, "/cards/1/remove"},
		{"and sees no team", guest, "GET", "/team", 403, "/team"},
		{"and invites nobody", guest, "POST", "/team/invite", 403, "/team/invite"},
		{"and promotes nobody", guest, "POST", "/team/1", 403, "/team/1"},

		{"the owner sees the team", owner, "GET", "/team", 200, "/team"},
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

	id := p.memberID("guest@example.com")
	owner.send("/team/"+id, "role", "member")
	if status, at, text := guest.send("/cards", "title", "Written by a member"); status != 200 || at != "/board" ||
		!strings.Contains(text, "Written by a member") {
		t.Errorf("a member writes: %d at %s: %s", status, at, text)
	}
	if status, _, _ := guest.open("/team"); status != http.StatusForbidden {
		t.Errorf("a member sees the team: %d", status)
	}
	status, _, _ := owner.send("/team/"+id, "role", "king")
	p.is("a role that is none", status, http.StatusUnprocessableEntity)
	status, _, _ = owner.send("/team/"+p.memberID(demoEmail), "role", "guest")
	p.is("the owner gives the board up", status, http.StatusConflict)
	status, _, _ = owner.send("/team/nobody", "role", "member")
	p.is("a member that is none", status, http.StatusNotFound)
}

// TestInvitation: an invited user is a member immediately, once; other users are guests.
func TestInvitation(t *testing.T) {
	p := serve(t)
	owner := p.owner()
	status, _, text := owner.send("/team/invite", "email", "not an address")
	if status != http.StatusUnprocessableEntity || !strings.Contains(text, "That is no email address.") {
		t.Errorf("no address: %d %s", status, text)
	}
	if _, _, text := owner.send("/team/invite", "email", "Zoe@example.com"); !strings.Contains(text, "zoe@example.com") {
		t.Errorf("invited: %s", text)
	}
	letter, err := p.ways.mailbox.Wait(t.Context(), "zoe@example.com")
	if err != nil || letter.Kind != mailkind.Invite || letter.URL != p.url+"/auth/signin" {
		t.Fatalf("the letter is %+v, %v", letter, err)
	}
	p.byMail("other@example.com")
	p.role("other@example.com", guest)

	zoe := p.byProvider("Zoe Washburne", "zoe@example.com")
	p.role("zoe@example.com", member)
	if status, _, text := zoe.send("/cards", "title", "From the first moment"); status != 200 ||
		!strings.Contains(text, "From the first moment") {
		t.Errorf("writes: %d %s", status, text)
	}
}

// TestVerifiedAddress: an invitation only works for the owner of the address.
func TestVerifiedAddress(t *testing.T) {
	p := serve(t)
	const invited = "a@example.com"
	err := p.ways.account.Invite(t.Context(), account.Invitation{Email: invited, Data: []byte(`{"role":"member"}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		proved time.Time
		by     *core.Account
		want   string
	}{
		{"by a letter", time.Now(), &core.Account{Provider: "email"}, member},
		{"by a provider that is believed", time.Time{}, &core.Account{Provider: "dev"}, member},
		{"by another provider", time.Time{}, &core.Account{Provider: "other"}, guest},
		{"by nobody", time.Time{}, nil, guest},
	} {
		user := &core.User{ID: row.name, Email: invited, EmailVerified: row.proved}
		if _, err := p.team.arrive(t.Context(), &core.PendingSignIn{User: user, Account: row.by}); err != nil {
			t.Fatal(err)
		}
		if m, err := p.team.members.get(user.ID); err != nil || m.Role != row.want || m.Confirmed != (row.want == member) {
			t.Errorf("%s: %+v, %v", row.name, m, err)
		}
	}
	if _, _, text := p.owner().open("/team"); strings.Count(text, "not confirmed") != 2 {
		t.Errorf("the team page marks unverified addresses wrongly: %s", text)
	}
}

// TestLeaving: deleting the account removes the member and keeps the cards. The owner cannot leave.
func TestLeaving(t *testing.T) {
	p := serve(t)
	owner, guest := p.owner(), p.byMail("guest@example.com")
	id := p.memberID("guest@example.com")
	for _, b := range []*person{owner, guest} {
		b.send("/auth/account/delete", "csrfToken", b.csrf("/auth/account"), "phrase", "delete my account")
	}
	if _, err := p.team.members.get(id); err == nil {
		t.Error("the guest is still there")
	}
	if _, at, _ := guest.open("/board"); at != "/auth/signin" {
		t.Errorf("the guest is at %s", at)
	}
	p.memberID(demoEmail)
	if status, at, _ := owner.open("/team"); status != 200 || at != "/team" {
		t.Errorf("the owner is answered %d at %s", status, at)
	}
}

func (p *product) role(address, want string) {
	p.Helper()
	m, err := p.team.members.get(p.memberID(address))
	if err != nil || m.Role != want {
		p.Errorf("%s is %+v, %v, and should be %s", address, m, err, want)
	}
}
