package core_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestLoopbackWithoutAnOrigin: where no origin is configured, the developer's own machine is answered and nobody else.
func TestLoopbackWithoutAnOrigin(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, origin string
		header       map[string]string
		answered     bool
	}{
		{"localhost", "http://localhost", nil, true},
		{"with a port", "http://localhost:3000", nil, true},
		{"over TLS", "https://localhost:8443", nil, true},
		{"a name below localhost", "http://shop.localhost:3000", nil, true},
		{"127.0.0.1", "http://127.0.0.1:3000", nil, true},
		{"another of the block", "http://127.8.9.1", nil, true},
		{"IPv6", "http://[::1]:3000", nil, true},
		{"capitals", "http://LOCALHOST:3000", nil, true},

		{"a name", "http://app.test", nil, false},
		{"localhost as a label", "http://localhost.evil.example", nil, false},
		{"the end of a name", "http://evillocalhost", nil, false},
		{"a private address", "http://192.168.1.7:3000", nil, false},
		{"all addresses", "http://0.0.0.0:3000", nil, false},
		{"loopback in disguise", "http://2130706433", nil, false},
		{"mapped into IPv6", "http://[::ffff:127.0.0.1]", nil, false},
		{"user before the host", "http://localhost@evil.example", nil, false},
		{"no host", "http://", nil, false},

		{"a proxy that names the host", "http://localhost:3000", map[string]string{"X-Forwarded-Host": "app.test"}, false},
		{"a proxy that names localhost", "http://localhost:3000", map[string]string{"X-Forwarded-Host": "localhost"}, false},
		{"a proxy that names the scheme", "http://localhost:3000", map[string]string{"X-Forwarded-Proto": "https"}, false},
		{"a proxy that names the visitor", "http://localhost:3000", map[string]string{"X-Forwarded-For": "192.0.2.1"}, false},
		{"Forwarded", "http://localhost:3000", map[string]string{"Forwarded": "host=app.test"}, false},
		{"nginx", "http://localhost:3000", map[string]string{"X-Real-IP": "192.0.2.1"}, false},
		{"Via", "http://localhost:3000", map[string]string{"Via": "1.1 proxy"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{TrustHost: core.Off, Providers: []core.Provider{passwords()}})
			b := visit(t, a)
			b.origin, b.peer = row.origin, "127.0.0.1:40000"
			for name, value := range row.header {
				b.header.Set(name, value)
			}
			r := b.get("/auth/providers")
			if !row.answered {
				if r.Status != http.StatusInternalServerError || !errors.Is(r.Err, core.UntrustedHost) || len(r.Cookies) > 0 {
					t.Errorf("answered %d, %v: %s", r.Status, r.Err, r.Body)
				}
				if !strings.Contains(a.log.String(), "AUTH_URL") || !strings.Contains(a.log.String(), "level=ERROR") {
					t.Errorf("the log says\n%s", a.log)
				}
				return
			}
			if r := b.get("http://evil.example/auth/providers"); r.Status == http.StatusOK {
				t.Errorf("a target that names another host is answered: %s", r.Body)
			}
			if want := strings.ToLower(row.origin) + "/auth/callback/credentials"; r.Status != http.StatusOK || !strings.Contains(string(r.Body), want) {
				t.Errorf("answered %d: %s, want %s in it", r.Status, r.Body, want)
			}
			signIn := b.get("/auth/csrf")
			if secure := strings.HasPrefix(row.origin, "https"); signIn.Cookies[0].Secure != secure {
				t.Errorf("cookie %s", signIn.Cookies[0])
			}
		})
	}
}

