// Package storetest is the kit that proves a store: one subtest per sentence of the contract of [core.Store] and the
// interfaces beside it. A store's own test is one line:
//
//	storetest.Run(t, func(t *testing.T) core.Store { return memory.New() })
//
// Interfaces that the store does not implement are named in the log; what it implements has to hold in full.
package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// base is a moment that every engine can keep: milliseconds, UTC.
var base = time.Date(2030, 1, 2, 3, 4, 5, 678000000, time.UTC)

// kit is one empty store under test.
type kit struct {
	testing.TB
	store core.Store
}

// Run runs all cases, each on an empty store of its own, but those named in except: what the tables or the engine
// cannot keep, for reasons that the store's README tells. A name that is no case fails.
func Run(t *testing.T, open func(t *testing.T) core.Store, except ...string) {
	t.Helper()
	for _, name := range except {
		if !slices.ContainsFunc(cases, func(c testCase) bool { return c.name == name }) {
			t.Errorf("there is no case %q", name)
		}
	}
	for _, c := range cases {
		if slices.Contains(except, c.name) {
			t.Logf("left out: %s", c.name)
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			k := &kit{t, open(t)}
			if c.needs != nil && !c.needs(k.store) {
				t.Logf("%T does not implement what this case is about", k.store)
				return
			}
			c.run(k)
		})
	}
}

// Count is the number of cases, for reports.
func Count() int { return len(cases) }

func is[T any](s core.Store) bool { _, ok := s.(T); return ok }

func both[A, B any](s core.Store) bool { return is[A](s) && is[B](s) }

// testCase is one sentence of the contract.
type testCase struct {
	name  string
	needs func(core.Store) bool
	run   func(*kit)
}

