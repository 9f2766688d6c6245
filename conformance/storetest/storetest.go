// Package storetest is the kit that proves a store: one subtest per sentence of the contract of [core.Store] and the interfaces
// beside it. A store's own test is one line:
//
//	storetest.Run(t, func(t *testing.T) core.Store { return memory.New() })
//
// Interfaces that the store does not implement are named in the log; what it implements has to hold in full.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
)

// base is a moment that every engine can keep: microseconds, UTC.
var base = time.Date(2030, 1, 2, 3, 4, 5, 678901000, time.UTC)

// kit is one empty store under test.
type kit struct {
	*testing.T
	store core.Store
}

// Run runs all cases, each on an empty store of its own.
func Run(t *testing.T, open func(t *testing.T) core.Store) {
	t.Helper()
	for _, c := range cases {
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

var cases = []struct {
	name  string
	needs func(core.Store) bool
	run   func(*kit)
}{
	{"user/created and found by id and e-mail", nil, (*kit).userRoundTrip},
	{"user/absence is ErrNotFound", nil, (*kit).userAbsent},
	{"user/an e-mail belongs to one user", nil, (*kit).userConflict},
	{"user/many users without an e-mail, none found by it", nil, (*kit).usersWithoutEmail},
	{"user/updated", nil, (*kit).userUpdate},
	{"user/null and empty are kept apart", nil, (*kit).userNulls},
	{"user/odd texts come back as they went in, or are refused", nil, (*kit).oddTexts},
	{"user/times before 1970 and with fractions", nil, (*kit).oddTimes},
	{"user/what is returned is the caller's own", nil, (*kit).ownCopies},
	{"user/two first sign-ins with one e-mail make one user", nil, (*kit).userRace},
	{"account/linked and found", nil, (*kit).accountRoundTrip},
	{"account/linked once, keys are exact", nil, (*kit).accountConflict},
	{"account/linked fifty times at once, once for real", nil, (*kit).accountRace},
	{"account/tokens are refreshed", is[core.AccountUpdater], (*kit).accountUpdate},
	{"account/large tokens and unknown members are kept", is[core.Deleter], (*kit).accountMembers},
	{"session/created and read with its user", is[core.SessionStore], (*kit).sessionRoundTrip},
	{"session/absence is ErrNotFound", is[core.SessionStore], (*kit).sessionAbsent},
	{"session/expired ones are returned", is[core.SessionStore], (*kit).sessionExpired},
	{"session/extended and deleted at once, it stays gone", is[core.SessionStore], (*kit).sessionRace},
	{"session/deleted by user", is[core.SessionLister], (*kit).sessionsOfUser},
	{"token/used once, exactly", is[core.VerificationTokenStore], (*kit).tokenOnce},
	{"token/used fifty times at once, once for real", is[core.VerificationTokenStore], (*kit).tokenRace},
	{"token/a wrong guess does not spend it", is[core.VerificationTokenStore], (*kit).tokenGuess},
	{"delete/a user goes with everything of theirs", is[core.Deleter], (*kit).deleteUser},
	{"delete/expired rows in bulk", is[core.Cleaner], (*kit).deleteExpired},
	{"transaction/all", is[core.Transactor], (*kit).commit},
	{"transaction/nothing after an error", is[core.Transactor], (*kit).rollback},
	{"transaction/nothing after a panic", is[core.Transactor], (*kit).rollbackPanic},
	{"authenticator/created, found, counted", is[core.AuthenticatorStore], (*kit).authenticators},
	{"context/a cancelled one writes nothing", nil, (*kit).cancelled},
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
	u, err := k.store.CreateUser(k.Context(), &core.User{ID: id, Name: "Name of " + id, Email: email, Null: core.NullImage})
	k.must(err)
	return u
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
	_, err := k.store.CreateUser(k.Context(), &core.User{ID: "u2", Email: "ada@example.com"})
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

func (k *kit) userNulls() {
	for i, nulls := range []core.Nulls{core.NullName | core.NullImage, core.NullImage} {
		u, err := k.store.CreateUser(k.Context(), &core.User{ID: fmt.Sprint("u", i), Null: nulls})
		k.must(err)
		got, err := k.store.User(k.Context(), u.ID)
		k.must(err)
		if got.Name != "" || got.Null&core.NullImage == 0 {
			k.Errorf("name %q, nulls %b after %b went in", got.Name, got.Null, nulls)
		}
	}
}

func (k *kit) oddTexts() {
	for i, text := range []string{
		strings.Repeat("e", 308) + "@example.com", "😀𝔘 \u0301", `'; DROP TABLE users; --`, `$where {"$gt": ""} * \ " % _`, strings.Repeat("x", 10_000),
		"line\nbreak\ttab", "nul\x00byte", "broken \xff utf-8",
	} {
		u, err := k.store.CreateUser(k.Context(), &core.User{ID: fmt.Sprint("u", i), Name: text, Email: fmt.Sprintf("%d@example.com", i)})
		if err != nil {
			if strings.IndexByte(text, 0) < 0 && utf8.ValidString(text) {
				k.Errorf("%.20q refused: %v", text, err)
			}
			continue
		}
		got, err := k.store.User(k.Context(), u.ID)
		k.must(err)
		if got.Name != text {
			k.Errorf("%.20q came back as %.20q", text, got.Name)
		}
	}
	long := strings.Repeat("e", 308) + "@example.com"
	k.user("long", long)
	_, err := k.store.UserByEmail(k.Context(), long)
	k.must(err)
}

func (k *kit) oddTimes() {
	for i, at := range []time.Time{base, base.Add(123 * time.Nanosecond), time.Date(1965, 5, 6, 7, 8, 9, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.FixedZone("x", 3600))} {
		u, err := k.store.CreateUser(k.Context(), &core.User{ID: fmt.Sprint("u", i), EmailVerified: at})
		k.must(err)
		got, err := k.store.User(k.Context(), u.ID)
		k.must(err)
		if diff := got.EmailVerified.Sub(at).Abs(); diff >= time.Millisecond {
			k.Errorf("%v came back as %v", at, got.EmailVerified)
		}
	}
}

func (k *kit) ownCopies() {
	u := k.user("u1", "ada@example.com")
	u.Name = "changed by the caller"
	got, err := k.store.User(k.Context(), u.ID)
	k.must(err)
	if got.Name == u.Name {
		k.Error("the caller's change reached the store")
	}
}

// race calls do from n goroutines at once and returns how many succeeded; the others must fail with target.
func (k *kit) race(n int, target error, do func(i int) error) int {
	k.Helper()
	var won atomic.Int64
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-begin
			switch err := do(i); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, target):
				k.Errorf("error %v, want %v", err, target)
			}
		})
	}
	close(begin)
	all.Wait()
	return int(won.Load())
}

