package core_test

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestUnixSockets checks that a peer on a Unix socket is trusted like a process on this machine, so that forwarded
// headers and limits work behind a proxy that uses one.
func TestUnixSockets(t *testing.T) {
	t.Parallel()
	loopback, sockets := netip.MustParsePrefix("127.0.0.0/8"), core.UnixSockets()
	for name, row := range map[string]struct {
		peer    string
		trusted []netip.Prefix
		origin  string
		client  string // of limits; empty: unidentified
	}{
		"Linux":               {"@", []netip.Prefix{loopback}, "https://app.test", "198.51.100.7/32"},
		"no name":             {"", []netip.Prefix{loopback}, "https://app.test", "198.51.100.7/32"},
		"a path":              {"/run/app.sock", []netip.Prefix{loopback}, "https://app.test", "198.51.100.7/32"},
		"an abstract name":    {"@app", []netip.Prefix{loopback}, "https://app.test", "198.51.100.7/32"},
		"IPv6 loopback":       {"@", []netip.Prefix{netip.MustParsePrefix("::1/128")}, "https://app.test", "198.51.100.7/32"},
		"everything":          {"@", []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}, "https://app.test", ""},
		"sockets alone":       {"@", []netip.Prefix{sockets}, "https://app.test", "198.51.100.7/32"},
		"other proxies alone": {"@", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, "http://app.test", ""},
		"sockets, from TCP":   {"127.0.0.1:1", []netip.Prefix{sockets}, "http://app.test", ""},
		"garbage":             {"app.example:80", []netip.Prefix{loopback}, "http://app.test", ""},
	} {
		var got core.LimitParams
		var origin string
		a := newApp(t, core.Config{
			TrustHost: core.True, TrustedProxies: row.trusted, Providers: []core.Provider{passwords()},
			Plugins: []core.Plugin{answers(core.Action{Method: "GET", Name: "toy",
				Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
					origin = c.Origin
					return c.JSON(ctx, 200, nil), nil
				}})},
			Callbacks: core.Callbacks{Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
				got = p
				return time.Second, nil
			}},
		})
		b := visit(t, a)
		b.origin, b.peer = "http://app.test", row.peer
		b.header.Set("X-Forwarded-For", "203.0.113.1, 198.51.100.7")
		b.header.Set("X-Forwarded-Proto", "https")
		b.get("/auth/toy")
		b.submit("/auth/callback/credentials", url.Values{"email": {"ada"}})
		if origin != row.origin {
			t.Errorf("%s: the origin is %q, want %q", name, origin, row.origin)
		}
		if row.client != "" && (got.Peer.String() != row.client || !got.PeerIsVisitor) ||
			row.client == "" && got.PeerIsVisitor && got.Peer.String() == "198.51.100.7/32" && name != "everything" {
			t.Errorf("%s: the client is %v, %v", name, got.Peer, got.PeerIsVisitor)
		}
	}
}

// TestSchemeOfWebSockets checks that ws and wss in X-Forwarded-Proto are read as http and https.
func TestSchemeOfWebSockets(t *testing.T) {
	t.Parallel()
	for proto, want := range map[string]string{
		"wss": "https", "WSS": "https", "ws": "http", "Ws": "http", "wss, http": "https", "ws,https": "http",
		"https": "https", "wsss": "", "ftp": "",
	} {
		var origin string
		a := newApp(
			t,
			core.Config{TrustHost: core.True, Plugins: []core.Plugin{answers(core.Action{Method: "GET", Name: "toy",
				Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
					origin = c.Origin
					return c.JSON(ctx, 200, nil), nil
				}})}},
		)
		b := visit(t, a)
		b.origin = "http://app.test"
		b.header.Set("X-Forwarded-Proto", proto)
		b.get("/auth/toy")
		if scheme, _, _ := strings.Cut(origin, "://"); scheme != want {
			t.Errorf("%q: the origin is %q, want %q", proto, origin, want)
		}
	}
}

// TestLinksNeedAnOrigin checks that an attacker who sends a request cannot choose the host of emailed links.
func TestLinksNeedAnOrigin(t *testing.T) {
	t.Parallel()
	links := partFunc(func(h *core.PluginHost) error { h.EmailsLinks(); return nil })
	silent := partFunc(func(*core.PluginHost) error { return nil })
	for name, row := range map[string]struct {
		config core.Config
		env    map[string]string
		wrong  bool
	}{
		"TrustHost":          {core.Config{TrustHost: core.True}, nil, true},
		"AUTH_TRUST_HOST":    {core.Config{}, map[string]string{"AUTH_TRUST_HOST": "true"}, true},
		"VERCEL":             {core.Config{}, map[string]string{"VERCEL": "1"}, true},
		"CF_PAGES":           {core.Config{}, map[string]string{"CF_PAGES": "1"}, true},
		"and URL":            {core.Config{TrustHost: core.True, URL: "https://app.test"}, nil, false},
		"and AUTH_URL":       {core.Config{TrustHost: core.True}, map[string]string{"AUTH_URL": "https://app.test"}, false},
		"and TrustedHosts":   {core.Config{TrustHost: core.True, TrustedHosts: []string{"app.test"}}, nil, false},
		"development":        {core.Config{}, nil, false},
		"TrustHost, no link": {core.Config{TrustHost: core.True, Plugins: []core.Plugin{silent}}, nil, false},
	} {
		c := row.config
		if c.Plugins == nil {
			c.Plugins = []core.Plugin{links}
		}
		c.Secrets, c.Getenv = []core.Secret{testSecret}, func(name string) string { return row.env[name] }
		_, err := core.New(c)
		if (err != nil) != row.wrong || err != nil && (!errors.Is(err, core.ErrInvalidConfig) ||
			!strings.Contains(err.Error(), "URL") || !strings.Contains(err.Error(), "TrustedHosts")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
