package secondfactor

import (
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// try is a wrong code.
type try struct {
	// At is in Unix seconds.
	At int64 `json:"t"`
	// Budget is the budget that the try counts for, and Cost its number of comparisons.
	Budget budget `json:"b"`
	Cost   int    `json:"n"`
	// SignIn identifies the pending sign-in.
	SignIn string `json:"s"`
}

// budget is one of the daily budgets of a user. They are separate, so that an attacker who knows the password and uses
// up one of them cannot lock the owner out.
type budget string

const (
	// budgetApp is for codes of authenticator apps.
	budgetApp budget = "a"
	// budgetKnown is for such codes in browsers in which the user has used a second factor before.
	budgetKnown budget = "k"
	// budgetRecovery is for recovery codes.
	budgetRecovery budget = "r"
)

const (
	// triesPerSignIn is the maximum number of wrong codes for one pending sign-in.
	triesPerSignIn = 5
	// triesPerDay is the size of a budget: the maximum number of wrong codes for a user in 24 hours, over all
	// sign-ins, browsers and processes. With one app three codes are valid at a time, so a guesser who knows the
	// password makes at most 20 × 365 = 7,300 guesses a year, each with a chance of 3 in a million: 1 − (1 −
	// 3/10⁶)^7,300 = 2.2 %. With n apps a wrong code costs n, which keeps the chance the same.
	triesPerDay = 20
	// noticeAfter is the number of wrong codes after which the user gets an email, because the sender knows the
	// password.
	noticeAfter = 10
	tryWindow   = 24 * time.Hour
	// signInWindow is longer than the lifetime of a pending sign-in.
	signInWindow = 15 * time.Minute
)

// spent returns the used part of a budget, and the number of wrong codes of a pending sign-in.
func (s *state) spent(b budget, signIn string, now time.Time) (day, here int) {
	for _, t := range s.Tries {
		at := time.Unix(t.At, 0)
		if t.Budget == b && now.Sub(at) < tryWindow {
			day += t.Cost
		}
		if t.SignIn == signIn && now.Sub(at) < signInWindow {
			here++
		}
	}
	return day, here
}

// allows returns nil if a further attempt is within the limits, or errMany or errManyHere.
func (s *state) allows(t try, now time.Time) error {
	switch day, here := s.spent(t.Budget, t.SignIn, now); {
	case day+t.Cost > triesPerDay:
		return errMany
	case here >= triesPerSignIn:
		return errManyHere
	}
	return nil
}

// count adds a wrong code and drops old ones. notice reports that the user must be informed now.
func (s *state) count(t try, now time.Time) (notice bool) {
	before, _ := s.spent(t.Budget, "", now)
	s.Tries = slices.DeleteFunc(s.Tries, func(old try) bool { return now.Sub(time.Unix(old.At, 0)) >= tryWindow })
	s.Tries = append(s.Tries, t)
	return before < noticeAfter && before+t.Cost >= noticeAfter
}

// forgive removes one try that count added.
func (s *state) forgive(t try) {
	if i := slices.Index(s.Tries, t); i >= 0 {
		s.Tries = slices.Delete(s.Tries, i, i+1)
	}
}

// signInID identifies the sign-in or the session of a request for triesPerSignIn.
func signInID(p *core.PendingSignIn, session *core.Session) string {
	const short = 16
	id := ""
	switch {
	case p != nil:
		id = p.ID()
	case session != nil:
		id = session.ID
	}
	return id[:min(short, len(id))]
}