func (k *kit) userRace() {
	won := k.race(20, core.ErrConflict, func(i int) error {
		_, err := k.store.CreateUser(k.Context(), &core.User{ID: fmt.Sprint("u", i), Email: "ada@example.com"})
		return err
	})
	if won != 1 {
		k.Errorf("%d users with one e-mail", won)
	}
}

func (k *kit) account(user *core.User, provider, id string) *core.Account {
	return &core.Account{UserID: user.ID, Type: core.TypeOIDC, Provider: provider, ProviderAccountID: id, AccessToken: "at", TokenType: "bearer", ExpiresAt: 1893456000}
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

func (k *kit) accountRace() {
	u := k.user("u1", "ada@example.com")
	if won := k.race(50, core.ErrConflict, func(int) error { return k.store.LinkAccount(k.Context(), k.account(u, "p", "1")) }); won != 1 {
		k.Errorf("linked %d times", won)
	}
}

func (k *kit) accountUpdate() {
	u := k.user("u1", "ada@example.com")
	updater := k.store.(core.AccountUpdater)
	k.want(updater.UpdateAccount(k.Context(), k.account(u, "p", "1")), core.ErrNotFound)
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "1")))
	fresh := k.account(u, "p", "1")
	fresh.AccessToken, fresh.RefreshToken = "at-2", "rt-2"
	k.must(updater.UpdateAccount(k.Context(), fresh))
	if d, ok := k.store.(core.Deleter); ok {
		list, err := d.Accounts(k.Context(), u.ID)
		k.must(err)
		if len(list) != 1 || list[0].AccessToken != "at-2" || list[0].RefreshToken != "rt-2" {
			k.Errorf("accounts after the update: %d", len(list))
		}
	}
}

