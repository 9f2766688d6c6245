package core

import (
	"fmt"
	"testing"
)

func TestLinkRules(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		linkFacts
		want linkRule
	}{
		{"account of a user, no session", linkFacts{means: meansOtherAccount}, ruleSignIn},
		{"own account", linkFacts{means: meansOwnAccount, current: sessionActive}, ruleContinue},
		{"account of another user, active session",
			linkFacts{means: meansOtherAccount, current: sessionActive}, ruleRefuse},
		{"account of a user, outdated token", linkFacts{means: meansOtherAccount, current: sessionOutdated}, ruleSignIn},
		{"own account, outdated token", linkFacts{means: meansOwnAccount, current: sessionOutdated}, ruleSignIn},
		{"registered passkey", linkFacts{means: meansTakenPasskey}, ruleRefuse},
		{"registered passkey, active session",
			linkFacts{means: meansTakenPasskey, current: sessionActive}, ruleRefuse},

		{"new account, active session", linkFacts{means: meansNewAccount, current: sessionActive}, ruleLink},
		{"new account, outdated token", linkFacts{means: meansNewAccount, current: sessionOutdated}, ruleRefuse},
		{"new account, old authentication",
			linkFacts{means: meansNewAccount, current: sessionActive, stale: true}, ruleRefuse},
		{"own account, old authentication",
			linkFacts{means: meansOwnAccount, current: sessionActive, stale: true}, ruleContinue},
		{"new account, no session", linkFacts{means: meansNewAccount, stale: true}, ruleCreateUser},

		{"new account, free address", linkFacts{means: meansNewAccount}, ruleCreateUser},
		{"new account, free address, vouched for", linkFacts{means: meansNewAccount, verifies: true}, ruleCreateUser},
		{"new account, verified address, not vouched for",
			linkFacts{means: meansNewAccount, address: addressVerified}, ruleRefuse},
		{"new account, unverified address, not vouched for",
			linkFacts{means: meansNewAccount, address: addressUnverified}, ruleRefuse},
		{"lost account, verified address",
			linkFacts{means: meansNewAccount, address: addressVerified, listed: true}, ruleSignInByAddress},
		{"lost account, unverified address",
			linkFacts{means: meansNewAccount, address: addressUnverified, listed: true}, ruleSignInByAddress},
		{"lost account, active session",
			linkFacts{means: meansNewAccount, current: sessionActive, listed: true}, ruleLink},
		{"new account, verified address, vouched for",
			linkFacts{means: meansNewAccount, address: addressVerified, verifies: true}, ruleSignInByAddress},
		{"new account, unverified address, vouched for, all methods vouched for",
			linkFacts{
				means: meansNewAccount, address: addressUnverified, verifies: true, methods: vouchedMethods,
			}, ruleVerify},
		{"new account, unverified address, vouched for, no methods",
			linkFacts{means: meansNewAccount, address: addressUnverified, verifies: true}, ruleVerifyAndEndSessions},
		{"new account, unverified address, vouched for, an unvouched method",
			linkFacts{
				means: meansNewAccount, address: addressUnverified, verifies: true, methods: unvouchedMethods,
			}, ruleMoveAddress},

		{"link, free address", linkFacts{verifies: true}, ruleCreateUser},
		{"link, free address, active session", linkFacts{verifies: true, current: sessionActive}, ruleCreateUser},
		{"link, verified address",
			linkFacts{verifies: true, address: addressVerified, methods: unvouchedMethods}, ruleSignInByAddress},
		{"link, unverified address, all methods vouched for",
			linkFacts{verifies: true, address: addressUnverified, methods: vouchedMethods}, ruleVerify},
		{"link, unverified address, all methods vouched for, store cannot end sessions",
			linkFacts{
				verifies: true, address: addressUnverified, methods: vouchedMethods, cannotEndSessions: true,
			}, ruleVerify},
		{"link, unverified address, no methods",
			linkFacts{verifies: true, address: addressUnverified}, ruleVerifyAndEndSessions},
		{"link, unverified address, no methods, store cannot end sessions",
			linkFacts{verifies: true, address: addressUnverified, cannotEndSessions: true}, ruleMoveAddress},
		{"link, unverified address, an unvouched method",
			linkFacts{verifies: true, address: addressUnverified, methods: unvouchedMethods}, ruleMoveAddress},
		{"link, unverified address, an unvouched method, its user signed in",
			linkFacts{
				verifies: true, address: addressUnverified, methods: unvouchedMethods, current: sessionActive,
			}, ruleMoveAddress},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.rule(); got != row.want {
				t.Errorf("got %d, want %d", got, row.want)
			}
		})
	}
}

// TestLinkRulesNeverShare tries all combinations of facts: no sign-in may give access to a user to whom an attacker
// also has access.
func TestLinkRulesNeverShare(t *testing.T) {
	t.Parallel()
	for _, f := range allLinkFacts() {
		rule, name := f.rule(), fmt.Sprintf("%+v", f)
		byAddress := rule == ruleSignInByAddress || rule == ruleVerify || rule == ruleVerifyAndEndSessions
		switch {
		case byAddress && !f.verifies:
			t.Errorf("%s: linked by an address that the sign-in does not verify: %d", name, rule)
		case byAddress && f.address == addressUnverified && f.methods == unvouchedMethods:
			t.Errorf("%s: shares a user with the owner of an unvouched method: %d", name, rule)
		case byAddress && f.address == addressUnverified && f.methods == noMethods &&
			(f.cannotEndSessions || rule != ruleVerifyAndEndSessions):
			t.Errorf("%s: sessions from before the verification stay: %d", name, rule)
		case rule == ruleSignInByAddress && f.address != addressVerified,
			rule == ruleMoveAddress && f.address != addressUnverified,
			rule == ruleCreateUser && f.address != addressFree:
			t.Errorf("%s: %d does not fit the address", name, rule)
		case f.current == sessionOutdated && (rule == ruleLink || rule == ruleContinue):
			t.Errorf("%s: an outdated token is accepted: %d", name, rule)
		}
	}
}

func allLinkFacts() (all []linkFacts) {
	for c := meansLink; c <= meansTakenPasskey; c++ {
		for p := sessionNone; p <= sessionOutdated; p++ {
			for a := addressFree; a <= addressVerified; a++ {
				for w := noMethods; w <= unvouchedMethods; w++ {
					for _, cannotEndSessions := range []bool{false, true} {
						for _, verifies := range []bool{false, true} {
							if c == meansLink && !verifies || c == meansOwnAccount && p == sessionNone {
								continue // there is no such sign-in
							}
							all = append(all, linkFacts{
								means: c, current: p, address: a, verifies: verifies, methods: w, cannotEndSessions: cannotEndSessions,
							})
						}
					}
				}
			}
		}
	}
	return all
}
