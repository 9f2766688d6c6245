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
		{"known account, nobody here", linkFacts{comes: byKnownAccount}, ruleLetIn},
		{"known account, its owner here", linkFacts{comes: byOwnAccount, presence: hereSomebody}, ruleGoOn},
		{"known account, somebody else here", linkFacts{comes: byKnownAccount, presence: hereSomebody}, ruleRefuse},
		{"known account, an outdated token here", linkFacts{comes: byKnownAccount, presence: hereOutdated}, ruleLetIn},
		{"own account, an outdated token here", linkFacts{comes: byOwnAccount, presence: hereOutdated}, ruleLetIn},
		{"a passkey that is registered already", linkFacts{comes: byTakenPasskey}, ruleRefuse},
		{"a passkey that is registered already, somebody here",
			linkFacts{comes: byTakenPasskey, presence: hereSomebody}, ruleRefuse},

		{"new account, somebody here", linkFacts{comes: byNewAccount, presence: hereSomebody}, ruleLinkHere},
		{"new account, an outdated token here", linkFacts{comes: byNewAccount, presence: hereOutdated}, ruleRefuse},
		{"new account, a proof of long ago here",
			linkFacts{comes: byNewAccount, presence: hereSomebody, stale: true}, ruleRefuse},
		{"own account, a proof of long ago here",
			linkFacts{comes: byOwnAccount, presence: hereSomebody, stale: true}, ruleGoOn},
		{"new account, nobody here", linkFacts{comes: byNewAccount, stale: true}, ruleWelcome},

		{"new account, free address", linkFacts{comes: byNewAccount}, ruleWelcome},
		{"new account, free address, vouched for", linkFacts{comes: byNewAccount, proves: true}, ruleWelcome},
		{"new account, proved address, nobody vouches", linkFacts{comes: byNewAccount, address: addressProved}, ruleRefuse},
		{"new account, unproved address, nobody vouches",
			linkFacts{comes: byNewAccount, address: addressUnproved}, ruleRefuse},
		{"a lost account, proved address", linkFacts{comes: byNewAccount, address: addressProved, listed: true}, ruleEnter},
		{"a lost account, unproved address",
			linkFacts{comes: byNewAccount, address: addressUnproved, listed: true}, ruleEnter},
		{"a lost account, somebody here",
			linkFacts{comes: byNewAccount, presence: hereSomebody, listed: true}, ruleLinkHere},
		{"new account, proved address, vouched for",
			linkFacts{comes: byNewAccount, address: addressProved, proves: true}, ruleEnter},
		{"new account, unproved address, vouched for, all ways vouched",
			linkFacts{comes: byNewAccount, address: addressUnproved, proves: true, ways: vouchedWays}, ruleProve},
		{"new account, unproved address, vouched for, no ways",
			linkFacts{comes: byNewAccount, address: addressUnproved, proves: true}, ruleProveAlone},
		{"new account, unproved address, vouched for, a stranger's way",
			linkFacts{comes: byNewAccount, address: addressUnproved, proves: true, ways: otherWays}, ruleMove},

		{"link, free address", linkFacts{proves: true}, ruleWelcome},
		{"link, free address, somebody here", linkFacts{proves: true, presence: hereSomebody}, ruleWelcome},
		{"link, proved address", linkFacts{proves: true, address: addressProved, ways: otherWays}, ruleEnter},
		{"link, unproved address, all ways vouched",
			linkFacts{proves: true, address: addressUnproved, ways: vouchedWays}, ruleProve},
		{"link, unproved address, all ways vouched, sessions without end",
			linkFacts{proves: true, address: addressUnproved, ways: vouchedWays, endless: true}, ruleProve},
		{"link, unproved address, no ways", linkFacts{proves: true, address: addressUnproved}, ruleProveAlone},
		{"link, unproved address, no ways, sessions without end",
			linkFacts{proves: true, address: addressUnproved, endless: true}, ruleMove},
		{"link, unproved address, a stranger's way",
			linkFacts{proves: true, address: addressUnproved, ways: otherWays}, ruleMove},
		{"link, unproved address, a stranger's way, the stranger here",
			linkFacts{proves: true, address: addressUnproved, ways: otherWays, presence: hereSomebody}, ruleMove},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.rule(); got != row.want {
				t.Errorf("got %d, want %d", got, row.want)
			}
		})
	}
}

// TestLinkRulesNeverShare goes through all facts: no sign-in opens a user whom a stranger can open as well.
func TestLinkRulesNeverShare(t *testing.T) {
	t.Parallel()
	for _, f := range allLinkFacts() {
		rule, name := f.rule(), fmt.Sprintf("%+v", f)
		byAddress := rule == ruleEnter || rule == ruleProve || rule == ruleProveAlone
		switch {
		case byAddress && !f.proves:
			t.Errorf("%s: linked by an address that the sign-in does not prove: %d", name, rule)
		case byAddress && f.address == addressUnproved && f.ways == otherWays:
			t.Errorf("%s: shares a user with whoever has the other ways: %d", name, rule)
		case byAddress && f.address == addressUnproved && f.ways == noWays && (f.endless || rule != ruleProveAlone):
			t.Errorf("%s: sessions from before the proof live on: %d", name, rule)
		case rule == ruleEnter && f.address != addressProved,
			rule == ruleMove && f.address != addressUnproved,
			rule == ruleWelcome && f.address != addressFree:
			t.Errorf("%s: %d does not fit the address", name, rule)
		case f.presence == hereOutdated && (rule == ruleLinkHere || rule == ruleGoOn):
			t.Errorf("%s: an outdated token counts: %d", name, rule)
		}
	}
}

func allLinkFacts() (all []linkFacts) {
	for c := byLink; c <= byTakenPasskey; c++ {
		for p := hereNobody; p <= hereOutdated; p++ {
			for a := addressFree; a <= addressProved; a++ {
				for w := noWays; w <= otherWays; w++ {
					for _, endless := range []bool{false, true} {
						for _, proves := range []bool{false, true} {
							if c == byLink && !proves || c == byOwnAccount && p == hereNobody {
								continue // there is no such sign-in
							}
							all = append(all, linkFacts{comes: c, presence: p, address: a, proves: proves, ways: w, endless: endless})
						}
					}
				}
			}
		}
	}
	return all
}
