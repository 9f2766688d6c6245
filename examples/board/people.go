package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/ui"
)

// write is the permission to change the board.
const write = "card:write"

// boardSlug is the slug of the only organization. Its members write; other signed-in users are guests, who read.
const boardSlug = "corkboard"

// people are the members of the board: an organization of the plugin, which has their roles and invitations.
type people struct {
	*organization.Organizations
	board string // the ID of the organization
}

func newPeople(mail core.Mailer) *people {
	p := &people{}
	p.Organizations = organization.New(organization.Options{
		Mail: mail,
		Roles: []organization.Role{
			{Name: organization.Admin, Permissions: []string{write}},
			{Name: organization.Member, Permissions: []string{write}},
		},
		Select:    func(*core.Request) string { return p.board },
		MayCreate: func(context.Context, string) (bool, error) { return false, nil }, // there is one board
	})
	return p
}

// found creates the organization of the board, which users can ask to join.
func (p *people) found(ctx context.Context, ownerID string) error {
	board, err := p.Create(ctx, organization.NewOrganization{OwnerID: ownerID, Name: "Corkboard", Slug: boardSlug})
	if err != nil {
		return err
	}
	p.board = board.ID
	return p.SetJoinRequests(ctx, p.board, true)
}

// Member is a signed-in user on a page. A guest has no role.
type Member struct {
	ID, Name, Role string
	writes         bool
}

// Writes reports whether the user may change the board.
func (m Member) Writes() bool { return m.writes }

// me returns the session of the request, and its user. Both are zero if no user is signed in.
func (p *people) me(ctx context.Context) (*core.Session, Member, error) {
	session, err := core.SessionFrom(ctx)
	if err != nil || session == nil {
		return nil, Member{}, err
	}
	me := Member{ID: session.UserID, Name: nameOf(session.User)}
	m, err := p.Current(ctx)
	if err == nil && m != nil {
		me.Role, me.writes = m.Role, m.Allows(write)
	}
	return session, me, err
}

// forget refuses to delete the account of the board's owner. The plugin ends the memberships of others.
func (p *people) forget(ctx context.Context, u *core.User) error {
	m, err := p.MemberOf(ctx, p.board, u.ID)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil
	case err != nil || m.Role != organization.Owner:
		return err
	}
	return &core.Problem{
		Status: http.StatusConflict, Code: "owns_board",
		Text: ui.Text{Key: "leave.owner", English: "The owner of a board cannot leave it."},
	}
}

// nameOf returns a display name. A sign-in by email has no name, and one with a passkey no address either.
func nameOf(u *core.User) string {
	local, _, _ := strings.Cut(u.Email, "@")
	return cmp.Or(u.Name, local, "Newcomer")
}