func (k *kit) accountMembers() {
	u := k.user("u1", "ada@example.com")
	a := k.account(u, "p", "1")
	a.AccessToken, a.IDToken = core.Secret(strings.Repeat("a", 4<<10)), core.Secret(strings.Repeat("i", 64<<10))
	a.SessionState, a.AuthorizationDetails = json.RawMessage(`"state"`), json.RawMessage(`[{"type":"x"}]`)
	k.must(a.Extra.Set("oauth_token_secret", "s"))
	a.Extra["exact"], a.Extra["null"] = json.RawMessage("9007199254740993"), json.RawMessage("null")
	k.must(k.store.LinkAccount(k.Context(), a))
	list, err := k.store.(core.Deleter).Accounts(k.Context(), u.ID)
	k.must(err)
	if len(list) != 1 {
		k.Fatalf("%d accounts", len(list))
	}
	got := list[0]
	if got.AccessToken != a.AccessToken || got.IDToken != a.IDToken || got.Scope != "" || string(got.SessionState) != `"state"` || string(got.AuthorizationDetails) != `[{"type":"x"}]` {
		k.Error("a member came back changed")
	}
	for name, want := range a.Extra {
		if string(got.Extra[name]) != string(want) {
			k.Errorf("member %s: %s, want %s", name, got.Extra[name], want)
		}
	}
}

func (k *kit) sessions() core.SessionStore { return k.store.(core.SessionStore) }

func (k *kit) session(u *core.User, token string, expires time.Time) {
	k.Helper()
	k.must(k.sessions().CreateSession(k.Context(), &core.StoredSession{Token: core.Secret(token), UserID: u.ID, Expires: expires}))
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

func (k *kit) sessionRace() {
	u := k.user("u1", "ada@example.com")
	for i := range 20 {
		token := fmt.Sprint("s", i)
		k.session(u, token, base)
		k.race(8, core.ErrNotFound, func(i int) error {
			if i == 4 {
				_, err := k.sessions().DeleteSession(k.Context(), token)
				return err
			}
			return k.sessions().UpdateSession(k.Context(), token, base.Add(time.Duration(i)*time.Hour))
		})
		_, _, err := k.sessions().SessionAndUser(k.Context(), token)
		k.want(err, core.ErrNotFound)
	}
}

func (k *kit) sessionsOfUser() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	k.session(u, "s1", base)
	k.session(u, "s2", base)
	k.session(v, "s3", base)
	lister := k.store.(core.SessionLister)
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

func (k *kit) tokens() core.VerificationTokenStore { return k.store.(core.VerificationTokenStore) }

func (k *kit) token(identifier, token string) {
	k.Helper()
	k.must(k.tokens().CreateVerificationToken(k.Context(), &core.VerificationToken{Identifier: identifier, Token: token, Expires: base}))
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

func (k *kit) tokenRace() {
	for i := range 10 {
		token := fmt.Sprint("t", i)
		k.token("ada@example.com", token)
		won := k.race(50, core.ErrNotFound, func(int) error {
			_, err := k.tokens().UseVerificationToken(k.Context(), "ada@example.com", token)
			return err
		})
		if won != 1 {
			k.Errorf("one token was used %d times", won)
		}
	}
}

func (k *kit) tokenGuess() {
	k.token("ada@example.com", "t1")
	for _, guess := range [][2]string{{"eve@example.com", "t1"}, {"ada@example.com", "t2"}, {"ADA@example.com", "t1"}, {"ada@example.com", "T1"}, {"", "t1"}} {
		_, err := k.tokens().UseVerificationToken(k.Context(), guess[0], guess[1])
		k.want(err, core.ErrNotFound)
	}
	_, err := k.tokens().UseVerificationToken(k.Context(), "ada@example.com", "t1")
	k.must(err)
}

func (k *kit) deleteUser() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "1")))
	k.must(k.store.LinkAccount(k.Context(), k.account(v, "p", "2")))
	if is[core.SessionStore](k.store) {
		k.session(u, "s1", base)
	}
	d := k.store.(core.Deleter)
	k.must(d.DeleteUser(k.Context(), u.ID))
	k.want(d.DeleteUser(k.Context(), u.ID), core.ErrNotFound)
	_, err := k.store.UserByEmail(k.Context(), "ada@example.com")
	k.want(err, core.ErrNotFound)
	_, err = k.store.UserByAccount(k.Context(), "p", "1")
	k.want(err, core.ErrNotFound)
	if is[core.SessionStore](k.store) {
		_, _, err = k.sessions().SessionAndUser(k.Context(), "s1")
		k.want(err, core.ErrNotFound)
	}
	k.must(d.UnlinkAccount(k.Context(), "p", "2"))
	k.want(d.UnlinkAccount(k.Context(), "p", "2"), core.ErrNotFound)
	k.user("u3", "ada@example.com") // the address is free again
}

