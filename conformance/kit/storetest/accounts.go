package storetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// accounts are the cases of accounts.
type accounts struct{ *kit }

func (k accounts) roundTrip() {
	u := k.user("u1", "ada@example.com")
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "1")))
	got, err := k.store.UserByAccount(k.Context(), "p", "1")
	k.must(err)
	k.same(got, u)
}

func (k accounts) conflict() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	for _, id := range []string{"a", "A", "á", "a ", "1", "01", "1.0"} {
		k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", id)))
	}
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "q", "a")))
	k.want(k.store.LinkAccount(k.Context(), k.account(v, "p", "a")), core.ErrConflict)
	k.want(k.store.LinkAccount(k.Context(), k.account(u, "p", "a")), core.ErrConflict)
	_, err := k.store.UserByAccount(k.Context(), "P", "a")
	k.want(err, core.ErrNotFound)
}

func (k accounts) atOnce() {
	u := k.user("u1", "ada@example.com")
	won := k.race(50, core.ErrConflict, func(int) error {
		return k.store.LinkAccount(k.Context(), k.account(u, "p", "1"))
	})
	if won != 1 {
		k.Errorf("linked %d times", won)
	}
}

func (k accounts) updated() {
	u := k.user("u1", "ada@example.com")
	accounts := k.store.(store.AccountStore)
	k.want(accounts.UpdateAccount(k.Context(), k.account(u, "p", "1")), core.ErrNotFound)
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "1")))
	fresh := k.account(u, "p", "1")
	fresh.AccessToken, fresh.RefreshToken = "at-2", "rt-2"
	k.must(accounts.UpdateAccount(k.Context(), fresh))
	list, err := accounts.Accounts(k.Context(), u.ID)
	k.must(err)
	if len(list) != 1 || list[0].AccessToken != "at-2" || list[0].RefreshToken != "rt-2" {
		k.Errorf("accounts after the update: %d", len(list))
	}
}

func (k accounts) unlinked() {
	u := k.user("u1", "ada@example.com")
	accounts := k.store.(store.AccountStore)
	_, err := accounts.Account(k.Context(), "p", "Y3JlZA==")
	k.want(err, core.ErrNotFound)
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "Y3JlZA==")))
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "2")))
	got, err := accounts.Account(k.Context(), "p", "Y3JlZA==")
	k.must(err)
	if got.UserID != u.ID || got.Provider != "p" || got.ProviderAccountID != "Y3JlZA==" || got.AccessToken != "at" {
		k.Errorf("account %v of %s", got, got.UserID)
	}
	k.must(accounts.UnlinkAccount(k.Context(), "p", "Y3JlZA=="))
	k.want(accounts.UnlinkAccount(k.Context(), "p", "Y3JlZA=="), core.ErrNotFound)
	_, err = accounts.Account(k.Context(), "p", "Y3JlZA==")
	k.want(err, core.ErrNotFound)
	_, err = k.store.UserByAccount(k.Context(), "p", "Y3JlZA==")
	k.want(err, core.ErrNotFound)
	list, err := accounts.Accounts(k.Context(), u.ID)
	k.must(err)
	if len(list) != 1 || list[0].ProviderAccountID != "2" {
		k.Errorf("%d accounts are left", len(list))
	}
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "Y3JlZA=="))) // it is available again
}

func (k accounts) vouches() {
	u := k.user("u1", "ada@example.com")
	read := func(want string) {
		k.Helper()
		list, err := k.store.(store.AccountStore).Accounts(k.Context(), u.ID)
		k.must(err)
		if len(list) != 1 || list[0].VerifiedEmail != want || list[0].Label != want ||
			list[0].Extra.Text("tenant") != "t1" || list[0].Extra["email_proved"] != nil {
			k.Fatalf("accounts %d, vouched for %q, want %q, members %s", len(list), list[0].VerifiedEmail, want, list[0].Extra)
		}
	}
	a := k.account(u, "p", "1")
	k.must(a.Extra.Set("tenant", "t1"))
	k.must(a.Extra.Set("email_proved", "eve@example.com")) // from the provider, not from core
	k.must(k.store.LinkAccount(k.Context(), a))
	if _, ok := k.store.(store.AccountStore); !ok {
		return
	}
	list, err := k.store.(store.AccountStore).Accounts(k.Context(), u.ID)
	k.must(err)
	if len(list) != 1 || list[0].VerifiedEmail != "" {
		k.Fatalf("a member of that name vouches for %q", list[0].VerifiedEmail)
	}
	a = k.account(u, "p", "1")
	k.must(a.Extra.Set("tenant", "t1"))
	for _, want := range []string{"ada@example.com", "ada@bücher.example", ""} {
		a.VerifiedEmail, a.Label = want, want
		k.must(k.store.(store.AccountStore).UpdateAccount(k.Context(), a))
		read(want)
	}
	k.must(k.store.(store.AccountStore).UnlinkAccount(k.Context(), "p", "1"))
	a.VerifiedEmail, a.Label = "ada@example.com", "ada@example.com"
	k.must(k.store.LinkAccount(k.Context(), a))
	read("ada@example.com")
}

