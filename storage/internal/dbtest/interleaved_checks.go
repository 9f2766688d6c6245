package dbtest

import (
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// aftermath checks the result of a scene.
type aftermath struct{ *scene }

// found returns the user, or nil if there is none.
func (s aftermath) found(u *core.User, err error) *core.User {
	s.Helper()
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		s.Error(err)
	}
	return u
}

// check checks everything that the acts affect. Sessions and addresses must always return the current user.
func (s aftermath) check() {
	s.Helper()
	ctx := s.Context()
	ada := s.found(s.store.User(ctx, s.ada.ID))
	if s.acknowledged("delete the user") && ada != nil {
		s.Error("a deleted user exists")
	}
	if !s.tried("delete the user") && ada == nil {
		s.Error("the user is gone")
	}
	if s.concerns("session") || s.abouts["user"] {
		s.checkSessions(ada)
	}
	if s.concerns("address") || s.abouts["user"] {
		s.checkAddresses(ada)
	}
	if s.concerns("account") {
		s.checkAccounts(ada)
	}
	if s.concerns("record") {
		s.checkRecords(ada)
	}
	if s.concerns("passkey") {
		s.checkPasskey()
	}
	if ada != nil && s.acknowledged("rename") && !s.tried("change the address") && ada.Name != "renamed" {
		s.Errorf("renamed, and called %q", ada.Name)
	}
	if ada != nil && s.acknowledged("change the address") && !s.tried("rename") && ada.Email != s.address("new") {
		s.Errorf("the address is %q", ada.Email)
	}
}

func (s aftermath) checkPasskey() {
	s.Helper()
	key, err := s.store.(store.AuthenticatorStore).Authenticator(s.Context(), s.key("key"))
	if s.acknowledged("delete the user") && !s.failed("add a passkey") && !errors.Is(err, core.ErrNotFound) ||
		s.acknowledged("add a passkey") && !s.tried("delete the user") && err != nil {
		s.Errorf("passkey %v, error %v", key, err)
	}
}

// checkSessions checks that a session returns the current user. A session whose creation failed may be missing.
func (s aftermath) checkSessions(ada *core.User) {
	s.Helper()
	for _, token := range []string{"first", "second"} {
		if token == "second" && !s.acknowledged("create a session") {
			continue
		}
		session, u, err := s.sessions().SessionAndUser(s.Context(), s.key(token))
		switch {
		case err == nil && ada == nil:
			s.Errorf("a session of a deleted user")
		case err == nil:
			s.same(u, ada)
		case !errors.Is(err, core.ErrNotFound):
			s.Error(err)
		case ada != nil && !s.tried("delete the user") && (token == "second" || !s.tried("delete the session")):
			s.Errorf("the %s session is lost", token)
		}
		if token != "first" {
			continue
		}
		if s.acknowledged("delete the session") && err == nil {
			s.Error("a session that was deleted is there")
		}
		if err == nil && s.acknowledged("extend the session") && !session.Expires.Equal(base.Add(time.Hour)) {
			s.Error("a session that was extended is not")
		}
	}
}

// checkAddresses checks that UserByEmail returns the one user with an address.
func (s aftermath) checkAddresses(ada *core.User) {
	s.Helper()
	known := []*core.User{ada, s.found(s.store.User(s.Context(), s.eve.ID))}
	if s.made != nil {
		made := s.found(s.store.User(s.Context(), s.made.ID))
		if made == nil {
			s.Error("a user that was made is gone")
		}
		known = append(known, made)
	}
	owners := map[string]*core.User{}
	for _, u := range known {
		if u == nil {
			continue
		}
		if owners[u.Email] != nil {
			s.Errorf("two users have one address")
		}
		owners[u.Email] = u
	}
	for _, name := range []string{"ada", "eve", "new"} {
		got := s.found(s.store.UserByEmail(s.Context(), s.address(name)))
		want := owners[s.address(name)]
		switch {
		case got == nil && want != nil:
			s.Errorf("no user is found by the address %q of %s", name, want.Email)
		case got != nil && want != nil:
			s.same(got, want)
		case got != nil && !s.tried("create a user of that address"): // it may have been created without an acknowledgement
			s.Errorf("a user is found by the address %q, which no user has", name)
		case got != nil && got.Email != s.address(name):
			s.Errorf("the address %q finds a user of another", name)
		}
	}
}

// checkAccounts checks that lookups of accounts by key and by user agree.
func (s aftermath) checkAccounts(ada *core.User) {
	s.Helper()
	listed := map[string]string{}
	for _, id := range []string{s.ada.ID, s.eve.ID} {
		list, err := s.store.(store.AccountStore).Accounts(s.Context(), id)
		s.must(err)
		for _, a := range list {
			if listed[a.Provider] != "" || a.UserID != id {
				s.Errorf("the account at %s belongs to two users", a.Provider)
			}
			listed[a.Provider] = id
		}
	}
	for _, provider := range []string{"p", "q"} {
		u := s.found(s.store.UserByAccount(s.Context(), provider, s.key("")))
		var id string
		if u != nil {
			id = u.ID
		}
		leftBehind := ada == nil && listed[provider] == s.ada.ID
		if listed[provider] != id && !leftBehind {
			s.Errorf("the account at %s is found for %q and listed for %q", provider, id, listed[provider])
		}
	}
	if s.acknowledged("delete the user") &&
		(listed["p"] == s.ada.ID || listed["q"] == s.ada.ID && !s.failed("link an account")) {
		s.Error("an account of a deleted user exists")
	}
	if s.acknowledged("unlink an account") && listed["p"] != "" {
		s.Error("an account that was unlinked is there")
	}
	if !s.tried("unlink an account", "delete the user") && listed["p"] == "" {
		s.Error("an account is lost")
	}
	if s.acknowledged("link an account") && !s.tried("delete the user") && listed["q"] != s.ada.ID ||
		s.acknowledged("another links that account") && listed["q"] != s.eve.ID {
		s.Error("an account that was linked is not")
	}
}
