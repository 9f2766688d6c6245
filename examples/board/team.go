package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/account"
	"github.com/latchkey-go/latchkey/core"
)

// What can be wrong with a change of the team.
var (
	errRole  = errors.New("the role has to be guest, member or owner")
	errOwner = errors.New("the owner of a board stays its owner")
)

// teamPages are for the owner: who belongs to the board, and who is to.
type teamPages struct {
	*answers
	team   *team
	invite func(ctx context.Context, i account.Invitation) error
}

// teamView is what the owner sees.
type teamView struct {
	Me            Member
	People        []Member
	Sent, Mistake string // the address of an invitation that went out, or that is none
}

func (t *teamPages) get(w http.ResponseWriter, r *http.Request) {
	t.show(w, r, http.StatusOK, teamView{})
}

func (t *teamPages) show(w http.ResponseWriter, r *http.Request, status int, v teamView) {
	var err error
	if _, v.Me, err = t.people.From(r.Context()); err == nil {
		v.People, err = t.team.list()
	}
	if err != nil {
		t.fail(w, r, err)
		return
	}
	show(w, r, status, teamPage(v))
}

// setRole says what somebody may do. Their open board is drawn anew, with buttons or without.
func (t *teamPages) setRole(w http.ResponseWriter, r *http.Request) {
	id, role := r.PathValue("id"), r.PostFormValue("role")
	_, me, err := t.people.From(r.Context())
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

// sendInvite writes a letter. Who signs up with the address is a member from the first moment on; whoever has an
// account is given a role in the list above.
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
