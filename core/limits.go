package core

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"sync/atomic"
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

// counter counts attempts: a *Limiter, or a *sharedLimiter.
type counter interface {
	Limit(ctx context.Context, p LimitParams) (wait time.Duration, err error)
	Forgive(ctx context.Context, p LimitParams)
}

// limits asks the application, and the limiter of its own, whether an attempt may be made.
type limits struct {
	limit   func(ctx context.Context, p LimitParams) (time.Duration, error) // Callbacks.Limit
	forgive func(ctx context.Context, p LimitParams)                        // Callbacks.Forgive
	own     counter                                                         // nil: the application's word alone counts
	known   *knownBrowsers
	told    atomic.Bool // the warning limit-without-peer was given
}

// newLimits decides who counts. asked: a part asks for known browsers.
func newLimits(c *Config, a *Auth, asked bool) *limits {
	l := &limits{limit: c.Callbacks.Limit, forgive: c.Callbacks.Forgive}
	changed := c.Limits.Shared || len(c.Limits.Rates) > 0
	if !c.InsecureNoLimits && (l.limit == nil || changed) {
		limiter := newLimiter(c.Now, maps.Clone(c.Limits.Rates))
		l.own = limiter
		if c.Limits.Shared {
			l.own = &sharedLimiter{Limiter: limiter, records: a.store.records, secret: a.site.secrets[0], log: c.Logger}
		}
	}
	auto := l.own != nil && (changed || asked)
	if c.Limits.KnownBrowsers == On || c.Limits.KnownBrowsers == Auto && auto {
		l.known = &knownBrowsers{seals: &a.parts.seals, now: c.Now}
	}
	return l
}

// ask asks the Limit callback and the limiter. One that fails stops the attempt: what it guards must not go on
// unguarded.
func (l *limits) ask(ctx context.Context, c *call, p LimitParams) error {
	if l.limit == nil && l.own == nil {
		return nil
	}
	p = l.attempt(c, p)
	l.warnOfProxy(ctx, c, p)
	wait, err := time.Duration(0), error(nil)
	if l.limit != nil {
		wait, err = guarded("Limit callback", func() (time.Duration, error) { return l.limit(ctx, p) })
		if err != nil {
			return errorf(ErrAuth, "Limit callback: %w", err)
		}
	}
	if wait <= 0 && l.own != nil {
		wait, err = guarded("limiter", func() (time.Duration, error) { return l.own.Limit(ctx, p) })
		if err != nil {
			return errorf(ErrStore, "count an attempt: %w", err)
		}
	}
	if wait <= 0 {
		return nil
	}
	c.audit.note(ctx, &c.arrival, AuditEvent{
		Name: AuditLimit, Outcome: OutcomeRefused, Attempt: p.Attempt, Subject: p.Identifier,
	})
	return &Error{Type: ErrTooManyRequests, Cause: &tooMany{wait}}
}

// right tells the Forgive callback and the limiter that an attempt was right. One that fails is logged and changes
// nothing.
func (l *limits) right(ctx context.Context, c *call, p LimitParams) {
	if l.forgive == nil && l.own == nil {
		return
	}
	p = l.attempt(c, p)
	if l.own != nil {
		l.tell(ctx, c, "limiter", func() { l.own.Forgive(ctx, p) })
	}
	if l.forgive != nil {
		l.tell(ctx, c, "Forgive callback", func() { l.forgive(ctx, p) })
	}
}

// clear forgives all attempts at a name by all clients, because this client has proved that it owns the name.
func (l *limits) clear(ctx context.Context, c *call, p LimitParams) {
	l.right(ctx, c, p)
	if l.own == nil {
		return
	}
	for _, by := range []LimitParams{{PeerIsVisitor: true}, {}, {PeerIsVisitor: true, Browser: "any"}} {
		p.PeerIsVisitor, p.Browser = by.PeerIsVisitor, by.Browser
		l.tell(ctx, c, "limiter", func() { l.own.Forgive(ctx, p) })
	}
}

func (l *limits) tell(ctx context.Context, c *call, where string, of func()) {
	if err := guard(where, func() error { of(); return nil }); err != nil {
		c.log.failure(ctx, errorf(ErrAuth, "%s: %w", where, err), c.attrs()...)
	}
}

