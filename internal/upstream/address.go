package upstream

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Loopback reports whether a host name refers to this machine.
func Loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, ok := literal(strings.Trim(host, "[]"))
	return ok && addr.Unmap().IsLoopback()
}

// literal parses a host that is an IP address. It recognizes names by their end, without the cost of a parse error.
func literal(host string) (addr netip.Addr, ok bool) {
	if !strings.Contains(host, ":") && strings.TrimRight(host, "0123456789") == host {
		return addr, false
	}
	addr, err := netip.ParseAddr(host)
	return addr, err == nil
}

// hosts are the names of insecure hosts, which are exempt from the rules about plain http and loopback addresses.
type hosts []string

// contain reports whether host is an insecure host.
func (h hosts) contain(host string) bool {
	return slices.ContainsFunc(h, func(known string) bool { return strings.EqualFold(known, host) })
}

// secure rejects plain http except to this machine and insecure hosts, URLs with user information, and IP addresses
// that no provider has. The last check also applies if a proxy or the operator's transport makes the connection.
func (h hosts) secure(u *url.URL) error {
	host := u.Hostname()
	local, insecure := Loopback(host), h.contain(host)
	switch {
	case u.User != nil:
		return errors.New("the URL has a user")
	case host == "":
		return errors.New("the URL has no host")
	case u.Scheme != "https" && (u.Scheme != "http" || !local && !insecure):
		return ErrInsecure
	}
	addr, ok := literal(host)
	if !ok || insecure && addr.Unmap().IsLoopback() {
		return nil
	}
	return checkAddress(addr, local)
}

// guardedTransport returns a transport that connects only to addresses that a provider can have. It checks the address
// at the time of the connection, so that a DNS name that changes between two lookups cannot bypass the check (DNS
// rebinding). With a proxy, it checks only the proxy's address.
func guardedTransport(insecure hosts) http.RoundTripper {
	return &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			if r.URL.Scheme == "http" || Loopback(r.URL.Hostname()) {
				return nil, nil // plain http is only used without a proxy: for this machine and insecure hosts
			}
			return http.ProxyFromEnvironment(r)
		},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			dialer := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, resolved string, _ syscall.RawConn) error {
				at, err := netip.ParseAddrPort(resolved)
				if err != nil {
					return err
				}
				return insecure.checkResolved(host, at.Addr())
			}}
			return dialer.DialContext(ctx, network, address)
		},
		// Each sign-in sends two requests to a provider. Over HTTP/1.1, keep as many connections as concurrent sign-ins need,
		// because a new connection costs several times as much as a request.
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 64, MaxIdleConns: 256, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 5 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// checkResolved checks the address that a host name resolved to. For insecure hosts, the name may resolve to this
// machine, and localhost to another machine.
func (h hosts) checkResolved(host string, addr netip.Addr) error {
	if h.contain(host) {
		return checkAddress(addr, addr.Unmap().IsLoopback())
	}
	return checkAddress(addr, Loopback(host))
}

// nowhere are networks that contain no provider: "this network" with the unspecified address, the reserved network with
// the broadcast address, and cloud metadata services outside the link-local networks (Alibaba, Oracle, Azure, Amazon,
// Google).
var nowhere = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("::/128"),
	netip.MustParsePrefix("100.100.100.200/32"), netip.MustParsePrefix("192.0.0.192/32"),
	netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("fd00:ec2::/32"), netip.MustParsePrefix("fd20:ce::254/128"),
}

// checkAddress rejects the networks in nowhere, link-local addresses (which include metadata services) and multicast
// addresses, also if an IPv6 address embeds them. loopbackNamed reports whether the name is that of this machine: it
// must resolve to this machine, because plain http is allowed for it, and no other name may. Private networks are
// allowed, because the providers of many companies are there.
func checkAddress(addr netip.Addr, loopbackNamed bool) error {
	addr = addr.Unmap().WithZone("")
	if addr.IsLoopback() != loopbackNamed || addr.IsLinkLocalUnicast() || addr.IsMulticast() {
		return ErrAddress
	}
	for _, network := range nowhere {
		if network.Contains(addr) {
			return ErrAddress
		}
	}
	if inner, ok := wrapped(addr); ok && !loopbackNamed {
		return checkAddress(inner, false)
	}
	return nil
}

// notPublic are networks that are not reachable from the internet, in addition to those of [netip.Addr.IsPrivate]:
// carrier NAT (RFC 6598), protocol assignments, the three documentation networks, benchmarks, the local-use prefix of
// NAT64 (RFC 8215) with an unknown translation, discard, documentation, Teredo, ORCHID and site-local addresses.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("3fff::/20"),
	netip.MustParsePrefix("fec0::/10"),
}

// CheckPublic returns ErrAddress unless addr can be a server on the internet. It rejects loopback, private, link-local
// and multicast addresses, metadata services and reserved networks, also if an IPv6 address embeds them.
func CheckPublic(addr netip.Addr) error {
	at := addr.Unmap().WithZone("")
	if checkAddress(at, false) != nil || at.IsPrivate() ||
		slices.ContainsFunc(notPublic, func(n netip.Prefix) bool { return n.Contains(at) }) {
		return ErrAddress
	}
	if inner, ok := wrapped(at); ok {
		return CheckPublic(inner)
	}
	return nil
}

// CheckInternal returns ErrAddress for addresses that no server of the operator's own network has: link-local ones,
// metadata services, multicast and reserved networks. It allows loopback and private addresses.
func CheckInternal(addr netip.Addr) error { return checkAddress(addr, addr.Unmap().IsLoopback()) }

// wrapped returns the IPv4 address embedded in an IPv6 address: NAT64 (RFC 6052), 6to4 (RFC 3056) or the
// IPv4-compatible form (RFC 4291 section 2.5.5.1). The IPv4-mapped form was unmapped earlier.
func wrapped(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(addr), netip.MustParsePrefix("::/96").Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case netip.MustParsePrefix("2002::/16").Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}
