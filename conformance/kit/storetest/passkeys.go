package storetest

import (
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// passkeys are the cases of authenticators.
type passkeys struct{ *kit }

func (k passkeys) roundTrip() {
	u := k.user("u1", "ada@example.com")
	s := k.store.(store.AuthenticatorStore)
	want := store.Authenticator{
		CredentialID: "Y3JlZA==", UserID: u.ID, ProviderAccountID: "Y3JlZA==",
		CredentialPublicKey: "a2V5", Counter: 4294967295,
		CredentialDeviceType: "multiDevice", CredentialBackedUp: true, Transports: "internal,hybrid",
	}
	_, err := s.Authenticator(k.Context(), want.CredentialID)
	k.want(err, core.ErrNotFound)
	k.must(s.CreateAuthenticator(k.Context(), &want))
	k.want(s.CreateAuthenticator(k.Context(), &want), core.ErrConflict)
	got, err := s.Authenticator(k.Context(), want.CredentialID)
	k.must(err)
	if *got != want {
		k.Errorf("got %+v", *got)
	}
	k.must(s.UpdateAuthenticatorCounter(k.Context(), want.CredentialID, 7))
	k.want(s.UpdateAuthenticatorCounter(k.Context(), "none", 7), core.ErrNotFound)
	list, err := s.Authenticators(k.Context(), u.ID)
	k.must(err)
	if len(list) != 1 || list[0].Counter != 7 {
		k.Errorf("%d passkeys", len(list))
	}
}

func (k passkeys) removed() {
	u := k.user("u1", "ada@example.com")
	s, d := k.store.(store.AuthenticatorStore), k.store.(store.AuthenticatorDeleter)
	first := store.Authenticator{
		CredentialID: "YQ==", UserID: u.ID, ProviderAccountID: "YQ==", CredentialPublicKey: "a2V5",
		CredentialDeviceType: "singleDevice",
	}
	second := first
	second.CredentialID, second.ProviderAccountID = "yq==", "yq=="
	k.must(s.CreateAuthenticator(k.Context(), &first))
	k.must(s.CreateAuthenticator(k.Context(), &second))
	k.want(d.DeleteAuthenticator(k.Context(), "none"), core.ErrNotFound)
	k.must(d.DeleteAuthenticator(k.Context(), first.CredentialID))
	k.want(d.DeleteAuthenticator(k.Context(), first.CredentialID), core.ErrNotFound)
	_, err := s.Authenticator(k.Context(), first.CredentialID)
	k.want(err, core.ErrNotFound)
	list, err := s.Authenticators(k.Context(), u.ID)
	k.must(err)
	if len(list) != 1 || list[0].CredentialID != second.CredentialID {
		k.Errorf("%d passkeys are left, want the other one", len(list))
	}
	k.must(s.CreateAuthenticator(k.Context(), &first)) // the credential can be registered again
}

func (k passkeys) ofUsers() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	s := k.store.(store.AuthenticatorStore)
	none, err := s.Authenticators(k.Context(), u.ID)
	k.must(err)
	if len(none) != 0 {
		k.Errorf("%d passkeys of a user without passkeys", len(none))
	}
	long := strings.Repeat("A", 1364) // 1023 bytes, the maximum of WebAuthn
	for id, owner := range map[string]*core.User{"YQ==": u, "Yg==": u, "yq==": v, long: v} {
		k.must(s.CreateAuthenticator(k.Context(), &store.Authenticator{
			CredentialID: id, UserID: owner.ID, ProviderAccountID: id,
			CredentialPublicKey: "a2V5", CredentialDeviceType: "singleDevice",
		}))
	}
	for _, owner := range []*core.User{u, v} {
		list, err := s.Authenticators(k.Context(), owner.ID)
		k.must(err)
		if len(list) != 2 {
			k.Errorf("%d passkeys, want 2", len(list))
		}
		for _, a := range list {
			if a.UserID != owner.ID || a.CredentialBackedUp || a.Transports != "" || a.Counter != 0 {
				k.Errorf("passkey %.10s of %s: %v %q %d", a.CredentialID, a.UserID, a.CredentialBackedUp, a.Transports, a.Counter)
			}
		}
	}
	got, err := s.Authenticator(k.Context(), long)
	k.must(err)
	if got.UserID != v.ID {
		k.Errorf("passkey of %s", got.UserID)
	}
	_, err = s.Authenticator(k.Context(), "YQ== ")
	k.want(err, core.ErrNotFound)
	if d, ok := k.store.(store.UserDeleter); ok {
		k.must(d.DeleteUser(k.Context(), v.ID))
		_, err = s.Authenticator(k.Context(), long)
		k.want(err, core.ErrNotFound)
	}
}
