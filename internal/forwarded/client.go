// Package forwarded interprets requests that reverse proxies may have forwarded. It determines the client's network
// ([Proxies.Client]) and the public origin of a request ([Places.Of]). It knows no routes, cookies or sessions.
package forwarded

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Request contains the parts of a request that this package reads, as the server received them.
type Request struct {
	// Scheme is that of the connection, and Target the unchanged request target.
	Scheme, Target string
	// RemoteAddr is the address of the connection's peer.
	RemoteAddr string
	// ProxyUntrusted means that the router does not trust the peer as a proxy.
	ProxyUntrusted bool
	// Hosts are the values of the Host header.
	Hosts []string
	// Header has canonical names.
	Header http.Header
}

// Proxies are the networks of trusted proxies. If it is empty, no proxies are configured.
type Proxies []netip.Prefix

// Client returns the client's network for limits. It is the address of the connection's peer. If that is a trusted
// proxy, it is the last address in X-Forwarded-For that is not a trusted proxy, because a client can forge everything
// before that address. An IPv6 client has at least 2^64 addresses, so it is counted by its /64 network. network is zero
// if it is unknown, for example on a Unix socket. own reports whether the network is the client's own, and not that of
// a proxy that forwards requests of several clients.
func (p Proxies) Client(r *Request) (network netip.Prefix, own bool) {
	at, own := p.Address(r)
	bits := 32
	if at.Is6() {
		bits = 64
	}
	network, _ = at.Prefix(bits) // both fit; the zero address has no prefix
	return network, own
}

// Address returns the client's address, which [Proxies.Client] counts the network of. It is zero if it is unknown. own
// reports whether the address is the client's own, and not that of a proxy.
func (p Proxies) Address(r *Request) (at netip.Addr, own bool) {
	at, ok := p.peer(r)
	if !ok {
		return netip.Addr{}, false
	}
	if len(p) > 0 && !r.ProxyUntrusted && p.contain(at) {
		entries := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
		for _, entry := range slices.Backward(entries) {
			addr, ok := parsePeer(strings.TrimSpace(entry))
			if !ok {
				break
			}
			if !p.contain(addr) {
				at = addr
				break
			}
		}
	}
	if len(p) > 0 {
		return at, !p.contain(at)
	}
	return at, public(at) && !HasHeader(r.Header)
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

// HasHeader reports whether a request has a header that proxies add.
func HasHeader(h http.Header) bool {
	return slices.ContainsFunc(proxyHeaders, func(name string) bool { return len(h[name]) > 0 })
}

// socketPeer is used as the address of a peer on a Unix socket. No host has this address (RFC 6666).
var socketPeer = netip.MustParseAddr("100::1")

// UnixSockets returns an entry of [Proxies] for a proxy that connects over a Unix socket. A peer on a Unix socket is
// also trusted if Proxies contain 127.0.0.1 or ::1.
func UnixSockets() netip.Prefix { return netip.PrefixFrom(socketPeer, socketPeer.BitLen()) }

// peer returns the address of a connection's peer. The peers of a server on a Unix socket have no IP address: Go
// reports "@", "" or a path. Only processes of this machine with write permission on the socket can connect, so such a
// peer is trusted like a loopback address.
func (p Proxies) peer(r *Request) (netip.Addr, bool) {
	at, ok := parsePeer(r.RemoteAddr)
	if ok || !isUnixSocket(r.RemoteAddr) {
		return at, ok
	}
	for _, local := range []netip.Addr{socketPeer, netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		if p.contain(local) {
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

// contain reports whether an address is that of a trusted proxy.
func (p Proxies) contain(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// Trust reports whether the forwarded headers of a request are trusted. If no proxies are configured, they are.
func (p Proxies) Trust(r *Request) bool {
	if r.ProxyUntrusted {
		return false
	}
	if len(p) == 0 {
		return true
	}
	peer, ok := p.peer(r)
	return ok && p.contain(peer)
}
