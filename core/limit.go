package core

import (
	"context"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"
)

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
