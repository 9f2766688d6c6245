package main

import (
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

// teamView is what the owner sees.
type teamView struct {
	Me            Member
	People        []Member
	Sent, Mistake string // the address of an invitation that went out, or that is none
}

func (s *site) getTeam(w http.ResponseWriter, r *http.Request) {
	s.showTeam(w, r, http.StatusOK, teamView{})
}

func (s *site) showTeam(w http.ResponseWriter, r *http.Request, status int, v teamView) {
	var err error
	if _, v.Me, err = s.team.people.From(r.Context()); err == nil {
		v.People, err = s.team.list()
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	show(w, r, status, teamPage(v))
}

// postRole says what somebody may do. Their open board is drawn anew, with buttons or without.
func (s *site) postRole(w http.ResponseWriter, r *http.Request) {
	id, role := r.PathValue("id"), r.PostFormValue("role")
	_, me, err := s.team.people.From(r.Context())
	switch {
	case err != nil:
	case !slices.Contains(roles, role):
		err = errRole
	case me.ID == id:
		err = errOwner
	default:
		err = s.team.setRole(r.Context(), id, role)
	}
	s.changed(w, r, "/team", err)
}

// postInvite writes a letter. Who signs up with the address is a member from the first moment on; whoever has an
// account is given a role in the list above.
func (s *site) postInvite(w http.ResponseWriter, r *http.Request) {
	address, err := core.NormalizeEmail(r.PostFormValue("email"))
	if err != nil {
		s.showTeam(w, r, http.StatusUnprocessableEntity, teamView{Mistake: r.PostFormValue("email")})
		return
	}
	data, err := json.Marshal(map[string]string{"role": member})
	if err == nil {
		err = s.ways.account.Invite(r.Context(), account.Invitation{Email: address, Data: data})
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.showTeam(w, r, http.StatusOK, teamView{Sent: address})
}
