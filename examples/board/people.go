package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
)

// Roles: a guest reads, a member writes, an owner assigns roles.
const (
	guest  = "guest"
	member = "member"
	owner  = "owner"
)

// roles lists all roles, from the fewest permissions to the most.
var roles = []string{guest, member, owner}

// Member is the board's data about a signed-in user. It is in each session, and guards check it.
type Member struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
	Role  string `json:"role"`
	// Confirmed is true if Email is verified.
	Confirmed bool `json:"confirmed,omitempty"`
}

// Roles returns the roles that core.HasRole checks.
func (m Member) Roles() []string { return []string{m.Role} }

// Writes reports whether the member may change the board.
func (m Member) Writes() bool { return m.Role == member || m.Role == owner }

// team stores the members of the board. It is a plugin whose gate runs at every sign-in.
type team struct {
	members table[Member]
	people  *core.SessionData[Member]
	// invitation returns the open invitation of an address.
	invitation func(ctx context.Context, email string) (*account.Invitation, error)
}

func newTeam(db *bbolt.DB, invitation func(context.Context, string) (*account.Invitation, error)) *team {
	t := &team{members: table[Member]{db, "members"}, invitation: invitation}
	t.people = &core.SessionData[Member]{
		Load: func(_ context.Context, u *core.User) (Member, error) {
			m, err := t.members.get(u.ID)
			if errors.Is(err, errNone) {
				return Member{ID: u.ID, Name: nameOf(u), Role: guest}, nil
			}
			return m, err
		},
		Public: func(m Member) any { return map[string]string{"role": m.Role} }, // visible to scripts
	}
	return t
}

// Attach implements core.Plugin.
func (t *team) Attach(h *core.PluginHost) error {
	h.AddSignInGate(t.arrive)
	return nil
}

// arrive adds a new user to the members at their first sign-in. The role is that of their invitation, else guest. It
// never blocks a sign-in.
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
		return "", err // a known member, or an error
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

// provedAddress reports whether the address of a new user is verified, by an email or by a trusted provider. An
// invitation belongs to the owner of an address, not to any user who types it.
func provedAddress(p *core.PendingSignIn) bool {
	return !p.User.EmailVerified.IsZero() || p.Account != nil && p.Account.Provider == "dev"
}

// invitedAs returns the role of an address's invitation.
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

// setRole changes a member's role. It takes effect at their next request.
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

// list returns all members, owners first.
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

// nameOf returns a display name. A sign-in by email has no name, and one with a passkey no address either.
func nameOf(u *core.User) string {
	local, _, _ := strings.Cut(u.Email, "@")
	return cmp.Or(u.Name, local, "Newcomer")
}
