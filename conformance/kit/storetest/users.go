package storetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// users are the cases of users.
type users struct{ *kit }

func (k users) roundTrip() {
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

func (k users) missing() {
	_, err := k.store.User(k.Context(), "nobody")
	k.want(err, core.ErrNotFound)
	_, err = k.store.UserByEmail(k.Context(), "nobody@example.com")
	k.want(err, core.ErrNotFound)
	_, err = k.store.UserByAccount(k.Context(), "p", "nobody")
	k.want(err, core.ErrNotFound)
	_, err = k.store.UpdateUser(k.Context(), &core.User{ID: "nobody", Name: "x"})
	k.want(err, core.ErrNotFound)
}

func (k users) conflict() {
	k.user("u1", "ada@example.com")
	_, err := k.store.CreateUser(k.Context(), &core.User{ID: uuid("u2"), Email: "ada@example.com"})
	k.want(err, core.ErrConflict)
	other := k.user("u3", "ada@example.org")
	other.Email = "ada@example.com"
	_, err = k.store.UpdateUser(k.Context(), other)
	k.want(err, core.ErrConflict)
}

func (k users) withoutEmail() {
	k.user("u1", "")
	k.user("u2", "")
	_, err := k.store.UserByEmail(k.Context(), "")
	k.want(err, core.ErrNotFound)
}

// spelled stores addresses that core.NormalizeEmail would change, as in tables of other libraries. Core looks them up
// as the client sent them, after the canonical form.
func (k users) spelled() {
	for i, address := range []string{"First.Last@Company.example", "bob@xn--bcher-kva.example", "BOB@COMPANY.EXAMPLE"} {
		u := k.user(fmt.Sprint("u", i), address)
		got, err := k.store.UserByEmail(k.Context(), address)
		k.must(err)
		if got.ID != u.ID || got.Email != address {
			k.Errorf("%s is found as %s, user %s", address, got.Email, got.ID)
		}
		canonical, err := core.NormalizeEmail(address)
		k.must(err)
		k.absent(canonical)
		got, err = core.UserByMailbox(k.Context(), k.store, address)
		k.must(err)
		if got.ID != u.ID {
			k.Errorf("%s belongs to %s", address, got.ID)
		}
	}
}

func (k users) listed() {
	want := map[string]string{}
	for i, address := range []string{"First.Last@Company.example", "", "bob@company.example", ""} {
		if u := k.user(fmt.Sprint("u", i), address); address != "" {
			want[u.ID] = address
		}
	}
	lister := k.store.(store.EmailLister)
	got := map[string]string{}
	k.must(lister.EachEmail(k.Context(), func(id, email string) error { got[id] = email; return nil }))
	if !maps.Equal(got, want) {
		k.Errorf("the addresses are %v, want %v", got, want)
	}
	called := 0
	err := lister.EachEmail(k.Context(), func(string, string) error { called++; return errTest })
	if called != 1 {
		k.Errorf("called %d times after an error", called)
	}
	k.want(err, errTest)
}

func (k users) updated() {
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

func (k users) nulls() {
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

func (k users) oddTexts() {
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

func (k users) longEmails() {
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

func (k users) oddTimes() {
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

func (k users) members() {
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

func (k users) ownCopies() {
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

func (k users) atOnce() {
	won := k.race(20, core.ErrConflict, func(i int) error {
		_, err := k.store.CreateUser(k.Context(), &core.User{ID: uuid(fmt.Sprint("u", i)), Email: "ada@example.com"})
		return err
	})
	if won != 1 {
		k.Errorf("%d users with one e-mail", won)
	}
}
