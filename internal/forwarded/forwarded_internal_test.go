package forwarded

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

// FuzzForwarded: whatever a client sends in forwarded headers, the origin is the pinned one, one of the list, or a
// valid http or https origin. Forwarded headers of untrusted peers have no effect.
func FuzzForwarded(f *testing.F) {
	for _, row := range [][5]string{
		{"app.example", "", "", "", "/auth/session"},
		{"app.example", "evil.example", "https", "192.0.2.1", "/"},
		{"evil.example", "app.example, evil.example", "javascript", "10.0.0.1, 192.0.2.1", "/"},
		{"app.example", "app.example:443", "https,http", "[2001:db8::1]:443", "https://evil.example/auth/session"},
		{"a@b", "xn--bcher-kva.example", "HTTP", "::ffff:10.0.0.1", "//evil.example/"},
		{"[::1]:80", "x.preview.example", "https", "unknown", "*"},
	} {
		f.Add(row[0], row[1], row[2], row[3], row[4])
	}
	pinned, _, err := weburl.ParseOrigin("https://app.example")
	if err != nil {
		f.Fatal(err)
	}
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	listed := []string{"app.example", "*.preview.example"}
	sites := map[string]*Places[weburl.Origin]{
		"pinned": {Origins: Origins{weburl.Options{Pinned: pinned, TrustHost: true}, proxies}},
		"listed": {Origins: Origins{weburl.Options{TrustedHosts: listed, TrustHost: true}, proxies}},
		"open":   {Origins: Origins{weburl.Options{TrustHost: true}, proxies}},
		"closed": {},
	}
	for _, s := range sites {
		s.Derive = func(at weburl.Origin) weburl.Origin { return at }
	}
	f.Fuzz(func(t *testing.T, host, forwardedHost, proto, forwardedFor, target string) {
		headers := http.Header{
			"X-Forwarded-Host": {forwardedHost}, "X-Forwarded-Proto": {proto}, "X-Forwarded-For": {forwardedFor},
		}
		for name, s := range sites {
			for _, peer := range []string{"10.0.0.1:80", "192.0.2.1:80"} {
				r := &Request{Target: target, Hosts: []string{host}, Scheme: "https", Header: headers, RemoteAddr: peer}
				at, err := s.Of(r)
				if err == nil {
					checkOrigin(t, name, at, pinned)
				}
				if peer == "192.0.2.1:80" && len(s.Proxies) > 0 {
					r.Header = http.Header{}
					if plain, err2 := s.Of(r); plain != at || (err == nil) != (err2 == nil) {
						t.Fatalf("%s: headers of an untrusted peer give %v instead of %v", name, at, plain)
					}
					r.Header = headers
					if network, _ := s.Proxies.Client(r); network.String() != "192.0.2.1/32" {
						t.Fatalf("%s: an untrusted peer is %v", name, network)
					}
				}
				network, _ := s.Proxies.Client(r)
				if !network.IsValid() || network.Addr().Is4In6() || network.Addr().Zone() != "" {
					t.Fatalf("%s: the peer is %v", name, network)
				}
			}
		}
	})
}

func checkOrigin(t *testing.T, name string, at, pinned weburl.Origin) {
	t.Helper()
	spelt, err := url.Parse(at.String())
	switch {
	case err != nil || spelt.Host != at.Host || spelt.User != nil || spelt.Path != "":
		t.Fatalf("%s: net/url reads %q as %v: %v", name, at, spelt, err)
	case at.Scheme != "http" && at.Scheme != "https":
		t.Fatalf("%s: the scheme is %q", name, at.Scheme)
	case name == "pinned" && at != pinned:
		t.Fatalf("the origin is %v", at)
	case name == "closed" && !at.Loopback():
		t.Fatalf("%v is accepted though no host is trusted", at)
	case name == "listed":
		host, _, _ := strings.Cut(at.Host, ":")
		label, preview := strings.CutSuffix(host, ".preview.example")
		if host != "app.example" && (!preview || label == "" || strings.Contains(label, ".")) {
			t.Fatalf("%v is not listed", at)
		}
	}
}

// TestSpellingsOfPeers checks that different spellings of one peer are equal.
func TestSpellingsOfPeers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "192.0.2.1:80": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1",
		"[::ffff:192.0.2.1]:80": "192.0.2.1", "fe80::1%eth0": "fe80::1", "[fe80::1%eth0]:80": "fe80::1",
	} {
		if got, ok := parsePeer(text); !ok || got.String() != want {
			t.Errorf("%s is %v, want %s", text, got, want)
		}
	}
}

