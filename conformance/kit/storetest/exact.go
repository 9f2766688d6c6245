package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

func (k *kit) oddTexts() {
	for i, text := range []string{
		strings.Repeat("e", 308) + "@example.com", "😀𝔘 \u0301", `'; DROP TABLE users; --`,
		`$where {"$gt": ""} * \ " % _`, strings.Repeat("x", 10_000),
		"line\nbreak\ttab", "nul\x00byte", "broken \xff utf-8",
	} {
		email := fmt.Sprintf("%d@example.com", i)
		u, err := k.store.CreateUser(k.Context(), &core.User{ID: uuid(fmt.Sprint("u", i)), Name: text, Email: email})
		if err != nil {
			says := err.Error()
			if possible := strings.IndexByte(text, 0) < 0 && utf8.ValidString(text); possible {
				k.Errorf("%.20q refused: %v", text, err)
			} else if !strings.Contains(says, "NUL") && !strings.Contains(says, "UTF-8") ||
				strings.Contains(says, "broken") {
				k.Errorf("a text was refused with an error that does not say why, or repeats it: %v", err)
			}
			k.absent(fmt.Sprintf("%d@example.com", i))
			continue
		}
		got, err := k.store.User(k.Context(), u.ID)
		k.must(err)
		if got.Name != text {
			k.Errorf("%.20q came back as %.20q", text, got.Name)
		}
	}
}

// absent checks that no user has an address.
func (k *kit) absent(email string) {
	k.Helper()
	_, err := k.store.UserByEmail(k.Context(), email)
	k.want(err, core.ErrNotFound)
}

// long is a text of 320 bytes that ends in end.
func long(end string) string { return strings.Repeat("e", 320-len(end)) + end }

func (k *kit) longEmails() {
	u := k.user("u1", long("@example.com"))
	for _, email := range []string{
		long("😀@example.com"), "ä@example.com", "a\u0308@example.com", "ada+tag@example.com", "a_a@example.com",
	} {
		k.user(email, email)
		got, err := k.store.UserByEmail(k.Context(), email)
		k.must(err)
		if got.Email != email {
			k.Errorf("looked for %q and found %q", email, got.Email)
		}
	}
	got, err := k.store.UserByEmail(k.Context(), long("@example.com"))
	k.must(err)
	k.same(got, u)
	for _, other := range []string{
		long("@example.com")[:319], long("@EXAMPLE.COM"), "a%@example.com",
		"aba@example.com", "a@example.com", "ä@example.com ", "Ä@example.com", "*", "nul\x00", "\xff",
	} {
		k.absent(other)
	}
}

