package core

import (
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
	sites := map[string]*site{
		"pinned": {origins: weburl.Options{Pinned: pinned, TrustHost: true}, proxies: proxies},
		"listed": {origins: weburl.Options{TrustedHosts: listed, TrustHost: true}, proxies: proxies},
		"open":   {origins: weburl.Options{TrustHost: true}, proxies: proxies},
		"closed": {},
	}
	f.Fuzz(func(t *testing.T, host, forwardedHost, proto, forwardedFor, target string) {
		headers := http.Header{
			"X-Forwarded-Host": {forwardedHost}, "X-Forwarded-Proto": {proto}, "X-Forwarded-For": {forwardedFor},
		}
		for name, s := range sites {
			for _, peer := range []string{"10.0.0.1:80", "192.0.2.1:80"} {
				r := &Request{
					Method: "GET", Target: target, Hosts: []string{host}, Scheme: "https", Header: headers, RemoteAddr: peer,
				}
				at, err := s.resolveOrigin(r)
				if err == nil {
					checkOrigin(t, name, at, pinned)
				}
				if peer == "192.0.2.1:80" && len(s.proxies) > 0 {
					r.Header = http.Header{}
					if plain, err2 := s.resolveOrigin(r); plain != at || (err == nil) != (err2 == nil) {
						t.Fatalf("%s: headers of an untrusted peer give %v instead of %v", name, at, plain)
					}
					r.Header = headers
					if network, _ := s.peer(r); network.String() != "192.0.2.1/32" {
						t.Fatalf("%s: an untrusted peer is %v", name, network)
					}
				}
				network, _ := s.peer(r)
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

// FuzzOrigin checks that only exactly the listed origins may read responses and get preflights.
func FuzzOrigin(f *testing.F) {
	trusted := []string{"https://spa.example", "http://localhost:3000"}
	for _, value := range append([]string{
		"null", "*", "https://spa.example/", "https://SPA.example", "https://spa.example:443", "https://spa.example.evil",
		"https://spa.example, https://evil.example", " https://spa.example", "https://spa.example\x00", "",
	}, trusted...) {
		f.Add(value, "")
		f.Add(value, trusted[0])
	}
	s := &site{trusted: trusted, cookieSets: [2]*cookieSet{{}, {}}, unknownPlace: &place{}}
	f.Fuzz(func(t *testing.T, value, second string) {
		r := &Request{Method: http.MethodOptions, Target: "/auth/session", Header: http.Header{
			"Origin": {value}, "Access-Control-Request-Method": {"POST"},
		}}
		if second != "" {
			r.Header["Origin"] = append(r.Header["Origin"], second)
		}
		want := second == "" && (value == trusted[0] || value == trusted[1])
		granted := s.preflight(r)
		if (granted != nil) != want {
			t.Fatalf("a preflight from %q %q: %v", value, second, granted)
		}
		if want && granted.Header.Get("Access-Control-Allow-Origin") != value {
			t.Fatalf("%q may read as %v", value, granted.Header)
		}
		v, response := s.unsettled(r), &Response{}
		v.share(response)
		if shared := response.Header.Get("Access-Control-Allow-Origin"); (shared != "") != want {
			t.Fatalf("%q %q may read a response: %v", value, second, shared)
		}
	})
}
