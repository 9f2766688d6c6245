package core_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestScopes compares the scopes of a credential with a required scope.
func TestScopes(t *testing.T) {
	for _, row := range []struct {
		own, required string
		allowed       bool
	}{
		{"orders:read", "orders:read", true},
		{"orders:read", "orders:write", false},
		{"orders:*", "orders:items:read", true},
	} {
		p := &core.Principal{Scopes: []string{"other", row.own}}
		if got := p.Allows(row.required); got != row.allowed {
			t.Errorf("%q for %q: %t", row.own, row.required, got)
		}
	}
	if (&core.Principal{}).Allows("x") || !(&core.Principal{Session: &core.Session{}}).Allows("x") {
		t.Error("a credential without scopes has some, or a session has none")
	}
}

// keyring is a plugin with the credentials of the form "key_<name>".
type keyring struct {
	signed bool // Credential.Unlimited
	verify func(name string) (*core.Principal, error)
	change func(*core.Config) // may be nil

	mu    sync.Mutex
	asked int
	now   time.Time
}

func (k *keyring) Attach(h *core.PluginHost) error {
	h.AddCredential(core.Credential{
		Matches: func(token string) bool { return strings.HasPrefix(token, "key_") },
		Verify: func(_ context.Context, token string, _ netip.Prefix) (*core.Principal, error) {
			k.mu.Lock()
			k.asked++
			k.mu.Unlock()
			return k.verify(strings.TrimPrefix(token, "key_"))
		},
		Unlimited: k.signed,
	})
	return nil
}

// site returns an Auth with the plugin.
func (k *keyring) site(t *testing.T) *core.Auth {
	return siteWith(t, func(c *core.Config) {
		c.Plugins, c.Now = []core.Plugin{k}, func() time.Time { return k.now }
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		if k.change != nil {
			k.change(c)
		}
	})
}

// ask requests a route for programs.
func (k *keyring) ask(t *testing.T, auth *core.Auth, token, from string) *core.Response {
	t.Helper()
	visit := auth.Visit(t.Context(), &core.Request{
		Method: "GET", Target: "/api", Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: from + ":1",
		Header: http.Header{"Authorization": {"Bearer " + token}},
	})
	_, refusal := visit.RequirePrincipal()
	return refusal
}

// TestCredentialErrors makes the verification of a credential fail in each way.
func TestCredentialErrors(t *testing.T) {
	for _, row := range []struct {
		name   string
		verify func(string) (*core.Principal, error)
		status int
		code   string
	}{
		{"wrong", func(string) (*core.Principal, error) { return nil, nil }, 401, "invalid_token"},
		{"a problem", func(string) (*core.Principal, error) {
			return nil, &core.Problem{Status: 403, Code: "network_refused"}
		}, 403, "network_refused"},
		{"the store does not respond", func(string) (*core.Principal, error) {
			return nil, core.ErrStoreUnavailable
		}, 503, ""},
		{"an error", func(string) (*core.Principal, error) { return nil, errors.New("db-1.internal") }, 500, ""},
		{"a panic", func(string) (*core.Principal, error) { panic("db-1.internal") }, 500, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			k := &keyring{verify: row.verify, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
			r := k.ask(t, k.site(t), "key_one", "192.0.2.1")
			if r == nil || r.Status != row.status || !strings.Contains(string(r.Body), row.code) {
				t.Fatalf("answered %+v", r)
			}
			if strings.Contains(string(r.Body), "db-1.internal") || strings.Contains(string(r.Body), "key_one") {
				t.Errorf("the response contains the cause or the token: %s", r.Body)
			}
		})
	}
}