var cases = []testCase{
	{"user/created and found by id and e-mail", nil, (*kit).userRoundTrip},
	{"user/absence is ErrNotFound", nil, (*kit).userAbsent},
	{"user/an e-mail belongs to one user", nil, (*kit).userConflict},
	{"user/many users without an e-mail, none found by it", nil, (*kit).usersWithoutEmail},
	{"user/updated", nil, (*kit).userUpdate},
	{"user/null and empty are kept apart", nil, (*kit).userNulls},
	{"user/odd texts come back as they went in, or are refused", nil, (*kit).oddTexts},
	{"user/e-mails of 320 bytes, exactly compared", nil, (*kit).longEmails},
	{"user/times before 1970 and with fractions", nil, (*kit).oddTimes},
	{"user/further members are kept, null and empty apart", nil, (*kit).userMembers},
	{"user/what is returned is the caller's own", nil, (*kit).ownCopies},
	{"user/an address that is left out is free for another user", nil, (*kit).addressMoves},
	{"user/two first sign-ins with one e-mail make one user", nil, (*kit).userRace},
	{"account/linked and found", nil, (*kit).accountRoundTrip},
	{"account/linked once, keys are exact", nil, (*kit).accountConflict},
	{"account/linked fifty times at once, once for real", nil, (*kit).accountRace},
	{"account/tokens are refreshed", is[store.AccountStore], (*kit).accountUpdate},
	{"account/read by its key, and unlinked", is[store.AccountStore], (*kit).accountUnlinked},
	{"account/the address that its provider vouches for is kept", is[store.AccountStore], (*kit).accountVouches},
	{"account/ids of 320 bytes and 4-byte runes", nil, (*kit).longAccounts},
	{"account/what cannot be stored is looked for in vain", nil, (*kit).impossibleKeys},
	{"account/large tokens and unknown members are kept", is[store.AccountStore], (*kit).accountMembers},
	{"session/created and read with its user", is[store.SessionStore], (*kit).sessionRoundTrip},
	{"session/absence is ErrNotFound", is[store.SessionStore], (*kit).sessionAbsent},
	{"session/expired ones are returned", is[store.SessionStore], (*kit).sessionExpired},
	{"session/keys are exact", is[store.SessionStore], (*kit).sessionExact},
	{"session/a token belongs to one session", is[store.SessionStore], (*kit).sessionConflict},
	{"session/times before 1970 and with fractions", is[store.SessionStore], (*kit).sessionTimes},
	{"session/extended and deleted at once, it stays gone", is[store.SessionStore], (*kit).sessionRace},
	{"session/deleted by user", is[store.SessionLister], (*kit).sessionsOfUser},
	{"token/used once, exactly", is[store.VerificationTokenStore], (*kit).tokenOnce},
	{"token/made once, a second time it is a conflict", is[store.VerificationTokenStore], (*kit).tokenConflict},
	{"token/used fifty times at once, once for real", is[store.VerificationTokenStore], (*kit).tokenRace},
	{"token/a wrong guess does not spend it", is[store.VerificationTokenStore], (*kit).tokenGuess},
	{"token/an address of 320 bytes", is[store.VerificationTokenStore], (*kit).tokenLong},
	{"delete/a user goes with everything of theirs", is[store.UserDeleter], (*kit).deleteUser},
	{"delete/expired rows in bulk", is[store.Cleaner], (*kit).deleteExpired},
	{"delete/expired rows, the rest of them after a context that ended",
		both[store.Cleaner, store.SessionStore], (*kit).cleaningStops},
	{"delete/expired rows, and how many of them a context that ended has left",
		both[store.Cleaner, store.SessionStore], (*kit).cleaningSaysWhatIsLeft},
	{"delete/expired rows, but no session that is extended meanwhile",
		both[store.Cleaner, store.SessionStore], (*kit).cleaningRace},
	{"delete/expired rows by when they end now", both[store.Cleaner, store.SessionStore], (*kit).cleaningMovedEnds},
	{"transaction/all", is[store.Transactor], (*kit).commit},
	{"transaction/an address moves from one user to another", is[store.Transactor], (*kit).addressMovesInside},
	{"transaction/nothing after an error", is[store.Transactor], (*kit).rollback},
	{"transaction/an error undoes writes of all kinds", is[store.Transactor], (*kit).rollbackAll},
	{"transaction/two first sign-ins at once, one user and nothing of the other", is[store.Transactor], (*kit).signInRace},
	{"transaction/nothing after a context that ends in it", is[store.Transactor], (*kit).cancelledInside},
	{"transaction/nothing after a panic", is[store.Transactor], (*kit).rollbackPanic},
	{"authenticator/created, found, counted", is[store.AuthenticatorStore], (*kit).authenticators},
	{"authenticator/removed, and good for another time", is[store.AuthenticatorDeleter], (*kit).authenticatorRemoved},
	{"authenticator/each to its user", is[store.AuthenticatorStore], (*kit).authenticatorsOfUsers},
	{"record/created once, updated from its version, taken", is[store.RecordStore], (*kit).recordRoundTrip},
	{"record/listed and deleted by user and kind", is[store.RecordStore], (*kit).recordsOfUsers},
	{"record/keys are exact, values come back byte for byte", is[store.RecordStore], (*kit).recordsExact},
	{"record/created fifty times at once, and taken, once for real", is[store.RecordStore], (*kit).recordRaces},
	{"record/fifty updates of one version, one for real", is[store.RecordStore], (*kit).recordUpdateRace},
	{"record/gone with its user", both[store.RecordStore, store.UserDeleter], (*kit).recordsOfDeletedUser},
	{"record/gone after its end", both[store.RecordStore, store.Cleaner], (*kit).recordsExpire},
	{"record/in transactions", both[store.RecordStore, store.Transactor], (*kit).recordsInTransaction},
	{"sign-in/one person on two devices at once, with an account", nil, (*kit).twoByAccount},
	{"sign-in/one person on 32 devices at once, with an account", nil, (*kit).crowdByAccount},
	{"sign-in/one person on two devices at once, by mail", is[store.VerificationTokenStore], (*kit).twoByMail},
	{"sign-in/one person on 32 devices at once, by mail", is[store.VerificationTokenStore], (*kit).crowdByMail},
	{"context/a cancelled one writes nothing", nil, (*kit).cancelled},
	{"context/a cancelled one spends, extends and ends nothing", nil, (*kit).cancelledOthers},
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func (k *kit) want(err, target error) {
	k.Helper()
	if !errors.Is(err, target) {
		k.Errorf("error %v, want %v", err, target)
	}
}

func (k *kit) user(id, email string) *core.User {
	k.Helper()
	u, err := k.store.CreateUser(k.Context(), &core.User{
		ID: uuid(id), Name: "Name of " + id, Email: email, Null: store.NullImage,
	})
	k.must(err)
	return u
}

// uuid is the id of a user of a test, in the form in which core gives ids.
func uuid(name string) string {
	sum := sha256.Sum256([]byte(name))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func (k *kit) same(got, want *core.User) {
	k.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		k.Errorf("user\n got %s\nwant %s", g, w)
	}
}

func (k *kit) userRoundTrip() {
	made := k.user("u1", "ada@example.com")
	if made.ID == "" {
		k.Fatal("the user has no id")
	}
	got, err := k.store.User(k.Context(), made.ID)
	k.must(err)
	k.same(got, made)
	got, err = k.store.UserByEmail(k.Context(), "ada@example.com")
	k.must(err)
	k.same(got, made)
}

func (k *kit) userAbsent() {
	_, err := k.store.User(k.Context(), "nobody")
	k.want(err, core.ErrNotFound)
	_, err = k.store.UserByEmail(k.Context(), "nobody@example.com")
	k.want(err, core.ErrNotFound)
	_, err = k.store.UserByAccount(k.Context(), "p", "nobody")
	k.want(err, core.ErrNotFound)
	_, err = k.store.UpdateUser(k.Context(), &core.User{ID: "nobody", Name: "x"})
	k.want(err, core.ErrNotFound)
}

func (k *kit) userConflict() {
	k.user("u1", "ada@example.com")
	_, err := k.store.CreateUser(k.Context(), &core.User{ID: uuid("u2"), Email: "ada@example.com"})
	k.want(err, core.ErrConflict)
	other := k.user("u3", "ada@example.org")
	other.Email = "ada@example.com"
	_, err = k.store.UpdateUser(k.Context(), other)
	k.want(err, core.ErrConflict)
}

func (k *kit) usersWithoutEmail() {
	k.user("u1", "")
	k.user("u2", "")
	_, err := k.store.UserByEmail(k.Context(), "")
	k.want(err, core.ErrNotFound)
}

func (k *kit) account(user *core.User, provider, id string) *core.Account {
	return &core.Account{
		UserID: user.ID, Type: core.TypeOIDC, Provider: provider, ProviderAccountID: id,
		AccessToken: "at", TokenType: "bearer", ExpiresAt: time.Unix(1893456000, 0),
	}
}

func (k *kit) accountRoundTrip() {
	u := k.user("u1", "ada@example.com")
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "1")))
	got, err := k.store.UserByAccount(k.Context(), "p", "1")
	k.must(err)
	k.same(got, u)
}

