package core_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// linking is one sign-in in a test of the rules.
type linking struct {
	*town
	b     *browser // the browser of the user who signs in
	me    string   // ID of the user who is signed in before
	owner string   // ID of the user who has the address or the account before
}

// user returns the word of the table for a user ID.
func (l *linking) user(id string) string {
	switch id {
	case "":
		return "nobody"
	case l.me:
		return "me"
	case l.owner:
		return "owner"
	}
	return "new"
}

// TestLinkingRules tests each linking rule from the outside. It checks who is signed in afterwards, and which user then
// has the account "plain/s1" or "linking/s1" and the address.
func TestLinkingRules(t *testing.T) {
	t.Parallel()
	// Initial states.
	signedIn := func(l *linking) { l.me = l.signedIn(l.b, l.through(l.b, "plain", "mine", stranger, "")) }
	known := func(l *linking) {
		b := l.browser()
		l.owner = l.signedIn(b, l.through(b, "plain", "s1", victim, ""))
	}
	own := func(l *linking) { l.me = l.signedIn(l.b, l.through(l.b, "plain", "s1", victim, "")) }
	proved := func(l *linking) { b := l.browser(); l.owner = l.signedIn(b, l.byMail(b, victim)) }
	invited := func(l *linking) { l.owner = l.made(l.browser()) }
	vouchedFor := func(l *linking) {
		b := l.browser()
		l.owner = l.signedIn(b, l.through(b, "vouching", "v1", victim, vouched))
	}
	outdated := func(l *linking) { // the session is older than the verification
		l.owner = l.made(l.b)
		b := l.browser()
		l.signedIn(b, l.byMail(b, victim))
	}
	registered := func(l *linking) {
		b := l.browser()
		l.owner = l.signedIn(b, l.through(b, "plain", "other", victim, ""))
		l.signedIn(b, l.passkey(b, "action=register", "register", "key"))
	}
	// Sign-ins.
	plain := func(l *linking) *core.Response { return l.through(l.b, "plain", "s1", victim, "") }
	vouches := func(l *linking) *core.Response { return l.through(l.b, "linking", "s1", victim, vouched) }
	mail := func(l *linking) *core.Response {
		if r := l.byMail(l.b, victim); r.Redirect != "" {
			return r
		}
		return l.b.submit(strings.TrimPrefix(l.mails[0], "https://app.test"), nil) // a signed-in user must confirm first
	}
	register := func(l *linking) *core.Response { return l.passkey(l.b, "action=register", "register", "key") }
	type given = func(*linking)
	all, unlisted := power{true, true, true, true}, power{true, false, false, true}
	for _, row := range []struct {
		name  string
		can   power
		given []given
		act   func(*linking) *core.Response
		// the signed-in user, the account's user and the address's user afterwards
		visitor, account, address string
	}{
		{"known account, no session", all, []given{known}, plain, "owner", "owner", "owner unverified"},
		{"own account", all, []given{own}, plain, "me", "me", "me unverified"},
		{"known account, another user here", all, []given{known, signedIn}, plain, "me refused", "owner", "owner unverified"},
		{"a registered passkey", all, []given{registered, signedIn}, register, "me refused", "nobody", "owner unverified"},

		{"new account, active session", all, []given{signedIn}, plain, "me", "me", "nobody"},
		{"new account, free address", all, nil, plain, "new", "new", "new unverified"},
		{"new account, free address, vouched for", all, nil, vouches, "new", "new", "new unverified"},
		{"verified address, not vouched for", all, []given{proved}, plain, "nobody refused", "nobody", "owner verified"},
		{"unverified address, not vouched for", all, []given{invited}, plain, "nobody refused", "nobody", "owner unverified"},
		{"new account, verified address, vouched for", all, []given{proved}, vouches, "owner", "owner", "owner verified"},
		{"unverified address, vouched methods", all, []given{vouchedFor}, vouches, "owner", "owner", "owner verified"},
		{"unverified address, no methods", all, []given{invited}, vouches, "owner", "owner", "owner verified"},
		{"unverified address, unvouched method", all, []given{registered}, vouches, "new", "new", "new verified"},

		{"link, free address", all, nil, mail, "new", "nobody", "new verified"},
		{"link, free address, active session", all, []given{signedIn}, mail, "new", "nobody", "new verified"},
		{"link, verified address", all, []given{proved}, mail, "owner", "nobody", "owner verified"},
		{"link, unverified address, vouched methods", all, []given{vouchedFor}, mail, "owner", "nobody", "owner verified"},
		{"link, unverified address, no methods", all, []given{invited}, mail, "owner", "nobody", "owner verified"},
		{"link, unverified address, unvouched method", all, []given{known}, mail, "new", "owner", "new verified"},
		{"link, unverified address, its user signed in", all, []given{own}, mail, "new", "me", "new verified"},
		{"link, unverified address, unlisted accounts", unlisted, []given{vouchedFor}, mail, "new", "nobody", "new verified"},

		{"outdated token, new account", all, []given{outdated}, plain, "nobody refused", "nobody", "owner verified"},
		{"outdated token, known account", all, []given{outdated, func(l *linking) {
			b := l.browser()
			l.me = l.signedIn(b, l.through(b, "plain", "s1", stranger, ""))
		}}, plain, "me", "me", "owner verified"},
	} {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(fmt.Sprintf("%s/%s", row.name, strategy), func(t *testing.T) {
				t.Parallel()
				w := newTown(t, row.can, strategy)
				l := &linking{town: w, b: w.browser()}
				for _, given := range row.given {
					given(l)
				}
				r := row.act(l)
				visitor, address := l.user(l.who(l.b)), "nobody"
				if r.Err != nil {
					visitor += " refused"
				}
				account := l.user(l.accounts[accountKey("plain", "s1")].UserID + l.accounts[accountKey("linking", "s1")].UserID)
				for id, u := range l.users {
					if u.Email == victim {
						address = l.user(id) + map[bool]string{true: " unverified", false: " verified"}[u.EmailVerified.IsZero()]
					}
				}
				if visitor != row.visitor || account != row.account || address != row.address {
					t.Errorf("signed in is %s, want %s: %v", visitor, row.visitor, r.Err)
					t.Errorf("account of %s, address of %s, want %s, %s", account, address, row.account, row.address)
				}
			})
		}
	}
}