// TestWrongCredentialsAreLimited sends wrong tokens from a network. They stop reaching the plugin, and tokens of the
// same network that were valid before continue to work.
func TestWrongCredentialsAreLimited(t *testing.T) {
	k := &keyring{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	revoked := false
	k.verify = func(name string) (*core.Principal, error) {
		if name == "good" && !revoked {
			return &core.Principal{UserID: "1"}, nil
		}
		return nil, nil
	}
	auth := k.site(t)
	const nat = "192.0.2.1"
	for range 100 { // valid tokens are not counted
		if r := k.ask(t, auth, "key_good", nat); r != nil {
			t.Fatalf("a valid token: %d", r.Status)
		}
	}
	k.asked = 0
	for range 100 {
		k.ask(t, auth, "key_wrong", nat)
	}
	if k.asked != 20 {
		t.Errorf("%d wrong tokens were looked up", k.asked)
	}
	r := k.ask(t, auth, "key_wrong", nat)
	if r.Status != 429 || r.Header.Get("Retry-After") == "" {
		t.Errorf("a wrong token: %d %v", r.Status, r.Header)
	}
	if r := k.ask(t, auth, "key_good", nat); r != nil {
		t.Errorf("a valid token of the same network: %d", r.Status)
	}
	if r := k.ask(t, auth, "key_wrong", "198.51.100.1"); r.Status != 401 {
		t.Errorf("another network: %d", r.Status)
	}
	revoked = true // it takes part in the limit again
	if r := k.ask(t, auth, "key_good", nat); r.Status != 401 {
		t.Errorf("a revoked token: %d", r.Status)
	}
	if r := k.ask(t, auth, "key_good", nat); r.Status != 429 {
		t.Errorf("a revoked token again: %d", r.Status)
	}
	k.now = k.now.Add(3 * time.Second)
	if r := k.ask(t, auth, "key_wrong", nat); r.Status != 401 {
		t.Errorf("three seconds later: %d", r.Status)
	}
}

// TestPrincipalOnce reads the principal several times. The credential is verified once.
func TestPrincipalOnce(t *testing.T) {
	var log strings.Builder
	k := &keyring{verify: func(name string) (*core.Principal, error) {
		return &core.Principal{UserID: "1", Credential: "key:" + name, Scopes: []string{"a"}}, nil
	}, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), change: func(c *core.Config) {
		c.Logger, c.Debug = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), true
	}}
	visit := k.site(t).Visit(t.Context(), &core.Request{
		Method: "GET", Target: "/api", Hosts: []string{"app.example"}, Scheme: "https",
		Header: http.Header{"Authorization": {"Bearer key_one"}, "Accept": {"text/html"}},
	})
	for range 3 {
		if p, err := core.PrincipalFrom(visit); err != nil || p.Credential != "key:one" {
			t.Fatalf("the principal is %+v, %v", p, err)
		}
	}
	if s, err := core.SessionFrom(visit); s != nil || err != nil {
		t.Errorf("the session is %v, %v", s, err)
	}
	if _, refusal := visit.RequirePrincipal(core.Scopes("a"), core.Scopes("a", "b")); refusal == nil ||
		refusal.Status != 403 || !strings.Contains(refusal.Header.Get("Www-Authenticate"), `scope="a b"`) {
		t.Errorf("without a scope: %+v", refusal)
	}
	text := log.String()
	if !strings.Contains(text, "credential key:one lacks a scope") || strings.Contains(text, "key_one") {
		t.Errorf("logged %s", text)
	}
	if _, refusal := visit.RequirePrincipal(func(context.Context, *core.Principal) error {
		return core.ErrForbidden
	}); refusal == nil || refusal.Status != 403 {
		t.Errorf("a guard of the application: %+v", refusal)
	}
	if k.asked != 1 {
		t.Errorf("verified %d times", k.asked)
	}
	if _, err := core.PrincipalFrom(t.Context()); !errors.Is(err, core.ErrNoHook) {
		t.Errorf("without a hook: %v", err)
	}
}

// TestCredentialIsNoSessionToken sends a credential to an Auth that logs. Neither strategy tries it as a session token,
// and a request for another host does not reach the plugin.
func TestCredentialIsNoSessionToken(t *testing.T) {
	var log strings.Builder
	k := &keyring{now: time.Now(), verify: func(string) (*core.Principal, error) {
		return &core.Principal{UserID: "1"}, nil
	}}
	auth := siteWith(t, func(c *core.Config) {
		c.Plugins, c.Logger = []core.Plugin{k}, slog.New(slog.NewTextHandler(&log, nil))
		c.URL, c.TrustedHosts = "", []string{"app.example"}
	})
	log.Reset()
	for _, host := range []string{"app.example", "evil.example"} {
		visit := auth.Visit(t.Context(), &core.Request{
			Method: "GET", Target: "/api", Hosts: []string{host}, Scheme: "https",
			Header: http.Header{"Authorization": {"Bearer key_one"}},
		})
		if host == "app.example" {
			if s, err := visit.Session(); s != nil || err != nil || log.Len() > 0 {
				t.Errorf("the session is %v, %v, the log has %s", s, err, log.String())
			}
		} else if _, refusal := visit.RequirePrincipal(); refusal == nil || refusal.Status < 400 {
			t.Errorf("another host: %+v", refusal)
		}
		if k.asked != 0 {
			t.Errorf("%s: verified %d times", host, k.asked)
		}
	}
}

// TestCredentialFaults configures an incomplete credential.
func TestCredentialFaults(t *testing.T) {
	plugin := partFunc(func(h *core.PluginHost) error { h.AddCredential(core.Credential{}); return nil })
	_, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.example", Plugins: []core.Plugin{plugin},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil || !strings.Contains(err.Error(), "Matches and Verify must be set") {
		t.Errorf("New returned %v", err)
	}
}