// TestNoOriginIsToldAtOnce: one warning when the Auth is made says what will not be answered; requests add none.
func TestNoOriginIsToldAtOnce(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{TrustHost: core.Off, Providers: []core.Provider{passwords()}})
	if log := a.log.String(); strings.Count(log, "code=no-origin") != 1 || !strings.Contains(log, "level=WARN") || !strings.Contains(log, "AUTH_URL") {
		t.Errorf("New says\n%s", log)
	}
	b := visit(t, a)
	b.origin, b.peer = "http://localhost:3000", "127.0.0.1:40000"
	a.log.Reset()
	for range 3 {
		b.get("/auth/session")
	}
	if a.log.Len() > 0 {
		t.Errorf("requests say\n%s", a.log)
	}
	for name, config := range map[string]core.Config{"pinned": {URL: "https://app.test"}, "listed": {TrustedHosts: []string{"app.test"}}, "open": {TrustHost: core.On}} {
		config.Providers = []core.Provider{passwords()}
		if a := newApp(t, config); a.log.Len() > 0 {
			t.Errorf("%s: New says %s", name, a.log)
		}
	}
}

// TestVisitedElsewhere: one line for each Auth tells that visitors ask for another origin than the configured one.
func TestVisitedElsewhere(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, url, origin string
		header            map[string]string
		visited           string
	}{
		{"the configured one", "https://app.test", "https://app.test", nil, ""},
		{"other spelling", "https://app.test", "https://APP.test:443", nil, ""},
		{"behind a proxy that says so", "https://app.test", "http://app:3000", map[string]string{"X-Forwarded-Host": "app.test", "X-Forwarded-Proto": "https"}, ""},
		{"no host", "https://app.test", "https://a b", nil, ""},

		{"two names of one machine", "http://127.0.0.1:3000", "http://localhost:3000", nil, "http://localhost:3000"},
		{"plain server", "https://app.test", "http://app.test", nil, "http://app.test"},
		{"behind TLS", "http://app.test", "http://app.test", map[string]string{"X-Forwarded-Proto": "https"}, "https://app.test"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{URL: row.url, Providers: []core.Provider{passwords()}})
			b := visit(t, a)
			b.origin = row.origin
			for name, value := range row.header {
				b.header.Set(name, value)
			}
			for range 3 {
				b.get("/auth/session")
				_, _ = core.Begin(t.Context(), a, b.request("GET", "/", "", "")).Session()
			}
			b.origin = "https://a-third.example" // a stranger adds nothing
			if row.visited != "" {
				b.get("/auth/session")
			}
			log := a.log.String()
			if row.visited == "" {
				if log != "" {
					t.Errorf("the log says\n%s", log)
				}
				return
			}
			if strings.Count(log, "code=visited-elsewhere") != 1 || strings.Count(log, "\n") != 1 || !strings.Contains(log, "visited="+row.visited+" ") || !strings.Contains(log, "configured="+row.url+" ") {
				t.Errorf("the log says\n%s", log)
			}
		})
	}
}

func BenchmarkSessionCheck(b *testing.B) {
	auth, err := core.New(core.Config{
		URL: "https://app.test", Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	request := &core.Request{Method: "GET", Target: "/account", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{}}
	cookies, err := auth.NewSession(b.Context(), request, &core.User{ID: "1", Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Cookie", cookies[0].Name+"="+cookies[0].Value)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if s, err := core.Begin(ctx, auth, request).Session(); s == nil || err != nil {
			b.Fatal(s, err)
		}
	}
}

// TestLoopbackNamesFromFarAway: no origin is configured, and somebody on the internet says that they ask for localhost.
func TestLoopbackNamesFromFarAway(t *testing.T) {
	t.Parallel()
	for peer, answered := range map[string]bool{
		"127.0.0.1:40000": true, "[::1]:40000": true, "172.17.0.1:40000": true, "": true, "@": true, // this machine, a container's host, a Unix socket
		"203.0.113.9:40000": false, "[2001:db8::1]:40000": false,
	} {
		b := visit(t, newApp(t, core.Config{TrustHost: core.Off, Providers: []core.Provider{passwords()}}))
		b.origin, b.peer = "http://localhost:3000", peer
		if r := b.get("/auth/csrf"); (r.Status == http.StatusOK) != answered {
			t.Errorf("from %q: answered %d", peer, r.Status)
		}
	}
}
