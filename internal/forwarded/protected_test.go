package forwarded_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/latchkey-go/latchkey/internal/forwarded"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// TestProtected: only a trusted proxy asks, about exactly one protected origin.
func TestProtected(t *testing.T) {
	t.Parallel()
	wiki := weburl.Origin{Scheme: "https", Host: "wiki.example.com"}
	proxies := forwarded.Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	one := func(text string) []string { return []string{text} }
	for name, row := range map[string]struct {
		peer        string
		proto, host []string
		want        bool
	}{
		"a site":             {"10.0.0.1:1", one("https"), one("wiki.example.com"), true},
		"a WebSocket":        {"10.0.0.1:1", one("wss"), one("WIKI.example.com:443"), true},
		"another port":       {"10.0.0.1:1", one("https"), one("wiki.example.com:8443"), false},
		"another scheme":     {"10.0.0.1:1", one("http"), one("wiki.example.com"), false},
		"another peer":       {"192.0.2.1:1", one("https"), one("wiki.example.com"), false},
		"two hosts":          {"10.0.0.1:1", one("https"), []string{"wiki.example.com", "evil.test"}, false},
		"a list of hosts":    {"10.0.0.1:1", one("https"), one("wiki.example.com, evil.test"), false},
		"two schemes":        {"10.0.0.1:1", []string{"https", "https"}, one("wiki.example.com"), false},
		"a list of schemes":  {"10.0.0.1:1", one("https, http"), one("wiki.example.com"), false},
		"no host":            {"10.0.0.1:1", one("https"), nil, false},
		"an unlisted origin": {"10.0.0.1:1", one("https"), one("evil.test"), false},
	} {
		r := &forwarded.Request{
			Scheme: "https", RemoteAddr: row.peer,
			Header: http.Header{"X-Forwarded-Proto": row.proto, "X-Forwarded-Host": row.host},
		}
		got, err := proxies.Protected(r, []weburl.Origin{wiki})
		if (err == nil) != row.want || row.want && got != wiki.String() {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestParseProtected checks that browsers send the session cookie to a protected origin.
func TestParseProtected(t *testing.T) {
	t.Parallel()
	own := weburl.Origin{Scheme: "https", Host: "auth.example.com"}
	for _, row := range []struct {
		origin, domain string
		own            weburl.Origin
		want           bool
	}{
		{"https://wiki.example.com", "example.com", own, true}, {"https://example.com", ".Example.com", own, true},
		{"https://wiki.example.com:8443", "example.com", own, true}, {"https://wikiexample.com", "example.com", own, false},
		{"https://wiki.example.com", "", own, false}, {"https://auth.example.com:8443", "", own, true},
		{"http://wiki.example.com", "example.com", own, false}, {"http://wiki.example.com", "", weburl.Origin{}, true},
		{"https://wiki.example.com/a", "example.com", own, false}, {"wiki", "", weburl.Origin{}, false},
	} {
		got, err := forwarded.ParseProtected(row.origin, row.own, row.domain)
		if (err == nil) != row.want || row.want && got.String() != row.origin {
			t.Errorf("%+v: %v, %v", row, got, err)
		}
	}
}
