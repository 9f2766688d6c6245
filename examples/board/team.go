package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
)

// Errors of a change to the team.
var (
	errRole  = errors.New("the role has to be guest, member or owner")
	errOwner = errors.New("the owner of a board stays its owner")
)

// teamPages serves the owner's page with members and invitations.
type teamPages struct {
	*answers
	team   *team
	invite func(ctx context.Context, i account.Invitation) error
}

// teamView is the data of the owner's page.
type teamView struct {
	Me            Member
	People        []Member
	Sent, Mistake string // address of a sent invitation, or an invalid address
}

func (t *teamPages) get(w http.ResponseWriter, r *http.Request) {
	t.show(w, r, http.StatusOK, teamView{})
}

func (t *teamPages) show(w http.ResponseWriter, r *http.Request, status int, v teamView) {
	var err error
	if _, v.Me, err = t.people.FromContext(r.Context()); err == nil {
		v.People, err = t.team.list()
	}
	if err != nil {
		t.fail(w, r, err)
		return
	}
	show(w, r, status, teamPage(v))
}

// setRole changes a member's role and updates their open board.
func (t *teamPages) setRole(w http.ResponseWriter, r *http.Request) {
	id, role := r.PathValue("id"), r.PostFormValue("role")
	_, me, err := t.people.FromContext(r.Context())
	switch {
	case err != nil:
	case !slices.Contains(roles, role):
		err = errRole
	case me.ID == id:
		err = errOwner
	default:
		err = t.team.setRole(r.Context(), id, role)
	}
	t.changed(w, r, "/team", err)
}

// sendInvite emails an invitation. A user who signs up with the address is a member immediately. Existing users get a
// role in the list above instead.
func (t *teamPages) sendInvite(w http.ResponseWriter, r *http.Request) {
	address, err := core.NormalizeEmail(r.PostFormValue("email"))
	if err != nil {
		t.show(w, r, http.StatusUnprocessableEntity, teamView{Mistake: r.PostFormValue("email")})
		return
	}
	data, err := json.Marshal(map[string]string{"role": member})
	if err == nil {
		err = t.invite(r.Context(), account.Invitation{Email: address, Data: data})
	}
	if err != nil {
		t.fail(w, r, err)
		return
	}
	t.show(w, r, http.StatusOK, teamView{Sent: address})
}
