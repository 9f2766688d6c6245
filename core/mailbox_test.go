package core_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// mailboxStore is a store with a few users by address. It records the lookups. fold simulates a database collation that
// ignores too much: a lookup finds a user if fold maps both addresses to the same text.
type mailboxStore struct {
	core.Store
	users map[string]string
	fold  func(string) string
	asked []string
}

func (b *mailboxStore) UserByEmail(_ context.Context, email string) (*core.User, error) {
	b.asked = append(b.asked, email)
	for address, id := range b.users {
		if address == email || b.fold != nil && b.fold(address) == b.fold(email) {
			return &core.User{ID: id, Email: address}, nil
		}
	}
	return nil, core.ErrNotFound
}

// TestUserByMailbox finds users by an address as a client sends it.
func TestUserByMailbox(t *testing.T) {
	t.Parallel()
	withoutAccents := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "á", "a") }
	for name, c := range map[string]struct {
		stored, sent, want string
		fold               func(string) string
		lookups            int
	}{
		"canonical":                    {"ada@x.example", "ada@x.example", "1", nil, 1},
		"canonical, sent in capitals":  {"ada@x.example", "Ada@X.example", "1", nil, 2},
		"stored in capitals":           {"Ada@X.example", "Ada@X.example", "1", nil, 2},
		"stored in capitals, blanks":   {"Ada@X.example", " Ada@X.example\t", "1", nil, 2},
		"stored in other capitals":     {"ADA@X.example", "Ada@X.example", "", nil, 2},
		"stored in capitals, sent not": {"Ada@X.example", "ada@x.example", "", nil, 1},
		"domain in ASCII":              {"ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example", "1", nil, 2},
		"domain in ASCII, capitals":    {"ada@xn--bcher-kva.example", "Ada@XN--BCHER-KVA.example", "1", nil, 3},
		"unknown":                      {"ada@x.example", "bob@x.example", "", nil, 1},
		"unknown in capitals":          {"ada@x.example", "Bob@x.example", "", nil, 2},
		"a comma":                      {"ada@x.example,bob", "ada@x.example,bob", "", nil, 1},
		"no address":                   {"ada", "ada", "", nil, 0},
		"empty":                        {"", "", "", nil, 0},
		"another at-sign":              {"ada＠x.example", "ada＠x.example", "", nil, 1},
		"a collation without accents":  {"ada@x.example", "Áda@x.example", "", withoutAccents, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.fold != nil { // the canonical lookup must not use it
				fold := c.fold
				c.fold = func(s string) string {
					if s == "áda@x.example" {
						return s
					}
					return fold(s)
				}
			}
			b := &mailboxStore{users: map[string]string{c.stored: "1"}, fold: c.fold}
			user, err := core.UserByMailbox(t.Context(), b, c.sent)
			got := ""
			if err == nil {
				got = user.ID
			} else if !errors.Is(err, core.ErrNotFound) {
				t.Error(err)
			}
			if got != c.want || len(b.asked) != c.lookups {
				t.Errorf("found %q after the lookups %q, want %q after %d", got, b.asked, c.want, c.lookups)
			}
		})
	}
	both := &mailboxStore{users: map[string]string{"ada@x.example": "canonical", "Ada@x.example": "capital"}}
	if user, err := core.UserByMailbox(t.Context(), both, "Ada@x.example"); err != nil || user.ID != "canonical" {
		t.Errorf("of two users of one mailbox %+v is found, %v: the canonical address wins", user, err)
	}
}

// spelledStore is a mailboxStore in which the addresses of some users are verified.
type spelledStore struct {
	*mailboxStore
	verified string
}

func (s spelledStore) UserByEmail(ctx context.Context, email string) (*core.User, error) {
	user, err := s.mailboxStore.UserByEmail(ctx, email)
	if err == nil && strings.Contains(s.verified, user.ID) {
		user.EmailVerified = start
	}
	return user, err
}

// TestVerifiedSpelling: an unverified user with the canonical address does not hide a verified user with another
// spelling from a client that sends that spelling.
func TestVerifiedSpelling(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, verified, sent, want string }{
		{"the spelling is verified", "2", "Ada@x.example", "2"},
		{"blanks around it", "2", " Ada@x.example", "2"},
		{"both are verified", "12", "Ada@x.example", "1"},
		{"the canonical one is verified", "1", "Ada@x.example", "1"},
		{"none is verified", "", "Ada@x.example", "1"},
		{"another spelling is sent", "2", "ADA@x.example", "1"},
		{"the canonical one is sent", "2", "ada@x.example", "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := &mailboxStore{users: map[string]string{"ada@x.example": "1", "Ada@x.example": "2"}}
			user, err := core.UserByMailbox(t.Context(), spelledStore{b, c.verified}, c.sent)
			if err != nil || user.ID != c.want {
				t.Errorf("found %+v, %v", user, err)
			}
		})
	}
}

