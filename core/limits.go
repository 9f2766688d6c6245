package core

import (
	"fmt"
	"strconv"
	"time"
)

// Attempt is what a Limit callback is asked about.
type Attempt string

// The attempts that guess something, or cost something.
const (
	AttemptCredentials Attempt = "credentials"      // fields are about to be checked
	AttemptEmail       Attempt = "email"            // a sign-in link is about to be sent
	AttemptEmailToken  Attempt = "email-token"      // a mailed token is about to be redeemed
	AttemptWebAuthn    Attempt = "webauthn-options" // a passkey challenge, with an e-mail or without
	AttemptSignUp      Attempt = "sign-up"          // an account is asked for
	AttemptMail        Attempt = "mail"             // a letter other than a sign-in link is about to be sent
	AttemptCode        Attempt = "code"             // a code or second factor is about to be checked
	AttemptInARow      Attempt = "in-a-row"         // fields are about to be checked that were wrong so often in a row
)

// Limits bound what visitors can guess and what costs something to send; the table of [Limiter] has the figures. The
// zero value counts in this process, by these figures.
type Limits struct {
	// Shared counts in the Store too, for several processes that serve one site: its records of kind "budget" have keyed
	// hashes of what is counted, and expire in minutes. Each process counts for itself first, so that an attack does not
	// become as many writes. The Store has to be a [store.RecordStore].
	Shared bool
	// Rates replace figures, by attempt; those that are zero keep the default. An Attempt that only a part of the
	// application makes has no default.
	Rates map[Attempt]Rates
	// KnownBrowsers sets a cookie, "__Host-latchkey.known", in a browser in which a user signs in, by any method. The
	// browser's attempts for this user count apart from then on: attackers who use up what a name may do do not lock out
	// the owner. The cookie is encrypted, lasts 180 days and remembers eight users. Auto is on if Shared or Rates is set or a
	// plugin such as providers/password asks for it, and off otherwise, as in Auth.js.
	KnownBrowsers Toggle
}

// Rate is an allowance: Burst attempts at once, then one after each Every. The zero value stands for the default.
type Rate struct {
	Burst int
	Every time.Duration
}

// Rates are how often an attempt may be made.
type Rates struct {
	// Identifier is for one name, address or person, by all identified clients together. Unidentified clients have another
	// bucket for it, of the same size.
	Identifier Rate
	// Visitor is for one of these by one client. Its Burst must be less than Identifier's, and its Every at least as
	// long: otherwise an attacker in one network could lock the owner out. The /56 and /48 of an IPv6 client are
	// allowed up to twice and three times as much, as long as Identifier stays larger.
	Visitor Rate
	// Network is for one client in all. The /56 and /48 of an IPv6 client are allowed twice and three times as much, and
	// all unidentified clients together ten times.
	Network Rate
	// Browser is for one name in a known browser, instead of Visitor. All known browsers of the name together are allowed
	// as much as Identifier, in a bucket that others do not use.
	Browser Rate
}

// defaultRates returns the figures of an attempt. What a visitor gets back in a while is no more than the identifier
// does.
func defaultRates(a Attempt) Rates {
	switch a {
	case AttemptCredentials:
		few := Rate{10, 5 * time.Minute}
		return Rates{Rate{50, 5 * time.Minute}, few, Rate{60, 10 * time.Second}, few}
	case AttemptInARow:
		row := Rate{100, 24 * time.Hour}
		return Rates{Identifier: row, Visitor: Rate{50, 24 * time.Hour}, Browser: row}
	case AttemptCode:
		few := Rate{5, 3 * time.Minute}
		return Rates{Rate{20, 3 * time.Minute}, few, Rate{20, 6 * time.Second}, few}
	case AttemptEmail:
		few := Rate{5, 15 * time.Minute}
		return Rates{Rate{10, 15 * time.Minute}, few, Rate{60, 20 * time.Second}, few}
	case AttemptEmailToken:
		few := Rate{5, 30 * time.Minute}
		return Rates{Rate{50, 30 * time.Minute}, few, Rate{30, time.Minute}, few}
	case AttemptMail:
		few := Rate{3, 2 * time.Minute}
		return Rates{Rate{10, 2 * time.Minute}, few, Rate{10, time.Minute}, few}
	case AttemptSignUp:
		return Rates{Network: Rate{5, 5 * time.Minute}}
	case AttemptWebAuthn:
		many := Rate{120, time.Second}
		return Rates{Network: many, Browser: many}
	}
	return Rates{}
}

// ratesOf are the figures of an attempt, as they were changed.
func ratesOf(changed map[Attempt]Rates, a Attempt) Rates {
	rates, c := defaultRates(a), changed[a]
	for _, rate := range []struct{ is, to *Rate }{
		{&rates.Identifier, &c.Identifier}, {&rates.Visitor, &c.Visitor}, {&rates.Network, &c.Network},
		{&rates.Browser, &c.Browser},
	} {
		if *rate.to != (Rate{}) {
			*rate.is = *rate.to
		}
	}
	return rates
}

// tooMany is an attempt that came too soon.
type tooMany struct{ wait time.Duration }

func (e *tooMany) Error() string {
	return fmt.Sprintf("core: the Limit callback asks for %v of patience", e.wait)
}

// seconds is the wait in whole seconds, for Retry-After.
func (e *tooMany) seconds() string {
	return strconv.FormatInt(int64((e.wait+time.Second-1)/time.Second), 10)
}