func (k *kit) deleteExpired() {
	if is[core.SessionStore](k.store) {
		u := k.user("u1", "ada@example.com")
		k.session(u, "old", base.Add(-time.Second))
		k.session(u, "new", base.Add(time.Second))
	}
	n, err := k.store.(core.Cleaner).DeleteExpired(k.Context(), base)
	k.must(err)
	if n != 1 {
		k.Errorf("%d rows went", n)
	}
	_, _, err = k.sessions().SessionAndUser(k.Context(), "new")
	k.must(err)
}

func (k *kit) commit() {
	err := k.store.(core.Transactor).InTransaction(k.Context(), func(ctx context.Context, tx core.Store) error {
		u, err := tx.CreateUser(ctx, &core.User{ID: "u1", Email: "ada@example.com"})
		if err != nil {
			return err
		}
		return tx.LinkAccount(ctx, k.account(u, "p", "1"))
	})
	k.must(err)
	_, err = k.store.UserByAccount(k.Context(), "p", "1")
	k.must(err)
}

var errTest = errors.New("the test says no")

func (k *kit) rollback() {
	err := k.store.(core.Transactor).InTransaction(k.Context(), func(ctx context.Context, tx core.Store) error {
		if _, err := tx.CreateUser(ctx, &core.User{ID: "u1", Email: "ada@example.com"}); err != nil {
			return err
		}
		return errTest
	})
	k.want(err, errTest)
	_, err = k.store.UserByEmail(k.Context(), "ada@example.com")
	k.want(err, core.ErrNotFound)
	k.user("u1", "ada@example.com")
}

func (k *kit) rollbackPanic() {
	func() {
		defer func() { _ = recover() }()
		_ = k.store.(core.Transactor).InTransaction(k.Context(), func(ctx context.Context, tx core.Store) error {
			_, _ = tx.CreateUser(ctx, &core.User{ID: "u1", Email: "ada@example.com"})
			panic("the test panics")
		})
	}()
	_, err := k.store.UserByEmail(k.Context(), "ada@example.com")
	k.want(err, core.ErrNotFound)
	k.user("u1", "ada@example.com")
}

func (k *kit) authenticators() {
	u := k.user("u1", "ada@example.com")
	s := k.store.(core.AuthenticatorStore)
	want := core.Authenticator{
		CredentialID: "Y3JlZA==", UserID: u.ID, ProviderAccountID: "Y3JlZA==", CredentialPublicKey: "a2V5", Counter: 4294967295,
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
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "passkey", "Y3JlZA==")))
	a, err := s.Account(k.Context(), "passkey", "Y3JlZA==")
	k.must(err)
	if a.UserID != u.ID {
		k.Errorf("account of %q", a.UserID)
	}
}

func (k *kit) cancelled() {
	ctx, cancel := context.WithCancel(k.Context())
	cancel()
	_, err := k.store.CreateUser(ctx, &core.User{ID: "u1", Email: "ada@example.com"})
	k.want(err, context.Canceled)
	_, err = k.store.UserByEmail(k.Context(), "ada@example.com")
	k.want(err, core.ErrNotFound)
}
