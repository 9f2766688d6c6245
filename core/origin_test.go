package core_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestLoopbackWithoutAnOrigin checks that only requests to loopback hosts are accepted if no origin is configured.
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
			a := newApp(t, core.Config{TrustHost: core.False, Providers: []core.Provider{passwords()}})
			b := visit(t, a)
			b.origin, b.peer = row.origin, "127.0.0.1:40000"
			for name, value := range row.header {
				b.header.Set(name, value)
			}
			r := b.get("/auth/providers")
			if !row.answered {
				if r.Status != http.StatusInternalServerError || !errors.Is(r.Err, core.ErrUntrustedHost) || len(r.Cookies) > 0 {
					t.Errorf("status %d, %v: %s", r.Status, r.Err, r.Body)
				}
				if !strings.Contains(a.log.String(), "AUTH_URL") || !strings.Contains(a.log.String(), "level=ERROR") {
					t.Errorf("the log says\n%s", a.log)
				}
				return
			}
			if r := b.get("http://evil.example/auth/providers"); r.Status == http.StatusOK {
				t.Errorf("a target with another host is accepted: %s", r.Body)
			}
			want := strings.ToLower(row.origin) + "/auth/callback/credentials"
			if r.Status != http.StatusOK || !strings.Contains(string(r.Body), want) {
				t.Errorf("status %d: %s, want %s in it", r.Status, r.Body, want)
			}
			signIn := b.get("/auth/csrf")
			if secure := strings.HasPrefix(row.origin, "https"); signIn.Cookies[0].Secure != secure {
				t.Errorf("cookie %s", signIn.Cookies[0])
			}
		})
	}
}

// TestMissingOriginIsReportedByNew checks that New logs one warning about the requests that will be refused, and that
// requests log none.
func TestMissingOriginIsReportedByNew(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{TrustHost: core.False, Providers: []core.Provider{passwords()}})
	if log := a.log.String(); strings.Count(log, "code=no-origin") != 1 || !strings.Contains(log, "level=WARN") ||
		!strings.Contains(log, "AUTH_URL") {
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
	for name, config := range map[string]core.Config{
		"pinned": {URL: "https://app.test"}, "listed": {TrustedHosts: []string{"app.test"}}, "open": {TrustHost: core.True},
	} {
		config.Providers, config.InsecureNoLimits = []core.Provider{passwords()}, true
		if a := newApp(t, config); a.log.Len() > 0 {
			t.Errorf("%s: New says %s", name, a.log)
		}
	}
}

// TestVisitedElsewhere checks that each Auth logs once that clients use another origin than the configured one.
func TestVisitedElsewhere(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, url, origin string
		header            map[string]string
		visited           string
	}{
		{"the configured one", "https://app.test", "https://app.test", nil, ""},
		{"other spelling", "https://app.test", "https://APP.test:443", nil, ""},
		{"behind a proxy that says so", "https://app.test", "http://app:3000",
			map[string]string{"X-Forwarded-Host": "app.test", "X-Forwarded-Proto": "https"}, ""},
		{"no host", "https://app.test", "https://a b", nil, ""},

		{"two names of one machine", "http://127.0.0.1:3000", "http://localhost:3000", nil, "http://localhost:3000"},
		{"plain server", "https://app.test", "http://app.test", nil, "http://app.test"},
		{"behind TLS", "http://app.test", "http://app.test",
			map[string]string{"X-Forwarded-Proto": "https"}, "https://app.test"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{URL: row.url, Providers: []core.Provider{passwords()}, InsecureNoLimits: true})
			b := visit(t, a)
			b.origin = row.origin
			for name, value := range row.header {
				b.header.Set(name, value)
			}
			for range 3 {
				b.get("/auth/session")
				_, _ = a.Visit(t.Context(), b.request("GET", "/", "", "")).Session()
			}
			b.origin = "https://a-third.example" // a forged origin is not logged
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
			if strings.Count(log, "code=visited-elsewhere") != 1 || strings.Count(log, "\n") != 1 ||
				!strings.Contains(log, "visited="+row.visited+" ") || !strings.Contains(log, "configured="+row.url+" ") {
				t.Errorf("the log says\n%s", log)
			}
		})
	}
}