// TestSameMailbox compares addresses.
func TestSameMailbox(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"ada@x.example", "ada@x.example", true}, {"Ada@x.example", "ada@X.example", true},
		{"ada@bücher.example", "ADA@xn--bcher-kva.example", true}, {"ada@x.example", "bob@x.example", false},
		{"ada.l@x.example", "adal@x.example", false}, {"ada+x@x.example", "ada@x.example", false},
		{"áda@x.example", "ada@x.example", false}, {"", "", false}, {"ada", "ada", false}, {"ada@x.example", "", false},
	} {
		if core.SameMailbox(c.a, c.b) != c.want || core.SameMailbox(c.b, c.a) != c.want {
			t.Errorf("%q and %q are one mailbox: %v", c.a, c.b, !c.want)
		}
	}
}

// TestCapitalsInStoredAddresses signs in as users with capitals in their stored address, by every method that
// finds users by address. Each mailbox belongs to one user.
func TestCapitalsInStoredAddresses(t *testing.T) {
	t.Parallel()
	const stored = "First.Last@Company.example"
	for name, c := range map[string]struct {
		in func(w *town, b *browser) *core.Response
		// who is the user that is signed in. It is empty if the account linking rules refuse the sign-in.
		who string
	}{
		"link, as stored": {in: func(w *town, b *browser) *core.Response { return w.byMail(b, stored) }, who: "old"},
		"provider, as stored": {in: func(w *town, b *browser) *core.Response {
			return w.through(b, "plain", "1", stored, vouched)
		}},
		"linking provider, as stored": {in: func(w *town, b *browser) *core.Response {
			return w.through(b, "linking", "1", stored, vouched)
		}, who: "old"},
		"linking provider without its word": {in: func(w *town, b *browser) *core.Response {
			return w.through(b, "linking", "1", stored, "")
		}},
		"passkey, as stored": {in: func(w *town, b *browser) *core.Response {
			return b.get("/auth/webauthn-options/passkey?action=register&email=" + url.QueryEscape(stored))
		}},
	} {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(name+"/"+string(strategy), func(t *testing.T) {
				t.Parallel()
				w := newTown(t, power{true, true, true, true}, strategy)
				w.users["old"] = core.User{ID: "old", Name: "Somebody", Email: stored, EmailVerified: start}
				b := w.browser()
				r := c.in(w, b)
				if len(w.users) != 1 || w.users["old"].Email != stored {
					t.Errorf("the users are %v", w.users)
				}
				if got := w.who(b); got != c.who {
					t.Errorf("%q is signed in, want %q; status %d %s %s, %v", got, c.who, r.Status, r.Redirect, r.Body, r.Err)
				}
			})
		}
	}
}

// TestVerifiedSpellingGetsTheLink checks the case that an attacker has created a user with the canonical spelling of a
// verified address. The owner of the address, who types the stored spelling, gets a link to their own user.
func TestVerifiedSpellingGetsTheLink(t *testing.T) {
	t.Parallel()
	const stored = "First.Last@Company.example"
	w := newTown(t, power{true, true, true, true}, core.StrategyDatabase)
	w.users["old"] = core.User{ID: "old", Name: "Somebody", Email: stored, EmailVerified: start}
	w.users["new"] = core.User{ID: "new", Name: "Mallory", Email: strings.ToLower(stored)}
	b := w.browser()
	if r := w.byMail(b, stored); w.who(b) != "old" || len(w.users) != 2 {
		t.Errorf("%q is signed in, %v", w.who(b), r.Err)
	}
}

// TestVerifiedInCapitals checks that a provider's verification of an address applies to the same address in upper case.
// The first link verifies it for the user, who keeps their accounts.
func TestVerifiedInCapitals(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{true, true, true, true}, core.StrategyJWT)
	w.users["old"] = core.User{ID: "old", Name: "Somebody", Email: "Ada@X.example"}
	w.accounts[accountKey("vouching", "1")] = core.Account{
		UserID: "old", Type: core.TypeOAuth, Provider: "vouching", ProviderAccountID: "1", VerifiedEmail: "ada@x.example",
	}
	b := w.browser()
	w.byMail(b, "Ada@X.example")
	if got := w.who(b); got != "old" || w.users["old"].EmailVerified.IsZero() || len(w.users) != 1 {
		t.Errorf("%q is signed in; the users are %v", got, w.users)
	}
}