// careful is a plugin that allows linking only shortly after a sign-in.
type careful time.Duration

func (d careful) Attach(h *core.PluginHost) error {
	h.RequireRecentSignInToLink(time.Duration(d))
	return nil
}

// TestFreshLinks checks PluginHost.RequireRecentSignInToLink: an attacker at an unlocked computer cannot add an account
// or a passkey to the signed-in user. The owner can, after signing in again.
func TestFreshLinks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		parts  []core.Plugin
		waits  time.Duration
		before string // an account to sign in with again first
		linked bool
	}{
		{"no plugin asks", nil, time.Hour, "", true},
		{"immediately", []core.Plugin{careful(time.Minute)}, 0, "", true},
		{"at the last moment", []core.Plugin{careful(time.Minute)}, time.Minute, "", true},
		{"later", []core.Plugin{careful(time.Minute)}, time.Minute + time.Second, "", false},
		{"the shortest time counts", []core.Plugin{careful(time.Hour), careful(time.Minute), careful(time.Hour)},
			2 * time.Minute, "", false},
		{"later, after another sign-in", []core.Plugin{careful(time.Minute)}, time.Hour, "s1", true},
	} {
		for _, strategy := range bothStrategies {
			for _, passkey := range []bool{false, true} {
				name := map[bool]string{true: ", a passkey", false: ", an account"}[passkey]
				t.Run(row.name+", "+string(strategy)+name, func(t *testing.T) {
					t.Parallel()
					w := newTown(t, power{true, true, true, true}, strategy, func(c *core.Config) { c.Plugins = row.parts },
						reauthenticating)
					b := w.browser()
					id := w.signedIn(b, w.through(b, "plain", "s1", victim, ""))
					w.app.clock.Advance(row.waits)
					if row.before != "" {
						w.through(b, "plain", row.before, victim, "")
					}
					if passkey {
						w.passkey(b, "action=register&email="+victim, "register", "key")
					} else {
						w.through(b, "vouching", "s2", stranger, vouched)
					}
					accounts := 0
					for _, a := range w.accounts {
						if a.UserID == id {
							accounts++
						}
					}
					if linked := accounts == 2; linked != row.linked || len(w.users) != 1 {
						t.Errorf("linked: %v, want %v; %d users", linked, row.linked, len(w.users))
					}
					if who := w.who(b); who != id {
						t.Errorf("the session is %q's afterwards, was %q's", who, id)
					}
				})
			}
		}
	}
}

