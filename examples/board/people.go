package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/latchkey-go/latchkey/account"
	"github.com/latchkey-go/latchkey/core"
)

// What somebody may do: a guest reads, a member writes, an owner says who is what.
const (
	guest  = "guest"
	member = "member"
	owner  = "owner"
)

// roles are all of them, from the least to the most.
var roles = []string{guest, member, owner}

// Member is what the board knows of somebody who is signed in. Each session has it, and guards ask it.
type Member struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
	Role  string `json:"role"`
	// Confirmed is true if Email is verified to be the member's.
	Confirmed bool `json:"confirmed,omitempty"`
}

// Roles has core.Role ask it.
func (m Member) Roles() []string { return []string{m.Role} }

// Writes reports whether somebody may change the board.
func (m Member) Writes() bool { return m.Role == member || m.Role == owner }

// team is who belongs to the board. It is a part of the sign-in: its gate is asked about everybody who comes in.
type team struct {
	members table[Member]
	people  *core.Data[Member]
	// invitation finds the open invitation of an address.
	invitation func(ctx context.Context, email string) (*account.Invitation, error)
}

func newTeam(db *bbolt.DB, invitation func(context.Context, string) (*account.Invitation, error)) *team {
	t := &team{members: table[Member]{db, "members"}, invitation: invitation}
	t.people = &core.Data[Member]{
		Load: func(_ context.Context, u *core.User) (Member, error) {
			m, err := t.members.get(u.ID)
			if errors.Is(err, errNone) {
				return Member{ID: u.ID, Name: nameOf(u), Role: guest}, nil
			}
			return m, err
		},
		Public: func(m Member) any { return map[string]string{"role": m.Role} }, // what scripts may know
	}
	return t
}

// Attach implements core.Part.
func (t *team) Attach(h *core.Host) error {
	h.Gate(t.arrive)
	return nil
}

// arrive writes down who has come, when their first sign-in has proved who they are. An invitation says what a new
// member may do; without one they are a guest. It holds nobody back.
func (t *team) arrive(ctx context.Context, p *core.PendingSignIn) (next string, err error) {
	known, err := t.members.get(p.User.ID)
	if err == nil && !known.Confirmed && known.Email == p.User.Email && provedAddress(p) {
		known.Confirmed = true
		if err = t.members.put(known.ID, known); err == nil {
			err = t.people.Refresh(ctx, known.ID)
		}
		return "", err
	}
	if !errors.Is(err, errNone) {
		return "", err // known, or not to be found out now
	}
	m := Member{ID: p.User.ID, Name: nameOf(p.User), Email: p.User.Email, Role: guest}
	if m.Confirmed = provedAddress(p); m.Confirmed {
		if m.Role, err = t.invitedAs(ctx, m.Email); err != nil {
			return "", err
		}
	}
	if err := t.members.put(m.ID, m); err != nil {
		return "", err
	}
	return "", t.people.Refresh(ctx, m.ID)
}

// provedAddress reports whether the address of a new user is theirs: a letter has proved it, or a provider that is
// believed. An invitation is for the owner of an address, and not for who types it.
func provedAddress(p *core.PendingSignIn) bool {
	return !p.User.EmailVerified.IsZero() || p.Account != nil && p.Account.Provider == "dev"
}

// invitedAs returns the role that the invitation of an address names.
func (t *team) invitedAs(ctx context.Context, email string) (string, error) {
	i, err := t.invitation(ctx, email)
	if errors.Is(err, core.ErrNotFound) {
		return guest, nil
	}
	if err != nil {
		return "", err
	}
	var as struct{ Role string }
	if err := json.Unmarshal(i.Data, &as); err != nil {
		return "", err
	}
	return as.Role, nil
}

// setRole says what somebody may do from their next request on.
func (t *team) setRole(ctx context.Context, id, role string) error {
	err := t.members.change(id, func(m *Member) error {
		m.Role = role
		return nil
	})
	if err != nil {
		return err
	}
	return t.people.Refresh(ctx, id)
}

// list returns everybody, owners first.
func (t *team) list() ([]Member, error) {
	list, err := t.members.all()
	slices.SortFunc(list, func(a, b Member) int {
		return cmp.Or(
			slices.Index(roles, b.Role)-slices.Index(roles, a.Role),
			cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID),
		)
	})
	return list, err
}

// nameOf is what people call a user: who came by mail has told no name, and who came with a passkey no address either.
func nameOf(u *core.User) string {
	local, _, _ := strings.Cut(u.Email, "@")
	return cmp.Or(u.Name, local, "Newcomer")
}
