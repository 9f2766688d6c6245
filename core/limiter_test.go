package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
)

// coded returns an application with links that contain a six-digit code.
func coded(t *testing.T, change func(*core.Config)) (a *app, rows *tokenRows, code *string) {
	t.Helper()
	rows = &tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}}
	code = new(string)
	config := core.Config{Store: rows, Providers: []core.Provider{&core.EmailProvider{
		ConfirmLink:   core.False,
		GenerateToken: func(context.Context) (string, error) { return "654321", nil },
		Send:          func(_ context.Context, m core.Email) error { *code = string(m.Token); return nil },
	}}}
	if change != nil {
		change(&config)
	}
	return newApp(t, config), rows, code
}

// TestCodesCannotBeGuessed guesses codes for an address, with the default configuration.
func TestCodesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	a, store, code := coded(t, nil)
	owner := visit(t, a)
	owner.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
	guesser, tried := visit(t, a), 0
	for i := range 1000 {
		r := guesser.get(fmt.Sprintf("/auth/callback/email?token=%06d&email=ada%%40example.com", i))
		switch {
		case r.Status == 429 && r.Header.Get("Retry-After") != "":
		case errors.Is(r.Err, core.ErrVerification):
			tried++
		default:
			t.Fatalf("guess %d: status %d: %v", i, r.Status, r.Err)
		}
	}
	if tried != 5 || len(store.tokens) != 1 {
		t.Errorf("%d guesses, %d tokens left", tried, len(store.tokens))
	}
	elsewhere := owner.request("GET", "/auth/callback/email?token="+*code+"&email=ada%40example.com", "", "")
	elsewhere.RemoteAddr = "198.51.100.7:4711"
	if r := a.Handle(t.Context(), elsewhere); r.Err != nil || len(store.tokens) != 0 {
		t.Errorf("the owner's code: status %d: %v", r.Status, r.Err)
	}
}

// TestRedemptionIsLimited checks the calls of the Limit and Forgive callbacks for a mailed token.
func TestRedemptionIsLimited(t *testing.T) {
	t.Parallel()
	var asked, forgiven []core.LimitParams
	var wait time.Duration
	a, store, _ := coded(t, func(c *core.Config) {
		c.Callbacks.Limit = func(_ context.Context, p core.LimitParams) (time.Duration, error) {
			asked = append(asked, p)
			return wait, nil
		}
		c.Callbacks.Forgive = func(_ context.Context, p core.LimitParams) { forgiven = append(forgiven, p) }
	})
	b := visit(t, a)
	b.submit("/auth/signin/email", url.Values{"email": {"Ada@Example.com"}})
	wait = time.Minute
	if r := b.get("/auth/callback/email?token=654321&email=ada%40example.com"); r.Status != 429 || len(store.tokens) != 1 {
		t.Errorf("status %d, %d tokens left", r.Status, len(store.tokens))
	}
	wait = 0
	b.get("/auth/callback/email?token=999999&email=ada%40example.com")
	b.get("/auth/callback/email?token=" + strings.Repeat("9", 64) + "&email=ada%40example.com")
	b.get("/auth/callback/email?token=654321&email=ada%40example.com")
	want := []limit.Params{
		{Attempt: limit.AttemptEmail}, {Attempt: limit.AttemptEmailToken, Guessable: true},
		{Attempt: limit.AttemptEmailToken, Guessable: true},
		{Attempt: limit.AttemptEmailToken}, {Attempt: limit.AttemptEmailToken, Guessable: true},
	}
	if len(asked) != len(want) {
		t.Fatalf("asked %d times", len(asked))
	}
	for i, p := range asked {
		if p.Attempt != want[i].Attempt || p.Guessable != want[i].Guessable || p.Identifier != "ada@example.com" ||
			p.Provider != "email" || p.Peer.String() != "192.0.2.1/32" || !p.PeerIsVisitor {
			t.Errorf("asked %d: %s of %q by %v", i, p.Attempt, p.Identifier, p.Peer)
		}
	}
	if len(forgiven) != 1 || forgiven[0].Attempt != limit.AttemptEmailToken ||
		forgiven[0].Identifier != "ada@example.com" {
		t.Errorf("forgave %d", len(forgiven))
	}
}

// TestNothingIsUnlimitedByDefault requests emails and guesses passwords without a configured limit.
func TestNothingIsUnlimitedByDefault(t *testing.T) {
	t.Parallel()
	config := func(sent *int) core.Config {
		return core.Config{
			Store:     &tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}},
			Session:   core.SessionConfig{Strategy: core.StrategyJWT},
			Providers: []core.Provider{passwords(), letterbox(sent)},
		}
	}
	for name, row := range map[string]struct {
		unlimited     bool
		letters, keys int
	}{"default": {false, 5, 10}, "InsecureNoLimits": {true, 40, 40}} {
		t.Run(name, func(t *testing.T) {
			sent, tried := 0, 0
			c := config(&sent)
			c.InsecureNoLimits = row.unlimited
			b := visit(t, newApp(t, c))
			for range 40 {
				b.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
				r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"wrong"}})
				if errors.Is(r.Err, core.ErrCredentialsSignin) {
					tried++
				}
			}
			if sent != row.letters || tried != row.keys {
				t.Errorf("%d emails and %d passwords, want %d and %d", sent, tried, row.letters, row.keys)
			}
		})
	}
	t.Run("right passwords", func(t *testing.T) {
		sent := 0
		b := visit(t, newApp(t, config(&sent)))
		for range 100 {
			signIn(t, b)
		}
	})
}

