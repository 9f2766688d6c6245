package authfiber_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/core"
)

func newAuth(t *testing.T, change func(*core.Config)) *core.Auth {
	t.Helper()
	authorize := func(context.Context, map[string]string, *core.Request) (*core.User, error) {
		return &core.User{ID: "1", Name: "Ada"}, nil
	}
	config := core.Config{
		TrustHost: core.True, Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Secrets:   []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Providers: []core.Provider{&core.CredentialsProvider{Authorize: authorize}},
	}
	change(&config)
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

func ask(t *testing.T, f *fiber.App, r *http.Request) (*http.Response, string) {
	t.Helper()
	res, err := f.Test(r, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// TestSessionThatFiberWouldNotReadIsNotSet signs in with a session that exceeds fiber's buffer. The user gets one error
// instead of 431 on every page, and the log names the setting.
func TestSessionThatFiberWouldNotReadIsNotSet(t *testing.T) {
	for _, row := range []struct {
		name         string
		buffer, size int
		signedIn     bool
	}{
		{"a small session and fiber's default", 0, 100, true},
		{"a large one and fiber's default", 0, 3000, false},
		{"a large one and enough", 16 << 10, 3000, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			var log bytes.Buffer
			auth := newAuth(t, func(c *core.Config) {
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
				c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
					return p.Token, p.Token.Extra.Set("pad", strings.Repeat("x", row.size))
				}
			})
			f := fiber.New(fiber.Config{ReadBufferSize: row.buffer})
			authfiber.New(auth).Mount(f)
			if warned := strings.Contains(log.String(), "ReadBufferSize of fiber.Config"); warned != (row.buffer == 0) {
				t.Errorf("Mount logged %q", &log)
			}
			res, body := ask(t, f, httptest.NewRequest("GET", "/auth/csrf", nil))
			_, rest, _ := strings.Cut(body, `:"`)
			token, _, _ := strings.Cut(rest, `"`)
			form := url.Values{"csrfToken": {token}}.Encode()
			r := httptest.NewRequest("POST", "/auth/callback/credentials", strings.NewReader(form))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Cookie", strings.Split(res.Header["Set-Cookie"][0], ";")[0])
			res, _ = ask(t, f, r)
			held := strings.Contains(strings.Join(res.Header["Set-Cookie"], "\n"), "authjs.session-token")
			if failed := strings.Contains(res.Header.Get("Location"), "error="); held != row.signedIn || failed == row.signedIn {
				t.Errorf("led to %q, session set: %v", res.Header.Get("Location"), held)
			}
			if said := strings.Contains(log.String(), "16384 or more, or store less"); said == row.signedIn {
				t.Errorf("logged %q", &log)
			}
		})
	}
}

// TestForgedForwardedHeaders sends forwarded headers to applications with and without a check for trusted proxies.
func TestForgedForwardedHeaders(t *testing.T) {
	for _, row := range []struct {
		name   string
		config fiber.Config
		want   string
	}{
		{"no check", fiber.Config{}, "https://outside.test"},
		{
			"a stranger", fiber.Config{EnableTrustedProxyCheck: true, TrustedProxies: []string{"192.0.2.1"}},
			"http://example.com",
		},
		{
			"the proxy", fiber.Config{EnableTrustedProxyCheck: true, TrustedProxies: []string{"0.0.0.0"}},
			"https://outside.test",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := fiber.New(row.config)
			authfiber.New(newAuth(t, func(*core.Config) {})).Mount(f)
			r := httptest.NewRequest("GET", "/auth/providers", nil)
			r.Header.Set("X-Forwarded-Host", "outside.test")
			r.Header.Set("X-Forwarded-Proto", "https")
			if _, body := ask(t, f, r); !strings.Contains(body, `"`+row.want+`/auth/signin/credentials"`) {
				t.Errorf("answered %s", body)
			}
		})
	}
}

// TestMountOnAGroup requests the routes below the base path.
func TestMountOnAGroup(t *testing.T) {
	for _, row := range []struct{ base, group, at string }{
		{"/auth", "/", "/auth/csrf"},
		{"/api/auth", "/api", "/api/auth/csrf"},
		{"/auth", "/api", ""},
		{"/api/auth", "/ap", ""},
	} {
		t.Run(row.base+" on "+row.group, func(t *testing.T) {
			f, a := fiber.New(), authfiber.New(newAuth(t, func(c *core.Config) { c.BasePath = row.base }))
			if refused := panics(func() { a.Mount(f.Group(row.group)) }); refused != (row.at == "") {
				t.Fatalf("Mount panicked: %v", refused)
			}
			if row.at == "" {
				return
			}
			res, body := ask(t, f, httptest.NewRequest("GET", row.at, nil))
			if res.StatusCode != 200 || !strings.Contains(body, "csrfToken") {
				t.Errorf("%s answered %d", row.at, res.StatusCode)
			}
		})
	}
}

// panics reports whether f panics.
func panics(f func()) (it bool) {
	defer func() { it = recover() != nil }()
	f()
	return false
}
