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

func TestSendsCookie(t *testing.T) {
	t.Parallel()
	own := weburl.Origin{Scheme: "https", Host: "auth.example.com"}
	for _, row := range []struct {
		host, domain string
		want         bool
	}{
		{"wiki.example.com", "example.com", true}, {"example.com", ".Example.com", true},
		{"wiki.example.com:8443", "example.com", true}, {"wikiexample.com", "example.com", false},
		{"wiki.example.com", "", false}, {"auth.example.com:8443", "", true},
	} {
		if got := forwarded.SendsCookie(weburl.Origin{Scheme: "https", Host: row.host}, own, row.domain); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
}
