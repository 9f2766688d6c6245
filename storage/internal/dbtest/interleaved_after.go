package dbtest

import (
	"errors"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// tidy deletes the users that were changed, and checks that a moved address is available again. Unchanged users remain,
// because no other scene uses their keys.
func (s aftermath) tidy() {
	ctx := s.Context()
	if s.acknowledged("delete the user") {
		s.ada = nil
	}
	if !s.tried("another takes that address", "another links that account") {
		s.eve = nil
	}
	for _, u := range []*core.User{s.ada, s.eve, s.made} {
		if u != nil {
			s.must(s.store.(store.UserDeleter).DeleteUser(ctx, u.ID))
		}
	}
	if s.moves() {
		_, err := s.store.CreateUser(ctx, &core.User{ID: uuid(s.key("last")), Email: s.address("new")})
		s.must(err)
	}
}

// afterwards checks that nothing blocks later calls.
func (s aftermath) afterwards() {
	ctx := s.Context()
	if u := s.found(s.store.User(ctx, s.ada.ID)); u != nil {
		u.Name = "afterwards"
		_, err := s.store.UpdateUser(ctx, u)
		s.must(err)
		s.session(u, s.key("third"), base)
		s.must(s.store.LinkAccount(ctx, s.account(u, "r", s.key(""))))
		for _, token := range []string{"first", "second", "third"} {
			_, got, err := s.sessions().SessionAndUser(ctx, s.key(token))
			if err == nil && got.Name != "afterwards" || err != nil && token == "third" {
				s.Errorf("the %s session: %v, %v", token, err, got)
			}
		}
		s.must(s.store.(store.UserDeleter).DeleteUser(ctx, u.ID))
	}
	for _, token := range []string{"first", "second", "third"} {
		if _, _, err := s.sessions().SessionAndUser(ctx, s.key(token)); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("the %s session of a deleted user: %v", token, err)
		}
	}
	// Everything of the deleted user must be available again, even after a crash.
	eve := s.found(s.store.User(ctx, s.eve.ID))
	if eve == nil {
		s.Fatal("another user has disappeared")
	}
	s.freeAddress(eve)
	s.freeKeys(eve)
	if u := s.found(s.store.UserByEmail(ctx, s.address("new"))); u != nil {
		s.must(s.store.(store.UserDeleter).DeleteUser(ctx, u.ID))
	}
	_, err := s.store.CreateUser(ctx, &core.User{ID: uuid(s.key("last")), Email: s.address("new")})
	s.must(err)
}

// freeAddress checks that the address of a deleted user is available. The other user takes it if an act was about that
// user, who must still be changeable. Otherwise a new user takes it.
func (s aftermath) freeAddress(eve *core.User) {
	s.Helper()
	var err error
	if s.tried("another takes that address", "another links that account") {
		eve.Email = s.address("ada")
		_, err = s.store.UpdateUser(s.Context(), eve)
	} else {
		_, err = s.store.CreateUser(s.Context(), &core.User{ID: uuid(s.key("heir")), Email: s.address("ada")})
	}
	if err != nil {
		s.Errorf("taking the address of a deleted user: %v", err)
	}
}

// freeKeys checks that accounts, passkeys and records of a deleted user do not block their keys, as far as the acts
// were about them.
func (s aftermath) freeKeys(eve *core.User) {
	s.Helper()
	if s.concerns("account") {
		if err := s.store.LinkAccount(s.Context(), s.account(eve, "p", s.key(""))); err != nil {
			s.Errorf("linking the account of a deleted user: %v", err)
		}
		linked := s.store.LinkAccount(s.Context(), s.account(eve, "q", s.key("")))
		isHers := s.tried("another links that account") && errors.Is(linked, core.ErrConflict)
		if linked != nil && !isHers {
			s.Errorf("linking the account of a deleted user: %v", linked)
		}
	}
	if s.concerns("passkey") {
		key := &store.Authenticator{
			CredentialID: s.key("key"), UserID: eve.ID, ProviderAccountID: "x", CredentialPublicKey: "a2V5",
		}
		if err := s.store.(store.AuthenticatorStore).CreateAuthenticator(s.Context(), key); err != nil {
			s.Errorf("adding the passkey of a deleted user: %v", err)
		}
	}
	if s.concerns("record") {
		s.freeRecords(eve)
	}
}