func (k *kit) accountConflict() {
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

func (k *kit) accountUpdate() {
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

func (k *kit) accountUnlinked() {
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
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "Y3JlZA=="))) // it is free again
}

func (k *kit) sessions() store.SessionStore { return k.store.(store.SessionStore) }

func (k *kit) session(u *core.User, token string, expires time.Time) {
	k.Helper()
	s := &store.Session{Token: core.Secret(token), UserID: u.ID, Expires: expires}
	k.must(k.sessions().CreateSession(k.Context(), s))
}

func (k *kit) sessionRoundTrip() {
	u := k.user("u1", "ada@example.com")
	k.session(u, "s1", base)
	k.session(u, "S1", base.Add(time.Hour)) // another token: keys are exact
	session, user, err := k.sessions().SessionAndUser(k.Context(), "s1")
	k.must(err)
	k.same(user, u)
	if session.UserID != u.ID || session.Token != "s1" || !session.Expires.Equal(base) {
		k.Errorf("session of %q until %v", session.UserID, session.Expires)
	}
	k.must(k.sessions().UpdateSession(k.Context(), "s1", base.Add(24*time.Hour)))
	session, _, err = k.sessions().SessionAndUser(k.Context(), "s1")
	k.must(err)
	if !session.Expires.Equal(base.Add(24 * time.Hour)) {
		k.Errorf("extended to %v", session.Expires)
	}
	gone, err := k.sessions().DeleteSession(k.Context(), "s1")
	k.must(err)
	if gone.UserID != u.ID {
		k.Errorf("deleted the session of %q", gone.UserID)
	}
	_, _, err = k.sessions().SessionAndUser(k.Context(), "S1")
	k.must(err)
}