func BenchmarkSessionCheck(b *testing.B) {
	auth, err := core.New(core.Config{
		URL: "https://app.test", Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" },
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	request := &core.Request{
		Method: "GET", Target: "/account", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{},
	}
	cookies, err := auth.NewSession(b.Context(), request, &core.User{ID: "1", Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Cookie", cookies[0].Name+"="+cookies[0].Value)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if s, err := auth.Visit(ctx, request).Session(); s == nil || err != nil {
			b.Fatal(s, err)
		}
	}
}

// TestLoopbackNamesFromFarAway checks a client on the internet that sends a loopback host while no origin is
// configured.
func TestLoopbackNamesFromFarAway(t *testing.T) {
	t.Parallel()
	for peer, answered := range map[string]bool{
		// This machine, a container's host, a Unix socket.
		"127.0.0.1:40000": true, "[::1]:40000": true, "172.17.0.1:40000": true, "": true, "@": true,
		"203.0.113.9:40000": false, "[2001:db8::1]:40000": false,
	} {
		b := visit(t, newApp(t, core.Config{TrustHost: core.False, Providers: []core.Provider{passwords()}}))
		b.origin, b.peer = "http://localhost:3000", peer
		if r := b.get("/auth/csrf"); (r.Status == http.StatusOK) != answered {
			t.Errorf("from %q: status %d", peer, r.Status)
		}
	}
}

// TestSecureBehindAProxy checks that cookies stay secure whatever a forwarded header says, and that only forwarded
// headers of trusted peers are used.
func TestSecureBehindAProxy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		config core.Config
		peer   string
		secure bool
		host   string
	}{
		{"pinned", core.Config{URL: "https://app.test"}, "192.0.2.1:1", true, "https://app.test"},
		{"forced", core.Config{TrustHost: core.True, UseSecureCookies: core.True}, "192.0.2.1:1", true, "http://front.test"},
		{"trusted peer", core.Config{TrustHost: core.True,
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
			"10.1.2.3:1", false, "http://front.test"},
		{"a peer in IPv6 clothes",
			core.Config{TrustHost: core.True, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
			"[::ffff:10.1.2.3]:1", false, "http://front.test"},
		{"any other peer",
			core.Config{TrustHost: core.True, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
			"192.0.2.1:1", true, "https://app.test"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.config.Providers = []core.Provider{passwords()}
			a := newApp(t, row.config)
			r := visit(t, a).request("GET", "/auth/csrf", "", "")
			r.RemoteAddr = row.peer
			r.Header.Set("X-Forwarded-Proto", "http")
			r.Header.Set("X-Forwarded-Host", "front.test")
			answer := a.Handle(t.Context(), r)
			for _, c := range answer.Cookies {
				if c.Secure != row.secure || strings.HasPrefix(c.Name, "__") != row.secure {
					t.Errorf("%s, Secure %v", c.Name, c.Secure)
				}
			}
			r.Target = "/auth/providers"
			if got := string(a.Handle(t.Context(), r).Body); !strings.Contains(got, `"`+row.host+`/auth/`) {
				t.Errorf("providers are at %s", got)
			}
		})
	}
}

func TestHostsAreTrustedByConfigurationOnly(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		config core.Config
		origin string
		header map[string]string
		status int
		want   string
	}{
		{"nothing is trusted", core.Config{TrustHost: core.False}, "https://app.test", nil, 500, ""},
		{"pinned, another host", core.Config{URL: "https://app.test"}, "https://evil.example", nil,
			200, "https://app.test/auth"},
		{"pinned, forwarded", core.Config{URL: "https://app.test"}, "https://app.test",
			map[string]string{"X-Forwarded-Host": "evil.example"}, 200, "https://app.test/auth"},
		{"listed", core.Config{TrustedHosts: []string{"app.test"}}, "https://app.test", nil, 200, "https://app.test/auth"},
		{"not listed", core.Config{TrustedHosts: []string{"app.test"}}, "https://evil.example", nil, 400, ""},
		{"open, odd scheme", core.Config{TrustHost: core.True}, "https://app.test",
			map[string]string{"X-Forwarded-Proto": "javascript"}, 400, ""},
		{"open, forwarded", core.Config{TrustHost: core.True}, "http://inner",
			map[string]string{"X-Forwarded-Host": "app.test", "X-Forwarded-Proto": "https"}, 200, "https://app.test/auth"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.config.Providers = []core.Provider{passwords()}
			b := visit(t, newApp(t, row.config))
			b.origin = row.origin
			for name, value := range row.header {
				b.header.Set(name, value)
			}
			r := b.get("/auth/providers")
			if r.Status != row.status || !strings.Contains(string(r.Body), row.want) ||
				strings.Contains(string(r.Body), "evil") {
				t.Errorf("status %d: %s", r.Status, r.Body)
			}
			if r.Status >= 400 && len(r.Cookies) > 0 {
				t.Error("a refusal sets cookies")
			}
		})
	}
}