func (k accounts) longIDs() {
	u := k.user("u1", "ada@example.com")
	for _, id := range []string{long("@example.com"), long("😀"), "😀", "😁", "ß", "ss"} {
		k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", id)))
		got, err := k.store.UserByAccount(k.Context(), "p", id)
		k.must(err)
		k.same(got, u)
	}
	for _, id := range []string{long("x"), "😂", "", "SS", "%"} {
		_, err := k.store.UserByAccount(k.Context(), "p", id)
		k.want(err, core.ErrNotFound)
	}
}

// impossibleKeys looks up keys that some databases cannot store. The result must be ErrNotFound.
func (k accounts) impossibleKeys() {
	k.user("u1", "ada@example.com")
	for _, key := range []string{"nul\x00byte", "\xff", "u1\x00", strings.Repeat("x", 5000)} {
		_, err := k.store.User(k.Context(), key)
		k.want(err, core.ErrNotFound)
		_, err = k.store.UserByAccount(k.Context(), "p", key)
		k.want(err, core.ErrNotFound)
		if is[store.SessionStore](k.store) {
			_, _, err = k.sessions().SessionAndUser(k.Context(), key)
			k.want(err, core.ErrNotFound)
			k.want(k.sessions().UpdateSession(k.Context(), key, base), core.ErrNotFound)
		}
		if is[store.VerificationTokenStore](k.store) {
			_, err = k.tokens().UseVerificationToken(k.Context(), "ada@example.com", key)
			k.want(err, core.ErrNotFound)
		}
	}
}

func (k accounts) members() {
	u := k.user("u1", "ada@example.com")
	a := k.account(u, "p", "1")
	a.AccessToken = core.Secret(strings.Repeat("a", 4<<10))
	a.RefreshToken = core.Secret(strings.Repeat("r", 4<<10))
	a.IDToken = core.Secret(strings.Repeat("i", 64<<10))
	a.SessionState, a.AuthorizationDetails = json.RawMessage(`"state"`), json.RawMessage(`[{"type":"x"}]`)
	a.Extra = members()
	k.must(a.Extra.Set("oauth_token_secret", "s"))
	want := members()
	k.must(want.Set("oauth_token_secret", "s"))
	k.must(k.store.LinkAccount(k.Context(), a))
	list, err := k.store.(store.AccountStore).Accounts(k.Context(), u.ID)
	k.must(err)
	if len(list) != 1 {
		k.Fatalf("%d accounts", len(list))
	}
	got := list[0]
	if got.AccessToken != a.AccessToken || got.RefreshToken != a.RefreshToken || got.IDToken != a.IDToken ||
		got.TokenType != "bearer" || !got.ExpiresAt.Equal(a.ExpiresAt) ||
		got.Scope != "" || string(got.SessionState) != `"state"` || string(got.AuthorizationDetails) != `[{"type":"x"}]` {
		k.Error("a member came back changed")
	}
	k.sameMembers(got.Extra, want)
	for i, state := range []string{``, `null`, `""`, `"null"`, `"7"`, `7`, `{"a":1}`, `"a\u003cb"`} {
		b := k.account(u, "q", fmt.Sprint(i))
		if state != "" {
			b.SessionState = json.RawMessage(state)
		}
		k.must(k.store.LinkAccount(k.Context(), b))
	}
	list, err = k.store.(store.AccountStore).Accounts(k.Context(), u.ID)
	k.must(err)
	states := map[string]string{}
	for _, b := range list {
		states[b.ProviderAccountID] = string(b.SessionState)
	}
	for i, want := range []string{``, `null`, `""`, `"null"`, `"7"`, `7`, `{"a":1}`, `"a\u003cb"`} {
		if got := states[fmt.Sprint(i)]; got != want {
			k.Errorf("session_state %s came back as %s", want, got)
		}
	}
}