func (k *kit) sessionAbsent() {
	_, _, err := k.sessions().SessionAndUser(k.Context(), "none")
	k.want(err, core.ErrNotFound)
	k.want(k.sessions().UpdateSession(k.Context(), "none", base), core.ErrNotFound)
	_, err = k.sessions().DeleteSession(k.Context(), "none")
	k.want(err, core.ErrNotFound)
}

func (k *kit) sessionExpired() {
	k.session(k.user("u1", ""), "s1", time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC))
	_, _, err := k.sessions().SessionAndUser(k.Context(), "s1")
	k.must(err)
}

func (k *kit) tokens() store.VerificationTokenStore { return k.store.(store.VerificationTokenStore) }

func (k *kit) token(identifier, token string) {
	k.Helper()
	row := &store.VerificationToken{Identifier: identifier, Token: token, Expires: base}
	k.must(k.tokens().CreateVerificationToken(k.Context(), row))
}

func (k *kit) tokenOnce() {
	k.token("ada@example.com", "t1")
	got, err := k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "t1")
	k.must(err)
	if got.Identifier != "ada@example.com" || got.Token != "t1" || !got.Expires.Equal(base) {
		k.Errorf("token %+v", *got)
	}
	_, err = k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "t1")
	k.want(err, core.ErrNotFound)
}

func (k *kit) tokenConflict() {
	k.token("ada@example.com", "t1")
	again := &store.VerificationToken{Identifier: "ada@example.com", Token: "t1", Expires: base.Add(time.Hour)}
	k.want(k.tokens().CreateVerificationToken(k.Context(), again), core.ErrConflict)
	k.token("ada@example.com", "t2")
	got, err := k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "t1")
	k.must(err)
	if !got.Expires.Equal(base) {
		k.Errorf("the token ends at %v, which a refused one says", got.Expires)
	}
}

func (k *kit) deleteUser() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "1")))
	k.must(k.store.LinkAccount(k.Context(), k.account(v, "p", "2")))
	if is[store.SessionStore](k.store) {
		k.session(u, "s1", base)
	}
	d := k.store.(store.UserDeleter)
	k.must(d.DeleteUser(k.Context(), u.ID))
	k.want(d.DeleteUser(k.Context(), u.ID), core.ErrNotFound)
	_, err := k.store.UserByEmail(k.Context(), "ada@example.com")
	k.want(err, core.ErrNotFound)
	_, err = k.store.UserByAccount(k.Context(), "p", "1")
	k.want(err, core.ErrNotFound)
	if is[store.SessionStore](k.store) {
		_, _, err = k.sessions().SessionAndUser(k.Context(), "s1")
		k.want(err, core.ErrNotFound)
	}
	owner, err := k.store.UserByAccount(k.Context(), "p", "2")
	k.must(err)
	k.same(owner, v)
	k.user("u3", "ada@example.com") // the address is free again
}