func (k *kit) longAccounts() {
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

// impossibleKeys looks for what some engines cannot keep: nothing has such a key, and that is no failure.
func (k *kit) impossibleKeys() {
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

// members are values that a store must not tidy up.
func members() core.Members {
	return core.Members{
		"null": json.RawMessage(`null`), "empty": json.RawMessage(`""`),
		"list": json.RawMessage(`[]`), "object": json.RawMessage(`{}`),
		"zero": json.RawMessage(`0`), "false": json.RawMessage(`false`), "exact": json.RawMessage(`9007199254740993`),
		"text": json.RawMessage(`"<&>😀\u0000"`), "deep": json.RawMessage(`{"b":[1,{"a":null}],"a":1.50}`),
		"a.b": json.RawMessage(`1`), "$set": json.RawMessage(`1`), "Null": json.RawMessage(`"another"`),
		"large": json.RawMessage(`"` + strings.Repeat("x", 100<<10) + `"`),
	}
}

func (k *kit) sameMembers(got, want core.Members) {
	k.Helper()
	for name, value := range want {
		if string(got[name]) != string(value) {
			k.Errorf("member %s: %.60s, want %.60s", name, got[name], value)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			k.Errorf("member %s came from nowhere", name)
		}
	}
}

func (k *kit) userMembers() {
	made, err := k.store.CreateUser(k.Context(), &core.User{ID: uuid("u1"), Email: "ada@example.com", Extra: members()})
	k.must(err)
	k.sameMembers(made.Extra, members())
	got, err := k.store.User(k.Context(), made.ID)
	k.must(err)
	k.sameMembers(got.Extra, members())
	delete(got.Extra, "null")
	got.Extra["empty"] = json.RawMessage(`"no more"`)
	want := members()
	delete(want, "null")
	want["empty"] = json.RawMessage(`"no more"`)
	updated, err := k.store.UpdateUser(k.Context(), got)
	k.must(err)
	k.sameMembers(updated.Extra, want)
	got, err = k.store.UserByEmail(k.Context(), "ada@example.com")
	k.must(err)
	k.sameMembers(got.Extra, want)
}

func (k *kit) userNulls() {
	for i, nulls := range []store.Nulls{store.NullName | store.NullImage, store.NullImage} {
		u, err := k.store.CreateUser(k.Context(), &core.User{ID: uuid(fmt.Sprint("u", i)), Null: nulls})
		k.must(err)
		got, err := k.store.User(k.Context(), u.ID)
		k.must(err)
		if got.Name != "" || got.Image != "" || got.Email != "" ||
			got.Null&store.NullImage == 0 || !got.EmailVerified.IsZero() {
			k.Errorf("name %q, nulls %b after %b went in", got.Name, got.Null, nulls)
		}
	}
}

func (k *kit) oddTimes() {
	for i, at := range times {
		u, err := k.store.CreateUser(k.Context(), &core.User{ID: uuid(fmt.Sprint("u", i)), EmailVerified: at})
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
	given := &core.User{ID: uuid("u2"), Extra: core.Members{"role": json.RawMessage(`"user"`)}}
	made, err := k.store.CreateUser(k.Context(), given)
	k.must(err)
	given.Extra["role"], made.Extra["role"] = json.RawMessage(`"admin"`), json.RawMessage(`"admin"`)
	got, err := k.store.User(k.Context(), u.ID)
	k.must(err)
	if got.Name == u.Name {
		k.Error("the caller's change reached the store")
	}
	for range 2 {
		got, err = k.store.User(k.Context(), made.ID)
		k.must(err)
		if got.Extra.Text("role") != "user" {
			k.Error("the caller's change of a further member reached the store")
		}
		got.Extra["role"] = json.RawMessage(`"admin"`)
	}
}

func (k *kit) accountMembers() {
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

func (k *kit) sessionExact() {
	k.session(k.user("u1", ""), "s1", base)
	for _, other := range []string{"S1", "s1 ", " s1", "s", "s%", "", "s1\x00"} {
		_, _, err := k.sessions().SessionAndUser(k.Context(), other)
		k.want(err, core.ErrNotFound)
		k.want(k.sessions().UpdateSession(k.Context(), other, base.Add(time.Hour)), core.ErrNotFound)
		_, err = k.sessions().DeleteSession(k.Context(), other)
		k.want(err, core.ErrNotFound)
	}
	session, _, err := k.sessions().SessionAndUser(k.Context(), "s1")
	k.must(err)
	if !session.Expires.Equal(base) {
		k.Errorf("the session was extended to %v by another key", session.Expires)
	}
	// Extending to the same moment again is a success: the session is there.
	k.must(k.sessions().UpdateSession(k.Context(), "s1", base))
	k.must(k.sessions().UpdateSession(k.Context(), "s1", base))
}

func (k *kit) sessionConflict() {
	u, v := k.user("u1", ""), k.user("u2", "")
	k.session(u, "s1", base)
	again := &store.Session{Token: "s1", UserID: v.ID, Expires: base.Add(time.Hour)}
	k.want(k.sessions().CreateSession(k.Context(), again), core.ErrConflict)
	session, user, err := k.sessions().SessionAndUser(k.Context(), "s1")
	k.must(err)
	if session.UserID != u.ID || user.ID != u.ID || !session.Expires.Equal(base) {
		k.Error("the session was overwritten")
	}
}

// times are moments that come back to the millisecond.
var times = []time.Time{
	base.Add(123 * time.Nanosecond), base.Add(123456 * time.Nanosecond),
	time.Date(1965, 5, 6, 7, 8, 9, 999999999, time.UTC),
	time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.FixedZone("x", 3600)),
}

func (k *kit) sessionTimes() {
	u := k.user("u1", "")
	for i, at := range times {
		token := fmt.Sprint("s", i)
		k.session(u, token, base)
		k.must(k.sessions().UpdateSession(k.Context(), token, at))
		session, _, err := k.sessions().SessionAndUser(k.Context(), token)
		k.must(err)
		if diff := session.Expires.Sub(at).Abs(); diff >= time.Millisecond {
			k.Errorf("%v came back as %v", at, session.Expires)
		}
	}
}

func (k *kit) tokenLong() {
	for _, address := range []string{long("@example.com"), long("😀@example.com")} {
		k.token(address, strings.Repeat("f", 64))
		got, err := k.tokens().UseVerificationToken(k.Context(), address, strings.Repeat("f", 64))
		k.must(err)
		if got.Identifier != address {
			k.Errorf("identifier %.20q", got.Identifier)
		}
	}
}
