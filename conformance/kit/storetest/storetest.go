// Package storetest is the test suite for stores. Each rule in the contract of [core.Store] and its optional interfaces
// is one subtest. The test of a store is one line:
//
//	storetest.Run(t, func(t *testing.T) core.Store { return memory.New() })
//
// Optional interfaces that the store does not implement are logged. Those that it implements must be complete.
package storetest

import (
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Run runs all cases, each on its own empty store. It skips the cases in except, which the tables or the database
// cannot support, for a reason in the store's README. An unknown name in except is an error.
func Run(t *testing.T, open func(t *testing.T) core.Store, except ...string) {
	t.Helper()
	for _, name := range except {
		if !slices.ContainsFunc(cases, func(c testCase) bool { return c.name == name }) {
			t.Errorf("there is no case %q", name)
		}
	}
	for _, c := range cases {
		if slices.Contains(except, c.name) {
			t.Logf("left out: %s", c.name)
			continue
		}
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

// Count returns the number of cases, for reports.
func Count() int { return len(cases) }

// testCase is one rule of the contract.
type testCase struct {
	name  string
	needs func(core.Store) bool
	run   func(*kit)
}

// of converts a method of a type that embeds kit to a case.
func of[S ~struct{ *kit }](do func(S)) func(*kit) {
	return func(k *kit) { do(S{k}) }
}

func is[T any](s core.Store) bool { _, ok := s.(T); return ok }

func both[A, B any](s core.Store) bool { return is[A](s) && is[B](s) }

var cases = []testCase{
	{"user/created and found by id and e-mail", nil, of(users.roundTrip)},
	{"user/absence is ErrNotFound", nil, of(users.missing)},
	{"user/an e-mail belongs to one user", nil, of(users.conflict)},
	{"user/many users without an e-mail, none found by it", nil, of(users.withoutEmail)},
	{"user/updated", nil, of(users.updated)},
	{"user/null and empty are kept apart", nil, of(users.nulls)},
	{"user/unusual texts are returned unchanged or rejected", nil, of(users.oddTexts)},
	{"user/e-mails of 320 bytes, exactly compared", nil, of(users.longEmails)},
	{"user/times before 1970 and with fractions", nil, of(users.oddTimes)},
	{"user/further members are stored, null and empty stay distinct", nil, of(users.members)},
	{"user/results are copies", nil, of(users.ownCopies)},
	{"user/an address is found as it is stored", nil, of(users.spelled)},
	{"user/all addresses are listed", is[store.EmailLister], of(users.listed)},
	{"user/pages of all users, each once", is[store.UserFinder], of(finding.pages)},
	{"user/pages while users are created, each once", is[store.UserFinder], of(finding.growing)},
	{"user/pages while users are deleted", both[store.UserFinder, store.UserDeleter], of(finding.shrinking)},
	{"user/pages with cursors that no page returned", is[store.UserFinder], of(finding.wrongCursors)},
	{"user/pages with limits out of range", is[store.UserFinder], of(finding.limits)},
	{"user/found by the exact prefix of an address", is[store.UserFinder], of(finding.prefixes)},
	{"user/found by the prefix of a new address", is[store.UserFinder], of(finding.moved)},
	{"user/an address that is left out is free for another user", nil, of(addresses.freed)},
	{"user/two first sign-ins with one e-mail make one user", nil, of(users.atOnce)},
	{"account/linked and found", nil, of(accounts.roundTrip)},
	{"account/linked once, keys are exact", nil, of(accounts.conflict)},
	{"account/fifty concurrent links, one succeeds", nil, of(accounts.atOnce)},
	{"account/tokens are refreshed", is[store.AccountStore], of(accounts.updated)},
	{"account/read by its key, and unlinked", is[store.AccountStore], of(accounts.unlinked)},
	{"account/the address that its provider verified is stored", is[store.AccountStore], of(accounts.vouches)},
	{"account/ids of 320 bytes and 4-byte runes", nil, of(accounts.longIDs)},
	{"account/impossible keys are not found", nil, of(accounts.impossibleKeys)},
	{"account/large tokens and unknown members are kept", is[store.AccountStore], of(accounts.members)},
	{"session/created and read with its user", is[store.SessionStore], of(sessions.roundTrip)},
	{"session/absence is ErrNotFound", is[store.SessionStore], of(sessions.missing)},
	{"session/expired ones are returned", is[store.SessionStore], of(sessions.expired)},
	{"session/keys are exact", is[store.SessionStore], of(sessions.exact)},
	{"session/a token belongs to one session", is[store.SessionStore], of(sessions.conflict)},
	{"session/times before 1970 and with fractions", is[store.SessionStore], of(sessions.oddTimes)},
	{"session/many read concurrently, each with its own user", is[store.SessionStore], of(sessions.crowd)},
	{"session/extended and deleted concurrently, it stays deleted", is[store.SessionStore], of(sessions.atOnce)},
	{"session/deleted by user", is[store.SessionLister], of(sessions.ofUser)},
	{"token/used once, exactly", is[store.VerificationTokenStore], of(tokens.once)},
	{"token/made once, a second time it is a conflict", is[store.VerificationTokenStore], of(tokens.conflict)},
	{"token/fifty concurrent uses, one succeeds", is[store.VerificationTokenStore], of(tokens.atOnce)},
	{"token/a wrong guess does not spend it", is[store.VerificationTokenStore], of(tokens.guess)},
	{"token/an address of 320 bytes", is[store.VerificationTokenStore], of(tokens.long)},
	{"delete/a user goes with everything of theirs", is[store.UserDeleter], of(deletions.ofUser)},
	{"delete/expired rows in bulk", is[store.Cleaner], of(deletions.ofExpired)},
	{"delete/expired rows, the rest after an ended context",
		both[store.Cleaner, store.SessionStore], of(deletions.stops)},
	{"delete/expired rows, with the number left by an ended context",
		both[store.Cleaner, store.SessionStore], of(deletions.sayWhatIsLeft)},
	{"delete/expired rows, but no session that is extended meanwhile",
		both[store.Cleaner, store.SessionStore], of(deletions.meanwhile)},
	{"delete/expired rows by their current expiry", both[store.Cleaner, store.SessionStore], of(deletions.movedEnds)},
	{"transaction/all", is[store.Transactor], of(transactions.commit)},
	{"transaction/an address moves from one user to another", is[store.Transactor], of(addresses.freedInside)},
	{"transaction/nothing after an error", is[store.Transactor], of(transactions.rollback)},
	{"transaction/an error undoes writes of all kinds", is[store.Transactor], of(transactions.rollbackAll)},
	{"transaction/two first sign-ins at once, one user and nothing of the other",
		is[store.Transactor], of(transactions.atOnce)},
	{"transaction/nothing after its context has ended", is[store.Transactor], of(transactions.cancelled)},
	{"transaction/nothing after a panic", is[store.Transactor], of(transactions.panics)},
	{"authenticator/created, found, counted", is[store.AuthenticatorStore], of(passkeys.roundTrip)},
	{"authenticator/deleted and registered again", is[store.AuthenticatorDeleter], of(passkeys.removed)},
	{"authenticator/each to its user", is[store.AuthenticatorStore], of(passkeys.ofUsers)},
	{"record/created once, updated from its version, taken", is[store.RecordStore], of(records.roundTrip)},
	{"record/listed and deleted by user and kind", is[store.RecordStore], of(records.ofUsers)},
	{"record/keys are exact, values are returned byte for byte", is[store.RecordStore], of(records.exact)},
	{"record/fifty concurrent creations and takes, one of each succeeds", is[store.RecordStore], of(records.atOnce)},
	{"record/fifty concurrent updates of one version, one succeeds", is[store.RecordStore], of(records.updatesAtOnce)},
	{"record/deleted with its user", both[store.RecordStore, store.UserDeleter], of(records.ofDeletedUser)},
	{"record/deleted after its expiry", both[store.RecordStore, store.Cleaner], of(records.expire)},
	{"record/listed by kind and prefix, page by page", is[store.RecordLister], of(records.pages)},
	{"record/two kinds with one call", is[store.RecordPairReader], of(records.pair)},
	{"record/in transactions", both[store.RecordStore, store.Transactor], of(records.inTransaction)},
	{"outbox/emails survive an outage and a restart", is[store.RecordLister], of(outbox.survives)},
	{"outbox/an email of a killed process is sent with the same ID", is[store.RecordLister], of(outbox.killed)},
	{"code/fifty concurrent uses in two processes, one succeeds",
		both[store.RecordStore, store.VerificationTokenStore], of(codes.once)},
	{"code/wrong ones have a budget in two processes",
		both[store.RecordStore, store.VerificationTokenStore], of(codes.budget)},
	{"sign-in/one person on two devices at once, with an account", nil, of(signIns.twoByAccount)},
	{"sign-in/one person on 32 devices at once, with an account", nil, of(signIns.crowdByAccount)},
	{"sign-in/one person on two devices at once, by mail", is[store.VerificationTokenStore], of(signIns.twoByMail)},
	{"sign-in/one person on 32 devices at once, by mail", is[store.VerificationTokenStore], of(signIns.crowdByMail)},
	{"context/a cancelled one writes nothing", nil, of(contexts.writeNothing)},
	{"context/a cancelled one spends, extends and ends nothing", nil, of(contexts.changeNothing)},
}
