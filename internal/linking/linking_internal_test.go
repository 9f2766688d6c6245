package linking

import (
	"fmt"
	"testing"
)

func TestLinkRules(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		Facts
		want Rule
	}{
		{"account of a user, no session", Facts{Means: MeansOtherAccount}, RuleSignIn},
		{"own account", Facts{Means: MeansOwnAccount, Current: SessionActive}, RuleContinue},
		{"account of another user, active session",
			Facts{Means: MeansOtherAccount, Current: SessionActive}, RuleRefuse},
		{"account of a user, outdated token", Facts{Means: MeansOtherAccount, Current: SessionOutdated}, RuleSignIn},
		{"own account, outdated token", Facts{Means: MeansOwnAccount, Current: SessionOutdated}, RuleSignIn},
		{"registered passkey", Facts{Means: MeansTakenPasskey}, RuleRefuse},
		{"registered passkey, active session",
			Facts{Means: MeansTakenPasskey, Current: SessionActive}, RuleRefuse},

		{"new account, active session", Facts{Means: MeansNewAccount, Current: SessionActive}, RuleLink},
		{"new account, outdated token", Facts{Means: MeansNewAccount, Current: SessionOutdated}, RuleRefuse},
		{"new account, old authentication",
			Facts{Means: MeansNewAccount, Current: SessionActive, Stale: true}, RuleRefuse},
		{"own account, old authentication",
			Facts{Means: MeansOwnAccount, Current: SessionActive, Stale: true}, RuleContinue},
		{"new account, no session", Facts{Means: MeansNewAccount, Stale: true}, RuleCreateUser},

		{"new account, free address", Facts{Means: MeansNewAccount}, RuleCreateUser},
		{"new account, free address, vouched for", Facts{Means: MeansNewAccount, Verifies: true}, RuleCreateUser},
		{"new account, verified address, not vouched for",
			Facts{Means: MeansNewAccount, Address: AddressVerified}, RuleRefuse},
		{"new account, unverified address, not vouched for",
			Facts{Means: MeansNewAccount, Address: AddressUnverified}, RuleRefuse},
		{"lost account, verified address",
			Facts{Means: MeansNewAccount, Address: AddressVerified, Listed: true}, RuleSignInByAddress},
		{"lost account, unverified address",
			Facts{Means: MeansNewAccount, Address: AddressUnverified, Listed: true}, RuleSignInByAddress},
		{"lost account, active session",
			Facts{Means: MeansNewAccount, Current: SessionActive, Listed: true}, RuleLink},
		{"new account, verified address, vouched for",
			Facts{Means: MeansNewAccount, Address: AddressVerified, Verifies: true}, RuleSignInByAddress},
		{"new account, unverified address, vouched for, all methods vouched for",
			Facts{
				Means: MeansNewAccount, Address: AddressUnverified, Verifies: true, Methods: VouchedMethods,
			}, RuleVerify},
		{"new account, unverified address, vouched for, no methods",
			Facts{Means: MeansNewAccount, Address: AddressUnverified, Verifies: true}, RuleVerifyAndEndSessions},
		{"new account, unverified address, vouched for, an unvouched method",
			Facts{
				Means: MeansNewAccount, Address: AddressUnverified, Verifies: true, Methods: UnvouchedMethods,
			}, RuleMoveAddress},

		{"link, free address", Facts{Verifies: true}, RuleCreateUser},
		{"link, free address, active session", Facts{Verifies: true, Current: SessionActive}, RuleCreateUser},
		{"link, verified address",
			Facts{Verifies: true, Address: AddressVerified, Methods: UnvouchedMethods}, RuleSignInByAddress},
		{"link, unverified address, all methods vouched for",
			Facts{Verifies: true, Address: AddressUnverified, Methods: VouchedMethods}, RuleVerify},
		{"link, unverified address, all methods vouched for, store cannot end sessions",
			Facts{
				Verifies: true, Address: AddressUnverified, Methods: VouchedMethods, CannotEndSessions: true,
			}, RuleVerify},
		{"link, unverified address, no methods",
			Facts{Verifies: true, Address: AddressUnverified}, RuleVerifyAndEndSessions},
		{"link, unverified address, no methods, store cannot end sessions",
			Facts{Verifies: true, Address: AddressUnverified, CannotEndSessions: true}, RuleMoveAddress},
		{"link, unverified address, an unvouched method",
			Facts{Verifies: true, Address: AddressUnverified, Methods: UnvouchedMethods}, RuleMoveAddress},
		{"link, unverified address, an unvouched method, its user signed in",
			Facts{
				Verifies: true, Address: AddressUnverified, Methods: UnvouchedMethods, Current: SessionActive,
			}, RuleMoveAddress},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.Rule(); got != row.want {
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
		rule, name := f.Rule(), fmt.Sprintf("%+v", f)
		byAddress := rule == RuleSignInByAddress || rule == RuleVerify || rule == RuleVerifyAndEndSessions
		switch {
		case byAddress && !f.Verifies:
			t.Errorf("%s: linked by an address that the sign-in does not verify: %d", name, rule)
		case byAddress && f.Address == AddressUnverified && f.Methods == UnvouchedMethods:
			t.Errorf("%s: shares a user with the owner of an unvouched method: %d", name, rule)
		case byAddress && f.Address == AddressUnverified && f.Methods == NoMethods &&
			(f.CannotEndSessions || rule != RuleVerifyAndEndSessions):
			t.Errorf("%s: sessions from before the verification stay: %d", name, rule)
		case rule == RuleSignInByAddress && f.Address != AddressVerified,
			rule == RuleMoveAddress && f.Address != AddressUnverified,
			rule == RuleCreateUser && f.Address != AddressFree:
			t.Errorf("%s: %d does not fit the address", name, rule)
		case f.Current == SessionOutdated && (rule == RuleLink || rule == RuleContinue):
			t.Errorf("%s: an outdated token is accepted: %d", name, rule)
		}
	}
}

func allLinkFacts() (all []Facts) {
	for c := MeansLink; c <= MeansTakenPasskey; c++ {
		for p := SessionNone; p <= SessionOutdated; p++ {
			for a := AddressFree; a <= AddressVerified; a++ {
				for w := NoMethods; w <= UnvouchedMethods; w++ {
					for _, cannotEndSessions := range []bool{false, true} {
						for _, verifies := range []bool{false, true} {
							if c == MeansLink && !verifies || c == MeansOwnAccount && p == SessionNone {
								continue // there is no such sign-in
							}
							all = append(all, Facts{
								Means: c, Current: p, Address: a, Verifies: verifies, Methods: w, CannotEndSessions: cannotEndSessions,
							})
						}
					}
				}
			}
		}
	}
	return all
}
