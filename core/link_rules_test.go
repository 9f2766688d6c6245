package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// linking is a sign-in whose rule is looked at: who acts, and what became of it.
type linking struct {
	*town
	b     *browser // of the visitor who acts
	me    string   // who the visitor was before
	owner string   // who had the address, or the account, before
}

// user is a user by the part they play.
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

// TestLinkingRules has each rule of linking decide a sign-in, seen from outside: who the visitor is afterwards, and
// whose the account "plain/s1" or "linking/s1" and the address are then.
func TestLinkingRules(t *testing.T) {
	t.Parallel()
	// What there is before.
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
	outdated := func(l *linking) { // the session is older than the proof
		l.owner = l.made(l.b)
		b := l.browser()
		l.signedIn(b, l.byMail(b, victim))
	}
	registered := func(l *linking) {
		b := l.browser()
		l.owner = l.signedIn(b, l.through(b, "plain", "other", victim, ""))
		l.signedIn(b, l.passkey(b, "action=register", "register", "key"))
	}
	// What the visitor does.
	plain := func(l *linking) *core.Response { return l.through(l.b, "plain", "s1", victim, "") }
	vouches := func(l *linking) *core.Response { return l.through(l.b, "linking", "s1", victim, vouched) }
	mail := func(l *linking) *core.Response {
		if r := l.byMail(l.b, victim); r.Redirect != "" {
			return r
		}
		return l.b.submit(strings.TrimPrefix(l.mails[0], "https://app.test"), nil) // who is signed in is asked first
	}
	register := func(l *linking) *core.Response { return l.passkey(l.b, "action=register", "register", "key") }
	type given = func(*linking)
	all, unlisted := power{true, true, true, true}, power{true, false, false, true}
	for _, row := range []struct {
		name  string
		can   power
		given []given
		act   func(*linking) *core.Response
		// who the visitor is afterwards, whose the account is and whose the address
		visitor, account, address string
	}{
		{"known account, nobody here", all, []given{known}, plain, "owner", "owner", "owner unproved"},
		{"known account, its owner here", all, []given{own}, plain, "me", "me", "me unproved"},
		{"known account, another here", all, []given{known, signedIn}, plain, "me refused", "owner", "owner unproved"},
		{"a registered passkey", all, []given{registered, signedIn}, register, "me refused", "nobody", "owner unproved"},

		{"new account, somebody here", all, []given{signedIn}, plain, "me", "me", "nobody"},
		{"new account, free address", all, nil, plain, "new", "new", "new unproved"},
		{"new account, free address, vouched for", all, nil, vouches, "new", "new", "new unproved"},
		{"proved address, nobody vouches", all, []given{proved}, plain, "nobody refused", "nobody", "owner proved"},
		{"unproved address, nobody vouches", all, []given{invited}, plain, "nobody refused", "nobody", "owner unproved"},
		{"new account, proved address, vouched for", all, []given{proved}, vouches, "owner", "owner", "owner proved"},
		{"new account, unproved address, vouched ways", all, []given{vouchedFor}, vouches, "owner", "owner", "owner proved"},
		{"new account, unproved address, no ways", all, []given{invited}, vouches, "owner", "owner", "owner proved"},
		{"new account, unproved address, another's way", all, []given{registered}, vouches, "new", "new", "new proved"},

		{"link, free address", all, nil, mail, "new", "nobody", "new proved"},
		{"link, free address, somebody here", all, []given{signedIn}, mail, "new", "nobody", "new proved"},
		{"link, proved address", all, []given{proved}, mail, "owner", "nobody", "owner proved"},
		{"link, unproved address, all ways vouched", all, []given{vouchedFor}, mail, "owner", "nobody", "owner proved"},
		{"link, unproved address, no ways", all, []given{invited}, mail, "owner", "nobody", "owner proved"},
		{"link, unproved address, another's way", all, []given{known}, mail, "new", "owner", "new proved"},
		{"link, unproved address, the other here", all, []given{own}, mail, "new", "me", "new proved"},
		{"link, unproved address, unlisted accounts", unlisted, []given{vouchedFor}, mail, "new", "nobody", "new proved"},

		{"outdated token, new account", all, []given{outdated}, plain, "nobody refused", "nobody", "owner proved"},
		{"outdated token, known account", all, []given{outdated, func(l *linking) {
			b := l.browser()
			l.me = l.signedIn(b, l.through(b, "plain", "s1", stranger, ""))
		}}, plain, "me", "me", "owner proved"},
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
						address = l.user(id) + map[bool]string{true: " unproved", false: " proved"}[u.EmailVerified.IsZero()]
					}
				}
				if visitor != row.visitor || account != row.account || address != row.address {
					t.Errorf("the visitor is %s, want %s: %v", visitor, row.visitor, r.Err)
					t.Errorf("account of %s, address of %s, want %s, %s", account, address, row.account, row.address)
				}
			})
		}
	}
}
