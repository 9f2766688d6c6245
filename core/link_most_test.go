package core_test

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestMostMethods: a user has up to a hundred linked accounts and a hundred passkeys. Adding another one by any
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
			w.signedIn(ada, w.through(ada, "linking", "ada", "ada@x.example", vouched)) // after the proof
			for i := len(w.accounts); i < many; i++ {
				w.keep(core.Account{
					UserID: id, Type: core.TypeOAuth, Provider: "old", ProviderAccountID: strconv.Itoa(i),
					EmailProved: "ada@x.example",
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
			if many == 100 { // by the address, signed out
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
		fill(many) // meanwhile, in other tabs
		r := ada.submit(passkeyCallback, assertion("register", "another"))
		if made := len(w.passkeys) == many+1; made != (many == 99) {
			t.Errorf("%d passkeys after the %dth: %v", len(w.passkeys), many+1, r.Err)
		}
		if many == 100 && (!errors.Is(r.Err, core.ErrAccountNotLinked) || !strings.Contains(r.Err.Error(), "100 passkeys")) {
			t.Errorf("refused with %v", r.Err)
		}
		options := ada.get("/auth/webauthn-options/passkey?action=register")
		if options.Status != 400 || !strings.Contains(string(options.Body), "Too many passkeys") {
			t.Errorf("options for one more are answered %d %s", options.Status, options.Body)
		}
	}
}
