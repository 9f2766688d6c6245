package core

import (
	"net/netip"
	"slices"
	"strings"
)

// peer is whom a limit counts: the peer of the connection or, where that is a trusted proxy, the last address of X-Forwarded-For that
// is none of theirs, as everything before it is made up by whoever likes to. Who has an IPv6 address has at least 2^64 of them, so
// these are counted by network. The zero Prefix: nobody knows, as on a Unix socket. visitor tells whether it is the visitor's own,
// as [LimitParams].PeerIsVisitor says.
func (x *exchange) peer() (network netip.Prefix, visitor bool) {
	at, ok := parsePeer(x.r.RemoteAddr)
	if !ok {
		return netip.Prefix{}, false
	}
	if len(x.proxies) > 0 && !x.r.ProxyUntrusted && x.trustsProxy(at) {
		entries := strings.Split(strings.Join(x.r.Header["X-Forwarded-For"], ","), ",")
		for _, entry := range slices.Backward(entries) {
			addr, ok := parsePeer(strings.TrimSpace(entry))
			if !ok {
				break
			}
			if !x.trustsProxy(addr) {
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
	if len(x.proxies) > 0 {
		return network, !x.trustsProxy(at)
	}
	return network, public(at) && !x.forwarded()
}

// carrierNAT is the shared address space of RFC 6598, where load balancers live too.
var carrierNAT = netip.MustParsePrefix("100.64.0.0/10")

// public tells whether an address is one of the internet: a peer of any other kind is probably a proxy on this site.
func public(at netip.Addr) bool {
	return at.IsGlobalUnicast() && !at.IsPrivate() && !carrierNAT.Contains(at)
}

// forwarded tells whether a proxy has left its mark on the request.
func (x *exchange) forwarded() bool {
	for _, name := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "X-Forwarded-Host", "X-Forwarded-Proto", "Via", "Cf-Connecting-Ip", "True-Client-Ip"} {
		if len(x.r.Header[name]) > 0 {
			return true
		}
	}
	return false
}

// parsePeer reads an address, with a port or without, in its one normal form.
func parsePeer(text string) (netip.Addr, bool) {
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap().WithZone(""), err == nil
}

// trustsProxy tells whether an address is that of a trusted proxy.
func (a *Auth) trustsProxy(addr netip.Addr) bool {
	return slices.ContainsFunc(a.proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}
