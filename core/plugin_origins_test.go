package core_test

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// protector is a plugin that protects origins.
func protector(of *func(*core.Request) (string, error), origins ...string) core.Plugin {
	return partFunc(func(h *core.PluginHost) error { *of = h.ProtectOrigins(origins...); return nil })
}

// protecting is a configuration for origins below example.com.
func protecting() core.Config {
	return core.Config{
		URL: "https://auth.example.com", Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" },
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Cookies:        core.CookiesConfig{SessionToken: core.CookieOptions{Domain: "Example.com"}},
	}
}

// TestProtectedOrigins: only a trusted proxy asks, about exactly one protected origin.
func TestProtectedOrigins(t *testing.T) {
	t.Parallel()
	var of func(*core.Request) (string, error)
	c := protecting()
	c.Plugins = []core.Plugin{protector(&of, "https://Wiki.example.com:443", "https://admin.example.com:8443")}
	if _, err := core.New(c); err != nil {
		t.Fatal(err)
	}
	const wiki = "https://wiki.example.com"
	for name, row := range map[string]struct {
		peer        string
		proto, host []string
		untrusted   bool
		want        string
	}{
		"a site":              {"10.0.0.1:1", []string{"https"}, []string{"wiki.example.com"}, false, wiki},
		"in another spelling": {"10.0.0.1:1", []string{"HTTPS"}, []string{"WIKI.example.com:443"}, false, wiki},
		"a WebSocket":         {"10.0.0.1:1", []string{"wss"}, []string{"wiki.example.com"}, false, wiki},
		"a port": {
			"10.0.0.1:1", []string{"https"}, []string{"admin.example.com:8443"}, false, "https://admin.example.com:8443",
		},
		"another port":          {"10.0.0.1:1", []string{"https"}, []string{"wiki.example.com:8443"}, false, ""},
		"another scheme":        {"10.0.0.1:1", []string{"http"}, []string{"wiki.example.com"}, false, ""},
		"another host":          {"10.0.0.1:1", []string{"https"}, []string{"evil.example.com"}, false, ""},
		"another peer":          {"192.0.2.1:1", []string{"https"}, []string{"wiki.example.com"}, false, ""},
		"not for the router":    {"10.0.0.1:1", []string{"https"}, []string{"wiki.example.com"}, true, ""},
		"two hosts":             {"10.0.0.1:1", []string{"https"}, []string{"wiki.example.com", "evil.test"}, false, ""},
		"a list of hosts":       {"10.0.0.1:1", []string{"https"}, []string{"wiki.example.com, evil.test"}, false, ""},
		"two schemes":           {"10.0.0.1:1", []string{"https", "https"}, []string{"wiki.example.com"}, false, ""},
		"a list of schemes":     {"10.0.0.1:1", []string{"https, http"}, []string{"wiki.example.com"}, false, ""},
		"no host":               {"10.0.0.1:1", []string{"https"}, nil, false, ""},
		"no scheme":             {"10.0.0.1:1", nil, []string{"wiki.example.com"}, false, ""},
		"an invalid host":       {"10.0.0.1:1", []string{"https"}, []string{"wiki.example.com@evil.test"}, false, ""},
		"the site of the pages": {"10.0.0.1:1", []string{"https"}, []string{"auth.example.com"}, false, ""},
	} {
		r := &core.Request{
			Scheme: "https", Target: "/", Hosts: []string{"wiki.example.com"}, RemoteAddr: row.peer,
			ProxyUntrusted: row.untrusted,
			Header:         http.Header{"X-Forwarded-Proto": row.proto, "X-Forwarded-Host": row.host},
		}
		if got, err := of(r); got != row.want || (err != nil) != (row.want == "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestProtectedOriginsNeed checks the configuration errors of PluginHost.ProtectOrigins.
func TestProtectedOriginsNeed(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		origin string
		change func(*core.Config)
		want   string
	}{
		"valid":            {"https://wiki.example.com", func(*core.Config) {}, ""},
		"the domain":       {"https://example.com", func(*core.Config) {}, ""},
		"a similar domain": {"https://wikiexample.com", func(*core.Config) {}, "SessionToken.Domain"},
		"a path":           {"https://wiki.example.com/a", func(*core.Config) {}, "without a path"},
		"another scheme":   {"http://wiki.example.com", func(*core.Config) {}, "the same scheme"},
		"no URL":           {"https://wiki.example.com", func(c *core.Config) { c.URL = "" }, "set URL"},
		"no proxies": {
			"https://wiki.example.com", func(c *core.Config) { c.TrustedProxies = nil }, "set TrustedProxies",
		},
		"no domain": {"https://wiki.example.com", func(c *core.Config) {
			c.Cookies.SessionToken.Domain = ""
		}, "SessionToken.Domain"},
		"the same host": {"https://auth.example.com:8443", func(c *core.Config) {
			c.Cookies.SessionToken.Domain = ""
		}, ""},
	} {
		var of func(*core.Request) (string, error)
		c := protecting()
		c.Plugins = []core.Plugin{protector(&of, row.origin)}
		row.change(&c)
		_, err := core.New(c)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProtectedOriginsAreExpected: a question about a protected origin logs no warning about Config.URL, and one about
// another origin does.
func TestProtectedOriginsAreExpected(t *testing.T) {
	t.Parallel()
	for host, warned := range map[string]bool{"wiki.example.com": false, "elsewhere.example.com": true} {
		var of func(*core.Request) (string, error)
		var log strings.Builder
		c := protecting()
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.Plugins = []core.Plugin{protector(&of, "https://wiki.example.com")}
		auth, err := core.New(c)
		if err != nil {
			t.Fatal(err)
		}
		auth.Handle(t.Context(), &core.Request{
			Method: "GET", Target: "/auth/session", Scheme: "https", Hosts: []string{host}, Header: http.Header{},
		})
		if strings.Contains(log.String(), "visited-elsewhere") != warned {
			t.Errorf("%s: %s", host, log.String())
		}
	}
}
