// Package fibertest has the tests that the adapters of both versions of fiber share. The version under test builds the
// application.
package fibertest

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

	"github.com/latchkey-go/latchkey/core"
)

// Tester sends a request to an application, as the method Test of fiber.App does.
type Tester func(*http.Request) (*http.Response, error)

// NewAuth returns an Auth with a password provider that accepts everything.
func NewAuth(t *testing.T, change func(*core.Config)) *core.Auth {
	t.Helper()
	authorize := func(context.Context, map[string]string, *core.Request) (*core.User, error) {
		return &core.User{ID: "1", Name: "Ada"}, nil
	}
	config := core.Config{
		TrustHost: core.True, Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Secrets:   []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Providers: []core.Provider{&core.CredentialsProvider{Authorize: authorize}},
	}
	if change != nil {
		change(&config)
	}
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// Response is a response whose body was read.
type Response struct {
	StatusCode int
	Header     http.Header
	Body       string
}

// Send sends r, and returns the response.
func (send Tester) Send(t *testing.T, r *http.Request) Response {
	t.Helper()
	res, err := send(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Response{res.StatusCode, res.Header, string(body)}
}

// LargeSessions signs in with a session that exceeds fiber's buffer. The user gets one error instead of 431 on every
// page, and the log names the setting. app mounts the routes in an application with this ReadBufferSize.
func LargeSessions(t *testing.T, app func(auth *core.Auth, readBufferSize int) Tester) {
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
			auth := NewAuth(t, func(c *core.Config) {
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
				c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
					return p.Token, p.Token.Extra.Set("pad", strings.Repeat("x", row.size))
				}
			})
			send := app(auth, row.buffer)
			if warned := strings.Contains(log.String(), "ReadBufferSize of fiber.Config"); warned != (row.buffer == 0) {
				t.Errorf("Mount logged %q", &log)
			}
			res := send.Send(t, httptest.NewRequestWithContext(t.Context(), "GET", "/auth/csrf", nil))
			_, rest, _ := strings.Cut(res.Body, `:"`)
			token, _, _ := strings.Cut(rest, `"`)
			form := url.Values{"csrfToken": {token}}.Encode()
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/auth/callback/credentials", strings.NewReader(form))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Cookie", strings.Split(res.Header["Set-Cookie"][0], ";")[0])
			res = send.Send(t, r)
			held := strings.Contains(strings.Join(res.Header["Set-Cookie"], "\n"), "authjs.session-token")
			if failed := strings.Contains(res.Header.Get("Location"), "error="); held != row.signedIn || failed == row.signedIn {
				t.Errorf("the response redirects to %q, session set: %v", res.Header.Get("Location"), held)
			}
			if said := strings.Contains(log.String(), "16384 or more, or store less"); said == row.signedIn {
				t.Errorf("logged %q", &log)
			}
		})
	}
}

// ForgedForwardedHeaders sends forwarded headers to applications with and without a check for trusted proxies. app
// mounts the routes in an application that trusts the proxy, or all peers if it is empty.
func ForgedForwardedHeaders(t *testing.T, app func(auth *core.Auth, proxy string) Tester) {
	for _, row := range []struct{ name, proxy, want string }{
		{"no check", "", "https://outside.test"},
		{"a peer that is no proxy", "192.0.2.1", "http://example.com"},
		{"the proxy", "0.0.0.0", "https://outside.test"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/auth/providers", nil)
			r.Header.Set("X-Forwarded-Host", "outside.test")
			r.Header.Set("X-Forwarded-Proto", "https")
			res := app(NewAuth(t, nil), row.proxy).Send(t, r)
			if !strings.Contains(res.Body, `"`+row.want+`/auth/signin/credentials"`) {
				t.Errorf("the response is %s", res.Body)
			}
		})
	}
}

// MountOnAGroup requests the routes below the base path. app mounts them on a group.
func MountOnAGroup(t *testing.T, app func(auth *core.Auth, group string) Tester) {
	for _, row := range []struct{ base, group, at string }{
		{"/auth", "/", "/auth/csrf"},
		{"/api/auth", "/api", "/api/auth/csrf"},
		{"/auth", "/api", ""},
		{"/api/auth", "/ap", ""},
	} {
		t.Run(row.base+" on "+row.group, func(t *testing.T) {
			auth := NewAuth(t, func(c *core.Config) { c.BasePath = row.base })
			var send Tester
			if refused := panics(func() { send = app(auth, row.group) }); refused != (row.at == "") {
				t.Fatalf("Mount panicked: %v", refused)
			}
			if row.at == "" {
				return
			}
			res := send.Send(t, httptest.NewRequestWithContext(t.Context(), "GET", row.at, nil))
			if res.StatusCode != 200 || !strings.Contains(res.Body, "csrfToken") {
				t.Errorf("%s: status %d", row.at, res.StatusCode)
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
