package core

import (
	"context"
	"log/slog"
	"maps"

	"net/netip"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/problems"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/internal/forwarded"
)

// Limits configures the rate limits for attempts to guess secrets and for requests that cause emails. The zero value
// counts in the memory of this process, with the default rates in the table of [limit.Limiter].
type Limits struct {
	// Shared also counts in the Store, for several processes that serve one site. The counts are records of kind
	// "budget": their keys are keyed hashes, and they expire within minutes. Each process counts in its own memory
	// first, so that an attack does not cause as many writes. Shared requires a Store that is a [store.RecordStore].
	Shared bool
	// Rates overrides the default rates of attempts. Zero fields keep the default. An attempt that only a plugin of the
	// application defines has no default.
	Rates map[limit.Attempt]limit.Rates
	// KnownBrowsers sets the cookie "__Host-latchkey.known" in a browser in which a user signs in, by any method. From
	// then on, this browser's attempts for this user are counted separately, so that attackers who use up the limit of
	// a name cannot lock out its owner. The cookie is encrypted, is valid for 180 days and remembers eight users.
	// Default means on if Shared or Rates is set, or if a plugin such as providers/password requests it; otherwise off,
	// as in Auth.js.
	KnownBrowsers OptionalBool
}

// counter counts attempts: a *limit.Limiter or a *limit.Shared.
type counter interface {
	Limit(ctx context.Context, p limit.Params) (wait time.Duration, err error)
	Forgive(ctx context.Context, p limit.Params)
}

// limits decides whether an attempt is allowed. It calls the application's Limit callback and the built-in limiter.
type limits struct {
	limit   func(ctx context.Context, p LimitParams) (time.Duration, error) // Callbacks.Limit
	forgive func(ctx context.Context, p LimitParams)                        // Callbacks.Forgive
	builtIn counter                                                         // the built-in limiter; nil if it is off
	known   *knownBrowsers
	keyUse  bool        // limit.AttemptKeyUse may have a limit
	warned  atomic.Bool // the warning limit-without-peer was logged
}

func newAttempt(a limit.Attempt, identifier string) LimitParams {
	return LimitParams{Params: limit.Params{Attempt: a, Identifier: identifier}}
}

