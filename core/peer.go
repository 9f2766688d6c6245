package core

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/limit"
)

// client identifies the client of a request by its address.
type client struct {
	// network is the client's address, or its /64 network for IPv6. It is zero if the address is unknown.
	network netip.Prefix
	// identified reports whether network is the client's own, as [LimitParams].PeerIsVisitor says.
	identified bool
}

// client returns the client of the request.
func (v *arrival) client() client {
	network, identified := v.peer(v.r)
	return client{network, identified && network.IsValid()}
}

// peer returns the client's network for limits. It is the address of the connection's peer. If that is a trusted proxy,
// it is the last address in X-Forwarded-For that is not a trusted proxy, because a client can forge everything before
// that address. An IPv6 client has at least 2^64 addresses, so it is counted by its /64 network. network is zero if it
// is unknown, for example on a Unix socket. visitor reports whether the network is the client's own, see
// [LimitParams].PeerIsVisitor.
func (s *site) peer(r *Request) (network netip.Prefix, visitor bool) {
	at, ok := s.peerAddress(r)
	if !ok {
		return netip.Prefix{}, false
	}
	if len(s.proxies) > 0 && !r.ProxyUntrusted && s.trustsProxy(at) {
		entries := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
		for _, entry := range slices.Backward(entries) {
			addr, ok := parsePeer(strings.TrimSpace(entry))
			if !ok {
				break
			}
			if !s.trustsProxy(addr) {
				at = addr
				break
			}
		}
	}
	bits := 32
	if at.Is6() {
		bits = 64
	}
	network, _ = at.Prefix(bits) // both fit
	if len(s.proxies) > 0 {
		return network, !s.trustsProxy(at)
	}
	return network, public(at) && !forwarded(r)
}

// carrierNAT is the shared address space of RFC 6598. Load balancers also use it.
var carrierNAT = netip.MustParsePrefix("100.64.0.0/10")

// public reports whether an address is on the public internet. A peer with any other address is probably a proxy of
// this site.
func public(at netip.Addr) bool {
	return at.IsGlobalUnicast() && !at.IsPrivate() && !carrierNAT.Contains(at)
}

// proxyHeaders are the headers that proxies add.
var proxyHeaders = []string{
	"X-Forwarded-For", "Forwarded", "X-Real-Ip", "X-Forwarded-Host", "X-Forwarded-Proto",
	"Via", "Cf-Connecting-Ip", "True-Client-Ip",
}

// forwarded reports whether the request has a header that proxies add.
func forwarded(r *Request) bool {
	for _, name := range proxyHeaders {
		if len(r.Header[name]) > 0 {
			return true
		}
	}
	return false
}

// unixPeer is used as the address of a peer on a Unix socket. No host has this address (RFC 6666).
var unixPeer = netip.MustParseAddr("100::1")

// UnixSockets returns an entry of Config.TrustedProxies for a proxy that connects over a Unix socket. A peer on a Unix
// socket is also trusted if TrustedProxies contains 127.0.0.1 or ::1.
func UnixSockets() netip.Prefix { return netip.PrefixFrom(unixPeer, unixPeer.BitLen()) }

// peerAddress returns the address of a connection's peer. The peers of a server on a Unix socket have no IP address: Go
// reports "@", "" or a path. Only processes of this machine with write permission on the socket can connect, so such a
// peer is trusted like a loopback address.
func (s *site) peerAddress(r *Request) (netip.Addr, bool) {
	at, ok := parsePeer(r.RemoteAddr)
	if ok || !isUnixSocket(r.RemoteAddr) {
		return at, ok
	}
	for _, local := range []netip.Addr{unixPeer, netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		if s.trustsProxy(local) {
			return local, true
		}
	}
	return at, false
}

// isUnixSocket reports whether a peer is connected over a Unix socket.
func isUnixSocket(peer string) bool {
	return peer == "" || strings.HasPrefix(peer, "@") || strings.HasPrefix(peer, "/") || strings.HasPrefix(peer, "\x00")
}

// parsePeer parses an address, with or without a port, and returns its canonical form.
func parsePeer(text string) (netip.Addr, bool) {
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap().WithZone(""), err == nil
}

// trustsProxy reports whether an address is in Config.TrustedProxies.
func (s *site) trustsProxy(addr netip.Addr) bool {
	return slices.ContainsFunc(s.proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// fromTrustedProxy reports whether the forwarded headers of a request are trusted.
func (s *site) fromTrustedProxy(r *Request) bool {
	if r.ProxyUntrusted {
		return false
	}
	if len(s.proxies) == 0 {
		return true
	}
	peer, ok := s.peerAddress(r)
	return ok && s.trustsProxy(peer)
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

// WithClient adds the client of the request to ctx; [ClientFromContext] returns it. identifier is the address, name or
// user ID that the request is about; it may be empty.
func (c *ActionRequest) WithClient(ctx context.Context, identifier string) context.Context {
	return c.plugins.limits.withClient(ctx, c.in, identifier)
}

func (l *limits) withClient(ctx context.Context, c *call, identifier string) context.Context {
	who := Client{Known: l.known.of(c, identifier) != ""}
	if from := c.client(); from.identified {
		who.Networks = limit.Networks(from.network)
	}
	return context.WithValue(ctx, clientKey{}, who)
}