// warnOfProxy warns once if a request came through a proxy that TrustedProxies does not name.
func (l *limits) warnOfProxy(ctx context.Context, c *call, p LimitParams) {
	if p.PeerIsVisitor || l.own == nil || len(c.proxies) > 0 || !forwarded(c.r) || l.told.Swap(true) {
		return
	}
	c.log.warn(ctx, warnLimitWithoutPeer, slog.String("hint", "a request has headers of a proxy, and "+nameProxies))
}

// nameProxies is the fix for a missing Config.TrustedProxies.
const nameProxies = "TrustedProxies is empty: clients behind a proxy share the limits of unidentified clients, and a " +
	"client can join them by sending such a header. Set TrustedProxies to the addresses of the proxies in front, or " +
	"to 127.0.0.1/32 if there is none"

// warnOfMissingProxies warns in New if limits count clients and nothing says whose forwarded address to believe.
func (l *limits) warnOfMissingProxies(a *Auth) {
	counts := len(a.parts.actions) > 0
	for _, p := range a.providers {
		counts = counts || p.credentials != nil || p.email != nil || p.webauthn != nil
	}
	if l.own != nil && counts && len(a.site.proxies) == 0 && a.site.origins.Pinned.Scheme == "https" {
		a.log.warn(context.Background(), warnNoTrustedProxies, slog.String("hint", nameProxies))
	}
}

// attempt completes an attempt with the provider, the peer and the browser.
func (l *limits) attempt(c *call, p LimitParams) LimitParams {
	p.Provider, p.Request = c.providerID, c.r
	p.Peer, p.PeerIsVisitor = c.peer(c.r)
	p.Browser = l.known.of(c, p.Identifier)
	if p.Browser == "" && p.Attempt == AttemptWebAuthn { // a passkey names its user only when it is used
		p.Browser = l.known.anyone(c)
	}
	return p
}

// checkLimits checks Config.Limits.
func checkLimits(c *Config, kept stores, faults *ConfigError) {
	if c.InsecureNoLimits && (c.Limits.Shared || len(c.Limits.Rates) > 0) {
		faults.add(ErrInvalidConfig, "InsecureNoLimits leaves attempts unlimited, and Limits is set: choose one of them")
	}
	if c.Limits.Shared && kept.records == nil {
		faults.add(ErrMissingStoreMethods, "Limits.Shared needs a Store that is a store.RecordStore too "+
			"(package core/store): %T is not", c.Store)
	}
	for a := range c.Limits.Rates {
		rates := ratesOf(c.Limits.Rates, a)
		for _, rate := range []struct {
			name string
			Rate
		}{
			{"Identifier", rates.Identifier}, {"Visitor", rates.Visitor}, {"Network", rates.Network}, {"Browser", rates.Browser},
		} {
			if (rate.Burst <= 0 || rate.Every <= 0) && rate.Rate != (Rate{}) {
				faults.add(ErrInvalidConfig, "Limits.Rates[%q].%s is %d, every %v: both more than zero",
					a, rate.name, rate.Burst, rate.Every)
			}
		}
		one, all := rates.Visitor, rates.Identifier
		if all != (Rate{}) && one != (Rate{}) && (one.Burst >= all.Burst || one.Every < all.Every) {
			faults.add(ErrInvalidConfig, "Limits.Rates[%q]: Visitor (%d, every %v) is not less than Identifier (%d, every %v): "+
				"a stranger at one place could lock out the owner of a name", a, one.Burst, one.Every, all.Burst, all.Every)
		}
	}
}

// besides are the attempts at the other names in a form without declared fields: which of them says whose sign-in it
// is, Authorize alone knows, and a guesser puts a new one into the others each time.
func (f *credentialsFlow) besides(credentials map[string]string, typed string) (all []LimitParams) {
	if f.Identifier != "" || len(f.Fields) > 0 {
		return nil
	}
	for _, field := range usualNames {
		if name := canonicalName(credentials[field]); name != "" && name != typed {
			all = append(all, LimitParams{
				Attempt: AttemptCredentials, Identifier: name, Credentials: maps.Clone(credentials),
			})
		}
	}
	return all
}

// askAll asks for several attempts, each of which has to be allowed.
func (l *limits) askAll(ctx context.Context, c *call, all []LimitParams) error {
	for _, p := range all {
		if err := l.ask(ctx, c, p); err != nil {
			return err
		}
	}
	return nil
}

// rightAll gives several attempts back.
func (l *limits) rightAll(ctx context.Context, c *call, all []LimitParams) {
	for _, p := range all {
		l.right(ctx, c, p)
	}
}
