package upstream

import (
	"net/netip"
	"net/url"
	"testing"
)

// TestCheckAddress checks addresses that a host name resolves to, as the dialer does when it connects.
func TestCheckAddress(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, addr string
		loopback   bool // the name is that of this machine
		ok         bool
	}{
		{"public", "93.184.215.14", false, true},
		{"public IPv6", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", false, true},
		{"private: a company's own provider", "10.1.2.3", false, true},
		{"private IPv6", "fd12:3456::1", false, true},
		{"loopback by its name", "127.0.0.1", true, true},
		{"loopback by its name, IPv6", "::1", true, true},
		{"loopback by its name, mapped", "::ffff:127.0.0.1", true, true},
		{"public behind NAT64", "64:ff9b::5db8:d70e", false, true},

		{"loopback by a public name", "127.0.0.1", false, false},
		{"loopback by a public name, IPv6", "::1", false, false},
		{"loopback by a public name, mapped", "::ffff:127.0.0.1", false, false},
		{"public address by the name of this machine", "93.184.215.14", true, false},
		{"private address by the name of this machine", "172.18.0.2", true, false},
		{"metadata service by the name of this machine", "169.254.169.254", true, false},

		{"metadata service", "169.254.169.254", false, false},
		{"metadata service, mapped", "::ffff:169.254.169.254", false, false},
		{"metadata service behind NAT64", "64:ff9b::a9fe:a9fe", false, false},
		{"metadata service in 6to4", "2002:a9fe:a9fe::1", false, false},
		{"metadata service, IPv4-compatible", "::a9fe:a9fe", false, false},
		{"loopback behind NAT64", "64:ff9b::7f00:1", false, false},
		{"metadata service of Alibaba", "100.100.100.200", false, false},
		{"metadata service of Alibaba, mapped", "::ffff:100.100.100.200", false, false},
		{"metadata service of Oracle", "192.0.0.192", false, false},
		{"wire server of Azure", "168.63.129.16", false, false},
		{"metadata service of Amazon", "fd00:ec2::254", false, false},
		{"metadata service of Amazon with a zone", "fd00:ec2::254%eth0", false, false},
		{"metadata service of Google", "fd20:ce::254", false, false},
		{"link-local with a zone", "fe80::1%eth0", false, false},
		{"unspecified", "0.0.0.0", false, false},
		{"this network", "0.1.2.3", false, false},
		{"unspecified IPv6", "::", false, false},
		{"multicast", "224.0.0.1", false, false},
		{"multicast IPv6", "ff02::1", false, false},
		{"broadcast", "255.255.255.255", false, false},
		{"reserved", "240.0.0.1", false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := checkAddress(netip.MustParseAddr(row.addr), row.loopback); (err == nil) != row.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCheckPublic checks addresses of servers that a user of the site has chosen.
func TestCheckPublic(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, addr       string
		public, internal bool
	}{
		{"public", "93.184.215.14", true, true},
		{"public, mapped", "::ffff:93.184.215.14", true, true},
		{"public IPv6", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", true, true},
		{"public behind NAT64", "64:ff9b::5db8:d70e", true, true},
		{"public in 6to4", "2002:5db8:d70e::1", true, true},

		{"loopback", "127.0.0.1", false, true},
		{"loopback, mapped", "::ffff:127.0.0.1", false, true},
		{"loopback IPv6", "::1", false, true},
		{"private 10", "10.1.2.3", false, true},
		{"private 172", "172.31.0.1", false, true},
		{"private 192", "192.168.1.1", false, true},
		{"private, mapped", "::ffff:10.1.2.3", false, true},
		{"private behind NAT64", "64:ff9b::0a01:0203", false, true},
		{"private in 6to4", "2002:0a01:0203::1", false, true},
		{"private IPv6", "fd12:3456::1", false, true},
		{"carrier NAT", "100.64.0.1", false, true},
		{"local-use NAT64", "64:ff9b:1::0a01:0203", false, true},
		{"benchmarks", "198.18.0.1", false, true},
		{"documentation", "192.0.2.1", false, true},
		{"documentation IPv6", "2001:db8::1", false, true},
		{"Teredo", "2001::1", false, true},
		{"site-local", "fec0::1", false, true},

		{"loopback behind NAT64", "64:ff9b::7f00:1", false, false},
		{"loopback in 6to4", "2002:7f00:1::1", false, false},
		{"loopback, IPv4-compatible", "::7f00:1", false, false},
		{"metadata service", "169.254.169.254", false, false},
		{"metadata service, mapped", "::ffff:169.254.169.254", false, false},
		{"metadata service behind NAT64", "64:ff9b::a9fe:a9fe", false, false},
		{"metadata service of Amazon with a zone", "fd00:ec2::254%eth0", false, false},
		{"link-local with a zone", "fe80::1%eth0", false, false},
		{"unspecified", "0.0.0.0", false, false},
		{"unspecified IPv6", "::", false, false},
		{"multicast", "224.0.0.1", false, false},
		{"broadcast", "255.255.255.255", false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			addr := netip.MustParseAddr(row.addr)
			if err := CheckPublic(addr); (err == nil) != row.public {
				t.Errorf("public: %v", err)
			}
			if err := CheckInternal(addr); (err == nil) != row.internal {
				t.Errorf("internal: %v", err)
			}
		})
	}
}

// TestLiteral: a host is an address if the standard library parses it, and names are recognized without allocations.
func TestLiteral(t *testing.T) {
	for _, host := range []string{
		"127.0.0.1", "::1", "fe80::1%eth0", "::ffff:1.2.3.4", "1.2.3.4.5", "1.2.3", "0x7f.0.0.1", "127.0.0.1.", "1", "",
		"op.example", "op7.example", "op.example7", "localhost", "::", "a:b", "1.2.3.4%eth0",
	} {
		want, err := netip.ParseAddr(host)
		if got, ok := literal(host); ok != (err == nil) || got != want {
			t.Errorf("%q is %v, %v, and the standard library says %v", host, got, ok, err)
		}
	}
	named := &url.URL{Scheme: "https", Host: "login.op.example:8443"}
	if n := testing.AllocsPerRun(100, func() { _ = hosts{"op.example"}.secure(named) }); n != 0 {
		t.Errorf("a name costs %v allocations", n)
	}
}