// TestNoHostIsTrusted calls every function of an application that trusts no host.
func TestNoHostIsTrusted(t *testing.T) {
	t.Parallel()
	const canary = "canary-host.example"
	a := newApp(t, core.Config{
		TrustHost: core.False, Providers: []core.Provider{passwords(), (&service{}).provider("op")},
		Pages: core.PagesConfig{NewUser: "/welcome"},
	})
	for _, action := range actions {
		a.log.Reset()
		b := visit(t, a)
		b.origin = "https://" + canary
		b.header.Set("X-Forwarded-Host", canary)
		b.header.Set("X-Forwarded-Proto", "https")
		b.header.Set("Accept", "text/html")
		r := b.send(action.method, "/auth/"+action.path+"?callbackUrl=%2Fx",
			"application/x-www-form-urlencoded", "csrfToken=x")
		if r.Status != 500 || len(r.Cookies) > 0 || r.Redirect != "" {
			t.Errorf("%s %s: status %d to %q, %d cookies", action.method, action.path, r.Status, r.Redirect, len(r.Cookies))
		}
		all := string(r.Body)
		for name, values := range r.Header {
			all += name + strings.Join(values, "")
		}
		if strings.Contains(all, canary) {
			t.Errorf("%s %s: the response contains the host: %s", action.method, action.path, all)
		}
		if lines := strings.Count(a.log.String(), "\n"); lines != 1 || !strings.Contains(a.log.String(), "UntrustedHost") {
			t.Errorf("%s %s: logged %s", action.method, action.path, a.log)
		}
	}
	b := visit(t, a)
	b.origin = "https://" + canary
	v := a.Visit(t.Context(), b.request("GET", "/page", "", ""))
	if _, refusal := v.Require(); refusal == nil || refusal.Status != 500 {
		t.Errorf("the guard says %+v", refusal)
	}
	if h := answerOf(v); len(h) > 0 {
		t.Errorf("the hook adds %v", h)
	}
	token, err := a.Token(t.Context(), b.request("GET", "/", "", ""))
	if token != nil || !errors.Is(err, core.ErrUntrustedHost) {
		t.Errorf("a token for an untrusted host: %v, %v", token, err)
	}
}

// TestSecureNamesOnly sends a session under the other cookie name while a header claims plain http.
func TestSecureNamesOnly(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]core.Config{
		"pinned": {URL: "https://app.test"}, "forced": {TrustHost: core.True, UseSecureCookies: core.True},
	} {
		config.Providers = []core.Provider{passwords()}
		a := newApp(t, config)
		for _, row := range []struct {
			cookie, salt string
			ok           bool
		}{
			{sessionCookie, sessionCookie, true},
			{"authjs.session-token", "authjs.session-token", false},
			{"authjs.session-token", sessionCookie, false},
			{sessionCookie, "authjs.session-token", false},
		} {
			token, err := a.EncodeToken(&core.Token{Subject: "1", Name: "Ada"}, row.salt, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			b := visit(t, a)
			b.header.Set("X-Forwarded-Proto", "http")
			b.cookies[row.cookie] = token
			if got := string(b.get("/auth/session").Body) != "null"; got != row.ok {
				t.Errorf("%s: sealed as %s, sent as %s: signed in %v", name, row.salt, row.cookie, got)
			}
			if row.ok && b.cookies["authjs.session-token"] != "" {
				t.Errorf("%s: the session is set without its prefix", name)
			}
		}
	}
}