// TestUnlimitedCredential sends many expired tokens of a network, whose other tokens continue to work.
func TestUnlimitedCredential(t *testing.T) {
	k := &keyring{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), signed: true}
	k.verify = func(name string) (*core.Principal, error) {
		if name == "good" {
			return &core.Principal{UserID: "1"}, nil
		}
		return nil, nil
	}
	auth := k.site(t)
	for range 100 {
		if r := k.ask(t, auth, "key_expired", "192.0.2.1"); r == nil || r.Status != 401 {
			t.Fatalf("an expired token: %+v", r)
		}
	}
	if r := k.ask(t, auth, "key_good", "192.0.2.1"); r != nil {
		t.Errorf("a valid token of the network: %d", r.Status)
	}
}

// TestActionForPrograms calls an action that programs may call, with each kind of credential.
func TestActionForPrograms(t *testing.T) {
	k := &keyring{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	k.verify = func(name string) (*core.Principal, error) {
		if name == "good" {
			return &core.Principal{UserID: "1", Credential: "key:good"}, nil
		}
		return nil, nil
	}
	answer := func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		p, err := c.Principal(ctx)
		switch {
		case err != nil:
			return nil, err
		case p == nil:
			return &core.Response{Body: []byte("nobody")}, nil
		}
		return &core.Response{Body: []byte(p.UserID + p.Credential)}, nil
	}
	auth := siteWith(t, func(c *core.Config) {
		c.Now, c.Session.Bearer = func() time.Time { return k.now }, true
		c.Plugins = []core.Plugin{k, partFunc(func(h *core.PluginHost) error {
			h.AddAction(core.Action{Method: "POST", Name: "act", Programs: true, Handle: answer})
			h.AddAction(core.Action{Method: "POST", Name: "page", Handle: answer})
			return nil
		})}
	})
	session, err := auth.EncodeToken(&core.Token{Subject: "2"}, "__Secure-authjs.session-token", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	cookie := "__Secure-authjs.session-token=" + session
	for _, row := range []struct {
		name, action, cookie string
		authorization        []string
		status               int
		body                 string
	}{
		{"a key", "act", "", []string{"Bearer key_good"}, 200, "1key:good"},
		{"a key and cookies", "act", cookie, []string{"Bearer key_good"}, 200, "1key:good"},
		{"a wrong key", "act", "", []string{"Bearer key_bad"}, 401, "invalid_token"},
		{"a wrong key and a session cookie", "act", cookie, []string{"Bearer key_bad"}, 401, "invalid_token"},
		{"two keys", "act", cookie, []string{"Bearer key_good", "Bearer key_good"}, 400, "invalid_request"},
		{"a malformed header", "act", "", []string{"Bearer a b"}, 400, "invalid_request"},
		{"a session token", "act", "", []string{"Bearer " + session}, 200, "2"},
		{"a wrong session token", "act", cookie, []string{"Bearer x"}, 401, "invalid_token"},
		{"neither cookies nor a token", "act", "", nil, 200, "nobody"},
		{"a session cookie without the CSRF token", "act", cookie, nil, 403, "missing_csrf"},
		{"another cookie without the CSRF token", "act", "x=1", nil, 403, "missing_csrf"},
		{"a session cookie and another scheme", "act", cookie, []string{"Basic eDp5"}, 403, "missing_csrf"},
		{"a key for an action for browsers", "page", "", []string{"Bearer key_good"}, 403, "missing_csrf"},
		{"an action for browsers without cookies", "page", "", nil, 403, "missing_csrf"},
	} {
		t.Run(row.name, func(t *testing.T) {
			header := http.Header{"Authorization": row.authorization, "Accept": {"application/json"}}
			if row.cookie != "" {
				header.Set("Cookie", row.cookie)
			}
			r := auth.Handle(t.Context(), &core.Request{
				Method: "POST", Target: "/auth/" + row.action, Hosts: []string{"app.example"}, Scheme: "https", Header: header,
			})
			if r.Status != row.status || !strings.Contains(string(r.Body), row.body) {
				t.Errorf("%d %s", r.Status, r.Body)
			}
			if row.action == "act" && len(r.Cookies) > 0 {
				t.Errorf("the response sets %v", r.Cookies)
			}
			if row.status == 401 && !strings.Contains(r.Header.Get("Www-Authenticate"), `error="invalid_token"`) {
				t.Errorf("the challenge is %q", r.Header.Get("Www-Authenticate"))
			}
		})
	}
}
