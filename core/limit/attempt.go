// Package limit limits attempts to guess secrets, and requests that send emails or are costly. A [Limiter] counts in
// the memory of one process, and a [Shared] also in a store, for all processes of a site. Package core calls it; an
// application needs it to change the rates (core.Config.Limits) or to build its own Callbacks.Limit.
package limit

import (
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"time"
)

// Attempt is the kind of action that a limit applies to.
type Attempt string

// The attempts that are limited, because they guess a secret, send an email or are costly.
const (
	AttemptCredentials Attempt = "credentials"      // the fields of a sign-in form are about to be checked
	AttemptEmail       Attempt = "email"            // a sign-in link is about to be sent
	AttemptEmailToken  Attempt = "email-token"      // a mailed token is about to be redeemed
	AttemptWebAuthn    Attempt = "webauthn-options" // a passkey challenge is requested, with an email address or without
	AttemptSignUp      Attempt = "sign-up"          // an account is requested
	AttemptMail        Attempt = "mail"             // an email other than a sign-in link is about to be sent
	AttemptCode        Attempt = "code"             // a code or second factor is about to be checked
	AttemptKey         Attempt = "key"              // an API key or another token of a program is about to be checked
	AttemptKeyUse      Attempt = "key-use"          // a request has a valid API key or another token of a program
	AttemptDevice      Attempt = "device"           // a device asks for the code that its user types in the browser
	AttemptChallenge   Attempt = "challenge"        // the token of a CAPTCHA service is about to be verified
	AttemptInARow      Attempt = "in-a-row"         // like AttemptCredentials, for consecutive wrong attempts
)

// Params describe an attempt before it is made.
type Params struct {
	Attempt Attempt
	// Provider is the provider's ID. It is not counted.
	Provider string
	// Identifier names the user of the attempt. For email it is the canonical address. For an emailed token it is the
	// address in the link. For credentials it is the result of CredentialsProvider.Identifier, or the first field that is
	// not a password, in lower case. For a request with a valid key it is the ID of the key, as in Principal.Credential of
	// package core. It is empty if there is none.
	Identifier string
	// Peer is the client address to count: the forwarded one if the peer is one of Config.TrustedProxies, else that of
	// the connection. An IPv6 address is a /64 network. The zero value means unknown.
	Peer netip.Prefix
	// PeerIsVisitor reports whether Peer is the client's own address, as far as can be known. It is false if Peer may be
	// a proxy, where all clients have the same address. If TrustedProxies is set, it is true unless Peer is one of them.
	// If not, it is true if the connection has a public address and the request has no header that proxies add. A client
	// that adds such a header on purpose cannot be detected: if there is no proxy, set TrustedProxies to 127.0.0.1/32.
	PeerIsVisitor bool
	// Browser identifies a browser in which the owner of Identifier has signed in before (Config.Limits.KnownBrowsers).
	// It is random, and the same for each attempt. It is empty if the browser is not known for this user.
	Browser string
	// Guessable is true for an emailed token of fewer than 20 characters, such as a six-digit code, which an attacker can
	// guess by trying. It is false for other attempts.
	Guessable bool
}

// String returns the attempt, the provider and the peer, without the identifier.
func (p Params) String() string {
	return fmt.Sprintf("attempt %s at provider %q by %v", p.Attempt, p.Provider, p.Peer)
}

// Format writes String for every fmt verb.
func (p Params) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.String()) }

// LogValue returns the attempt, the provider and the peer.
func (p Params) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("attempt", string(p.Attempt)), slog.String("provider", p.Provider),
		slog.String("peer", p.Peer.String()),
	)
}

// MarshalText returns String, for encoding/json and similar packages.
func (p Params) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Rate is a token bucket: it allows Burst attempts immediately, then one attempt per Every. The zero value means the
// default.
type Rate struct {
	Burst int
	Every time.Duration
}