// ask counts an attempt and returns an error if it exceeds a limit. If the callback or the limiter fails, the attempt
// is refused, so that it is never unlimited.
func (l *limits) ask(ctx context.Context, c *call, p LimitParams) error {
	if l.limit == nil && l.builtIn == nil {
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
	if wait <= 0 && l.builtIn != nil {
		wait, err = guarded("limiter", func() (time.Duration, error) { return l.builtIn.Limit(ctx, p.Params) })
		if err != nil {
			return errorf(ErrStore, "count an attempt: %w", err)
		}
	}
	if wait <= 0 {
		return nil
	}
	c.note(ctx, audit.Event{
		Name: audit.Limit, Outcome: audit.Refused, Attempt: string(p.Attempt), Subject: p.Identifier,
	})
	return &Error{Type: ErrTooManyRequests, Cause: &problems.TooMany{Wait: wait}}
}

// right tells the Forgive callback and the limiter that an attempt was correct, so that it no longer counts. A failure
// is logged and has no other effect.
func (l *limits) right(ctx context.Context, c *call, p LimitParams) {
	if l.forgive == nil && l.builtIn == nil {
		return
	}
	p = l.attempt(c, p)
	if l.builtIn != nil {
		l.safely(ctx, c, "limiter", func() { l.builtIn.Forgive(ctx, p.Params) })
	}
	if l.forgive != nil {
		l.safely(ctx, c, "Forgive callback", func() { l.forgive(ctx, p) })
	}
}

// clear resets the counts of a name for all clients. It is called when this client has verified that it owns the name.
func (l *limits) clear(ctx context.Context, c *call, p LimitParams) {
	l.right(ctx, c, p)
	if l.builtIn == nil {
		return
	}
	// Identified clients, unidentified clients and known browsers have separate counts of a name. The known browsers of
	// a name share theirs, so any ID of a browser selects it.
	for _, by := range []limit.Params{{PeerIsVisitor: true}, {}, {PeerIsVisitor: true, Browser: "any"}} {
		p.PeerIsVisitor, p.Browser = by.PeerIsVisitor, by.Browser
		l.safely(ctx, c, "limiter", func() { l.builtIn.Forgive(ctx, p.Params) })
	}
}

func (l *limits) safely(ctx context.Context, c *call, where string, call func()) {
	if err := guard(where, func() error { call(); return nil }); err != nil {
		c.log.failure(ctx, errorf(ErrAuth, "%s: %w", where, err), c.attrs()...)
	}
}

// warnOfProxy logs a warning, once, if a request came through a proxy and TrustedProxies is empty.
func (l *limits) warnOfProxy(ctx context.Context, c *call, p LimitParams) {
	if p.PeerIsVisitor || l.builtIn == nil || len(c.origins.Proxies) > 0 || !forwarded.HasHeader(c.r.Header) ||
		l.warned.Swap(true) {
		return
	}
	c.log.warn(ctx, warnings.LimitWithoutPeer, slog.String("hint", "a request has headers of a proxy, and "+nameProxies))
}

// nameProxies is the fix for a missing Config.TrustedProxies.
const nameProxies = "TrustedProxies is empty: clients behind a proxy share the limits of unidentified clients, and a " +
	"client can join them by sending such a header. Set TrustedProxies to the addresses of the proxies in front, or " +
	"to 127.0.0.1/32 if there is none"

// attempt sets the provider, the request, the peer and the known browser of an attempt. A callback may change its copy
// of the credentials.
func (l *limits) attempt(c *call, p LimitParams) LimitParams {
	p.Provider, p.Request, p.Credentials = c.providerID, c.r, maps.Clone(p.Credentials)
	p.Peer, p.PeerIsVisitor = c.client()
	p.Browser = l.known.of(c, p.Identifier)
	if p.Browser == "" && p.Attempt == limit.AttemptWebAuthn { // the user is not known before the passkey is used
		p.Browser = l.known.anyID(c)
	}
	return p
}

// Allow counts an attempt against the limits of the client and, if identifier is not empty, of identifier: an email
// address, a user name or a user ID. If a limit is exceeded it returns an error. Return that error from Handle to send
// a 429 response with Retry-After.
func (c *ActionRequest) Allow(ctx context.Context, a limit.Attempt, identifier string) error {
	return c.plugins.limits.ask(ctx, c.in, newAttempt(a, identifier))
}

// ResetAttempts undoes the count of Allow after an attempt that succeeded. For [limit.AttemptInARow] it resets the
// whole count, including the attempts of other clients: call it when the user has shown in a stronger way that the name
// is theirs.
func (c *ActionRequest) ResetAttempts(ctx context.Context, a limit.Attempt, identifier string) {
	p := newAttempt(a, identifier)
	if a == limit.AttemptInARow {
		c.plugins.limits.clear(ctx, c.in, p)
		return
	}
	c.plugins.limits.right(ctx, c.in, p)
}

// Client describes the client of a request to a plugin, so that it can share scarce resources such as processor time
// among clients.
type Client struct {
	// Networks contains the client's network and, for IPv6, the /56 and /48 networks around it. It is empty for an
	// unidentified client, see [LimitParams].PeerIsVisitor.
	Networks []netip.Prefix
	// Known reports that the client is a known browser of the user who signs in ([Limits].KnownBrowsers).
	Known bool
}

type clientKey struct{}

// ClientFromContext returns the client of the request that ctx belongs to: in CredentialsProvider.Authorize and Admit,
// and in contexts of [ActionRequest.WithClient]. It returns the zero Client, an unidentified one, for other contexts.
func ClientFromContext(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}

func (l *limits) withClient(ctx context.Context, c *call, identifier string) context.Context {
	who := Client{Known: l.known.of(c, identifier) != ""}
	if network, identified := c.client(); identified {
		who.Networks = limit.Networks(network)
	}
	return context.WithValue(ctx, clientKey{}, who)
}

// anyID returns the ID of a browser that is known for at least one name, and "" for other browsers.
func (k *knownBrowsers) anyID(c *call) string {
	if k == nil {
		return ""
	}
	if b := k.read(c); len(b.People) > 0 {
		return b.ID
	}
	return ""
}