func (k *kit) userUpdate() {
	u := k.user("u1", "ada@example.com")
	u.Name, u.Email, u.Image, u.Null, u.EmailVerified = "Ada", "ada@example.org", "https://img.example/a", 0, base
	updated, err := k.store.UpdateUser(k.Context(), u)
	k.must(err)
	got, err := k.store.User(k.Context(), u.ID)
	k.must(err)
	k.same(got, updated)
	if got.Name != "Ada" || !got.EmailVerified.Equal(base) {
		k.Errorf("name %q, verified %v", got.Name, got.EmailVerified)
	}
	_, err = k.store.UserByEmail(k.Context(), "ada@example.com")
	k.want(err, core.ErrNotFound)
}

func (k *kit) sessionsOfUser() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	k.session(u, "s1", base)
	k.session(u, "s2", base)
	k.session(v, "s3", base)
	lister := k.store.(store.SessionLister)
	list, err := lister.Sessions(k.Context(), u.ID)
	k.must(err)
	if len(list) != 2 {
		k.Errorf("%d sessions listed", len(list))
	}
	n, err := lister.DeleteSessions(k.Context(), u.ID)
	k.must(err)
	if n != 2 {
		k.Errorf("%d sessions deleted", n)
	}
	_, _, err = k.sessions().SessionAndUser(k.Context(), "s3")
	k.must(err)
}

func (k *kit) tokenGuess() {
	k.token("ada@example.com", "t1")
	for _, guess := range [][2]string{
		{"eve@example.com", "t1"}, {"ada@example.com", "t2"}, {"ADA@example.com", "t1"}, {"ada@example.com", "T1"},
		{"", "t1"},
	} {
		_, err := k.tokens().UseVerificationToken(k.Context(), guess[0], guess[1])
		k.want(err, core.ErrNotFound)
	}
	_, err := k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "t1")
	k.must(err)
}

func (k *kit) deleteExpired() {
	if is[store.SessionStore](k.store) {
		u := k.user("u1", "ada@example.com")
		k.session(u, "old", base.Add(-time.Second))
		k.session(u, "new", base.Add(time.Second))
	}
	want := 1
	if is[store.VerificationTokenStore](k.store) {
		old := &store.VerificationToken{Identifier: "a", Token: "old", Expires: base.Add(-time.Second)}
		k.must(k.tokens().CreateVerificationToken(k.Context(), old))
		k.token("a", "new") // ends at base, not before
		want = 2
	}
	n, err := k.store.(store.Cleaner).DeleteExpired(k.Context(), base)
	k.must(err)
	if n != want {
		k.Errorf("%d rows went, want %d", n, want)
	}
	_, _, err = k.sessions().SessionAndUser(k.Context(), "new")
	k.must(err)
	_, _, err = k.sessions().SessionAndUser(k.Context(), "old")
	k.want(err, core.ErrNotFound)
	if is[store.VerificationTokenStore](k.store) {
		_, err = k.tokens().UseVerificationToken(k.Context(), "a", "old")
		k.want(err, core.ErrNotFound)
		_, err = k.tokens().UseVerificationToken(k.Context(), "a", "new")
		k.must(err)
	}
}

func (k *kit) authenticatorsOfUsers() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	s := k.store.(store.AuthenticatorStore)
	none, err := s.Authenticators(k.Context(), u.ID)
	k.must(err)
	if len(none) != 0 {
		k.Errorf("%d passkeys of somebody who has none", len(none))
	}
	long := strings.Repeat("A", 1364) // 1023 bytes, the most that WebAuthn allows
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

func (k *kit) authenticatorRemoved() {
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
	k.must(s.CreateAuthenticator(k.Context(), &first)) // the credential can be registered anew
}

func (k *kit) authenticators() {
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