// Rates are the limits of one kind of attempt.
type Rates struct {
	// Identifier limits the attempts for one name, email address or user, by all identified clients together.
	// Unidentified clients share another bucket of the same size for it.
	Identifier Rate
	// Visitor limits the attempts for one name, email address or user, by one client. Its Burst must be less than
	// Identifier's, and its Every at least as long as Identifier's. Otherwise an attacker in one network could lock out
	// the owner. The /56 and /48 networks of an IPv6 client are allowed up to twice and three times as much, but less
	// than Identifier.
	Visitor Rate
	// Network limits all attempts of one client. The /56 and /48 networks of an IPv6 client are allowed twice and three
	// times as much. All unidentified clients together are allowed ten times as much.
	Network Rate
	// Browser limits the attempts for one name in a known browser. It replaces Visitor there. All known browsers of the
	// name together have a separate bucket with the rate of Identifier.
	Browser Rate
}

// defaultRates returns the default rates of an attempt. A Visitor bucket never refills faster than the Identifier
// bucket.
func defaultRates(a Attempt) Rates {
	switch a {
	case AttemptCredentials:
		few := Rate{10, 5 * time.Minute}
		return Rates{Rate{50, 5 * time.Minute}, few, Rate{60, 10 * time.Second}, few}
	case AttemptInARow:
		row := Rate{100, 24 * time.Hour}
		return Rates{Identifier: row, Visitor: Rate{50, 24 * time.Hour}, Browser: row}
	case AttemptCode:
		few := Rate{5, 40 * time.Minute} // at most 46 wrong codes for one name in a day
		return Rates{Rate{10, 40 * time.Minute}, few, Rate{20, 6 * time.Second}, few}
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
	case AttemptDevice:
		return Rates{Network: Rate{20, 30 * time.Second}}
	case AttemptChallenge:
		return Rates{Network: Rate{30, 2 * time.Second}}
	case AttemptKey:
		return Rates{Network: Rate{20, 3 * time.Second}}
	case AttemptWebAuthn:
		many := Rate{120, time.Second}
		return Rates{Network: many, Browser: many}
	}
	return Rates{}
}

// WithDefaults returns r with the default rates of an attempt in its zero fields.
func (r Rates) WithDefaults(a Attempt) Rates {
	all := defaultRates(a)
	for _, rate := range []struct{ is, to *Rate }{
		{&all.Identifier, &r.Identifier}, {&all.Visitor, &r.Visitor}, {&all.Network, &r.Network}, {&all.Browser, &r.Browser},
	} {
		if *rate.to != (Rate{}) {
			*rate.is = *rate.to
		}
	}
	return all
}

// unidentifiedClients is the number of clients that all unidentified clients together are counted as.
const unidentifiedClients = 10

// times returns the rate of n clients together.
func (r Rate) times(n int) Rate { return Rate{r.Burst * n, r.Every / time.Duration(n)} }

// wide returns the rate of an IPv6 network that is i steps wider than a client's /64. It is the rate of i+1 clients,
// limited by all if that is not zero. all is the size of the bucket that all clients share: one network together with
// one IPv4 client must never empty it, however long they continue.
func (r Rate) wide(i, all int) Rate {
	if i == 0 || r.Every <= 0 {
		return r
	}
	if all == 0 {
		return r.times(i + 1)
	}
	if left := all - r.Burst - 1; left > 0 {
		return Rate{min(r.Burst*(i+1), left), r.Every}
	}
	return r
}

// networkBits are the IPv6 prefix lengths that attempts are counted for. A household or a server has a /64, /56 or /48
// network (RFC 6177).
var networkBits = [...]int{64, 56, 48}

// Networks returns the networks that a client is counted for, the narrowest first: one of IPv4, three of IPv6.
func Networks(peer netip.Prefix) []netip.Prefix {
	if !peer.Addr().Is6() {
		return []netip.Prefix{peer}
	}
	all := make([]netip.Prefix, 0, len(networkBits))
	for _, bits := range networkBits {
		wide, err := peer.Addr().Prefix(bits)
		if err == nil && bits <= peer.Bits() {
			all = append(all, wide)
		}
	}
	return all
}