// TestShortCodesNeedALimit checks that a generator of short codes is a configuration error if attempts are unlimited.
func TestShortCodesNeedALimit(t *testing.T) {
	t.Parallel()
	limit := func(context.Context, core.LimitParams) (time.Duration, error) { return 0, nil }
	for name, row := range map[string]struct {
		unlimited bool
		limit     func(context.Context, core.LimitParams) (time.Duration, error)
		fault     bool
	}{
		"default":                      {false, nil, false},
		"InsecureNoLimits":             {true, nil, true},
		"InsecureNoLimits and a Limit": {true, limit, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := core.New(core.Config{
				Secrets: []core.Secret{testSecret}, URL: "https://app.test", Getenv: func(string) string { return "" },
				Now:   func() time.Time { return start },
				Store: &tokenRows{sessionRows: newSessionRows()},
				Providers: []core.Provider{&core.EmailProvider{
					Send:          func(context.Context, core.Email) error { return nil },
					GenerateToken: func(context.Context) (string, error) { return "1", nil },
				}},
				Callbacks: core.Callbacks{Limit: row.limit}, InsecureNoLimits: row.unlimited,
			})
			if (err != nil) != row.fault || row.fault && !strings.Contains(err.Error(), "Callbacks.Limit") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestNamesOfForms checks which field of a password form is counted.
func TestNamesOfForms(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		fields     []core.Field
		form       url.Values
		want       string
		identifier string
	}{
		{"named", []core.Field{{Name: "code"}, {Name: "user"}}, url.Values{"code": {"1"}, "user": {"Ada"}}, "ada", "user"},
		{"first field", []core.Field{{Name: "user"}, {Name: "password", Type: "password"}},
			url.Values{"user": {" Ada "}, "email": {"x"}}, "ada", ""},
		{"behind a password", []core.Field{{Name: "pin", Type: "password"}, {Name: "mail", Type: "email"}},
			url.Values{"mail": {"ADA@example.com"}, "pin": {"1"}}, "ada@example.com", ""},
		{"two spellings", []core.Field{{Name: "mail"}},
			url.Values{"mail": {"ada@xn--bcher-kva.example"}}, "ada@bücher.example", ""},
		{"nothing declared", nil, url.Values{"username": {"ada"}, "password": {"x"}}, "ada", ""},
		{"only passwords", []core.Field{{Name: "pin", Type: "password"}}, url.Values{"pin": {"1234"}}, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			a := newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
				Fields: row.fields, Identifier: row.identifier,
				Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
			}}, Callbacks: core.Callbacks{Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
				got = append(got, p.Identifier)
				return 0, nil
			}}})
			visit(t, a).submit("/auth/callback/credentials", row.form)
			if len(got) != 1 || got[0] != row.want {
				t.Errorf("counted by %q, want %q", got, row.want)
			}
		})
	}
}

// TestClientsBehindProxies checks when a peer counts as a client. Behind a proxy that is not configured all clients
// look the same, and the attempts of one must not lock out the others.
func TestClientsBehindProxies(t *testing.T) {
	t.Parallel()
	named := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, row := range []struct {
		name    string
		proxies []netip.Prefix
		remote  string
		header  map[string]string
		want    bool
	}{
		{"a public address", nil, "192.0.2.1:1", nil, true},
		{"a public address, IPv6", nil, "[2001:db8::1]:1", nil, true},
		{"a proxy on this machine", nil, "127.0.0.1:1", nil, false},
		{"a proxy on this machine, IPv6", nil, "[::1]:1", nil, false},
		{"a proxy in a private network", nil, "10.1.2.3:1", nil, false},
		{"a proxy in a private network, IPv6", nil, "[fd00::1]:1", nil, false},
		{"a balancer in shared space", nil, "100.64.0.7:1", nil, false},
		{"link-local", nil, "[fe80::1%eth0]:1", nil, false},
		{"a socket", nil, "@", nil, false},
		{"a public proxy", nil, "192.0.2.1:1", map[string]string{"X-Forwarded-For": "203.0.113.9"}, false},
		{"a public proxy, RFC 7239", nil, "192.0.2.1:1", map[string]string{"Forwarded": "for=203.0.113.9"}, false},
		{"a public proxy, Via", nil, "192.0.2.1:1", map[string]string{"Via": "1.1 edge"}, false},
		{"behind a named proxy", named, "10.0.0.1:1", map[string]string{"X-Forwarded-For": "203.0.113.9"}, true},
		{"behind a named proxy, in the intranet", named, "10.0.0.1:1",
			map[string]string{"X-Forwarded-For": "192.168.0.7"}, true},
		{"a trusted proxy without headers", named, "10.0.0.1:1", nil, false},
		{"past the named proxy", named, "192.0.2.1:1", map[string]string{"X-Forwarded-For": "203.0.113.9"}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []bool
			providers := []core.Provider{passwords()}
			a := newApp(t, core.Config{Providers: providers, TrustedProxies: row.proxies, Callbacks: core.Callbacks{
				Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
					got = append(got, p.PeerIsVisitor)
					return 0, nil
				},
			}})
			b := visit(t, a)
			form := url.Values{"csrfToken": {b.csrf()}, "email": {"ada@example.com"}, "password": {"wrong"}}
			r := b.request("POST", "/auth/callback/credentials", "application/x-www-form-urlencoded", form.Encode())
			r.RemoteAddr = row.remote
			for name, value := range row.header {
				r.Header.Set(name, value)
			}
			a.Handle(t.Context(), r)
			if len(got) != 1 || got[0] != row.want {
				t.Errorf("counts as a client: %v, want %v", got, row.want)
			}
		})
	}
}