// TestMostMethods checks that a user can have up to 100 linked accounts and 100 passkeys. Adding another one by any
// method fails with an error that says why, and sign-in still works.
func TestMostMethods(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, many := range []int{99, 100} {
			w := newTown(t, power{true, true, true, true}, strategy)
			ada := w.browser()
			id := w.signedIn(ada, w.through(ada, "linking", "ada", "ada@x.example", vouched))
			u := w.users[id]
			u.EmailVerified = start
			w.users[id] = u
			w.app.clock.Advance(time.Minute)
			w.signedIn(ada, w.through(ada, "linking", "ada", "ada@x.example", vouched)) // after the verification
			for i := len(w.accounts); i < many; i++ {
				w.keep(core.Account{
					UserID: id, Type: core.TypeOAuth, Provider: "old", ProviderAccountID: strconv.Itoa(i),
					VerifiedEmail: "ada@x.example",
				})
			}
			r := w.through(ada, "plain", "another", "ada@y.example", "")
			if linked := len(w.accounts) == many+1; linked != (many == 99) {
				t.Errorf("%s: %d accounts after the %dth: %v", strategy, len(w.accounts), many+1, r.Err)
			}
			if many == 100 && (!errors.Is(r.Err, core.ErrOAuthAccountNotLinked) ||
				!strings.Contains(r.Err.Error(), "100 linked accounts")) {
				t.Errorf("%s: refused with %v", strategy, r.Err)
			}
			if many == 100 { // by the address, while signed out
				r := w.through(w.browser(), "open", "third", "ada@x.example", vouched)
				if len(w.accounts) != 100 || !errors.Is(r.Err, core.ErrOAuthAccountNotLinked) {
					t.Errorf("%s: %d accounts by the address: %v", strategy, len(w.accounts), r.Err)
				}
			}
			again := w.browser()
			if got := w.signedIn(again, w.through(again, "linking", "ada", "ada@x.example", vouched)); got != id {
				t.Errorf("%s: a known account signs in as %q", strategy, got)
			}
		}
	}
}

// TestMostPasskeys is TestMostMethods for passkeys.
func TestMostPasskeys(t *testing.T) {
	t.Parallel()
	for _, many := range []int{99, 100} {
		w, ada := ceremonies(t)
		var owner string
		for _, p := range w.passkeys {
			owner = p.UserID
		}
		fill := func(n int) {
			for i := len(w.passkeys); i < n; i++ {
				id := base64.StdEncoding.EncodeToString([]byte("old" + strconv.Itoa(i)))
				w.passkeys[id] = store.Authenticator{CredentialID: id, UserID: owner, ProviderAccountID: id}
				w.keep(core.Account{UserID: owner, Type: core.TypeWebAuthn, Provider: "passkey", ProviderAccountID: id})
			}
		}
		fill(98)
		beginCeremony(t, ada, "register")
		fill(many) // concurrently, in other tabs
		r := ada.submit(passkeyCallback, assertion("register", "another"))
		if made := len(w.passkeys) == many+1; made != (many == 99) {
			t.Errorf("%d passkeys after the %dth: %v", len(w.passkeys), many+1, r.Err)
		}
		if many == 100 && (!errors.Is(r.Err, core.ErrAccountNotLinked) || !strings.Contains(r.Err.Error(), "100 passkeys")) {
			t.Errorf("refused with %v", r.Err)
		}
		options := ada.get("/auth/webauthn-options/passkey?action=register")
		if options.Status != 400 || !strings.Contains(string(options.Body), "Too many passkeys") {
			t.Errorf("options for one more returned %d %s", options.Status, options.Body)
		}
	}
}