// TestClient checks whose address counts for limits.
func TestClient(t *testing.T) {
	t.Parallel()
	loopback, private := netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")
	for name, row := range map[string]struct {
		peer      string
		trusted   Proxies
		forwarded string // X-Forwarded-For
		untrusted bool   // by the router
		network   string
		own       bool
	}{
		"direct":           {peer: "198.51.100.7:1", network: "198.51.100.7/32", own: true},
		"direct, IPv6":     {peer: "[2001:db8:1:2:3::4]:1", network: "2001:db8:1:2::/64", own: true},
		"an unknown proxy": {peer: "198.51.100.7:1", forwarded: "192.0.2.1", network: "198.51.100.7/32"},
		"a private peer":   {peer: "10.0.0.1:1", network: "10.0.0.1/32"},
		"a load balancer":  {peer: "100.64.0.1:1", network: "100.64.0.1/32"},
		"a trusted proxy": {
			"10.0.0.1:1", Proxies{private}, "192.0.2.1, 198.51.100.7", false, "198.51.100.7/32", true,
		},
		"two trusted proxies": {
			"10.0.0.1:1", Proxies{private}, "198.51.100.7,10.0.0.2", false, "198.51.100.7/32", true,
		},
		"a trusted proxy with no entry": {"10.0.0.1:1", Proxies{private}, "unknown", false, "10.0.0.1/32", false},
		"another peer":                  {"192.0.2.9:1", Proxies{private}, "198.51.100.7", false, "192.0.2.9/32", true},
		"not trusted by the router":     {"10.0.0.1:1", Proxies{private}, "198.51.100.7", true, "10.0.0.1/32", false},
		"a Unix socket":                 {"@", Proxies{loopback}, "198.51.100.7", false, "198.51.100.7/32", true},
		"a Unix socket, listed": {
			"/run/a.sock", Proxies{UnixSockets()}, "198.51.100.7", false, "198.51.100.7/32", true,
		},
		"a Unix socket, not trusted": {"@", Proxies{private}, "198.51.100.7", false, "invalid Prefix", false},
	} {
		r := &Request{RemoteAddr: row.peer, ProxyUntrusted: row.untrusted, Header: http.Header{}}
		if row.forwarded != "" {
			r.Header["X-Forwarded-For"] = []string{row.forwarded}
		}
		network, own := row.trusted.Client(r)
		if network.String() != row.network || own != row.own {
			t.Errorf("%s: %v, own %t", name, network, own)
		}
	}
}

// TestLoopback checks which requests are accepted if no origin is configured.
func TestLoopback(t *testing.T) {
	t.Parallel()
	places := Places[string]{Derive: weburl.Origin.String}
	for name, row := range map[string]struct {
		hosts    []string
		peer     string
		header   string
		accepted bool
	}{
		"localhost":                     {[]string{"localhost:3000"}, "127.0.0.1:1", "", true},
		"from a private address":        {[]string{"127.0.0.1"}, "192.168.0.7:1", "", true},
		"from a public address":         {[]string{"localhost"}, "198.51.100.7:1", "", false},
		"a name":                        {[]string{"app.example"}, "127.0.0.1:1", "", false},
		"two hosts":                     {[]string{"localhost", "localhost"}, "127.0.0.1:1", "", false},
		"through a proxy":               {[]string{"localhost"}, "127.0.0.1:1", "X-Forwarded-For", false},
		"through a proxy with Via":      {[]string{"localhost"}, "127.0.0.1:1", "Via", false},
		"through a proxy, any X- field": {[]string{"localhost"}, "127.0.0.1:1", "X-Forwarded-Port", false},
	} {
		r := &Request{Scheme: "http", Target: "/", Hosts: row.hosts, RemoteAddr: row.peer, Header: http.Header{}}
		if row.header != "" {
			r.Header[row.header] = []string{"1"}
		}
		origin, err := places.Of(r)
		if (err == nil) != row.accepted || err != nil && !errors.Is(err, ErrNoOrigin) || err == nil != (origin != "") {
			t.Errorf("%s: %q, %v", name, origin, err)
		}
	}
}

// TestOriginsOfOtherRequests checks that the origin of a request depends on that request only, not on earlier ones.
func TestOriginsOfOtherRequests(t *testing.T) {
	t.Parallel()
	proxies := Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	places := func() *Places[string] {
		return &Places[string]{Origins: Origins{weburl.Options{TrustHost: true}, proxies}, Derive: weburl.Origin.String}
	}
	var requests []*Request
	for _, scheme := range []string{"http", "https"} {
		for _, host := range []string{"a.test", "b.test"} {
			for _, peer := range []string{"10.0.0.1:1", "192.0.2.1:1"} {
				for _, forwarded := range []string{"", "c.test"} {
					r := &Request{
						Scheme:     scheme,
						Target:     "/",
						Hosts:      []string{host},
						RemoteAddr: peer,
						Header:     http.Header{},
					}
					if forwarded != "" {
						r.Header["X-Forwarded-Host"], r.Header["X-Forwarded-Proto"] = []string{
							forwarded,
						}, []string{
							"https",
						}
					}
					requests = append(requests, r)
				}
			}
		}
	}
	cached := places()
	for _, before := range requests {
		for _, r := range requests {
			_, _ = cached.Of(before)
			want, _ := places().Of(r)
			if got, err := cached.Of(r); err != nil || got != want {
				t.Errorf("%s after %s: %q, want %q", fmt.Sprint(*r), fmt.Sprint(*before), got, want)
			}
		}
	}
}

// TestForwardedHost checks whose forwarded headers are read.
func TestForwardedHost(t *testing.T) {
	t.Parallel()
	proxies := Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	for name, row := range map[string]struct {
		peer      string
		trusted   Proxies
		untrusted bool // by the router
		origin    string
	}{
		"a trusted proxy":                    {"10.0.0.1:1", proxies, false, "https://forwarded.example"},
		"a trusted proxy, not by the router": {"10.0.0.1:1", proxies, true, "http://app.example"},
		"another peer":                       {"192.0.2.1:1", proxies, false, "http://app.example"},
		"no list":                            {"192.0.2.1:1", nil, false, "https://forwarded.example"},
		"no list, not by the router":         {"192.0.2.1:1", nil, true, "http://app.example"},
	} {
		places := Places[string]{
			Origins: Origins{weburl.Options{TrustHost: true}, row.trusted},
			Derive:  weburl.Origin.String,
		}
		r := &Request{
			Scheme: "http", Target: "/", Hosts: []string{"app.example"}, RemoteAddr: row.peer, ProxyUntrusted: row.untrusted,
			Header: http.Header{"X-Forwarded-Host": {"forwarded.example"}, "X-Forwarded-Proto": {"https"}},
		}
		if origin, err := places.Of(r); err != nil || origin != row.origin {
			t.Errorf("%s: %q, %v", name, origin, err)
		}
	}
}
