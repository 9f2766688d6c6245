package upstream_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/upstream"
)

func TestErrorText(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	for _, row := range []struct {
		name string
		url  string
		err  error
		want string
	}{
		{"plain", "https://op.example/token", cause, "GET op.example: cause"},
		{"query", "https://op.example/token?code=canary", fmt.Errorf("code=canary failed: %w", cause),
			"GET op.example: [hidden] failed: cause"},
		{"value of the query", "https://op.example/me?access_token=canary%2Ftoken", errors.New("canary/token is bad"),
			"GET op.example: [hidden] is bad"},
		{"path", "https://op.example/tokens/canary-of-the-path", errors.New("/tokens/canary-of-the-path failed"),
			"GET op.example: [hidden] failed"},
		{"end of the path", "https://op.example/tokens/canary-of-the-path", errors.New("canary-of-the-path failed"),
			"GET op.example: [hidden] failed"},
		{"header", "https://op.example/token", errors.New("sent Bearer canary-token"), "GET op.example: sent [hidden]"},
		{"token of the header", "https://op.example/token", errors.New("canary-token is bad"),
			"GET op.example: [hidden] is bad"},
		{"whole URL", "https://op.example/token?code=canary",
			&url.Error{Op: "Get", URL: "https://op.example/token?code=canary", Err: cause}, "GET op.example: cause"},
		{"whole URL further in", "https://op.example/token?code=canary",
			fmt.Errorf("own: %w", &url.Error{Op: "Get", URL: "x?code=canary", Err: cause}), "GET op.example: cause"},
		{"line break from the peer", "https://op.example/", errors.New("a\r\n\x1b[31m\u202eb \"c\""),
			`GET op.example: a\r\n\x1b[31m\u202eb "c"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			failing := roundTrip(func(*http.Request) (*http.Response, error) { return nil, row.err })
			c := upstream.New(upstream.Options{HTTP: &http.Client{Transport: failing}})
			_, err := c.Do(t.Context(), request(t, row.url), upstream.NoRedirects)
			if err == nil || err.Error() != row.want {
				t.Errorf("got  %v\nwant %s", err, row.want)
			}
		})
	}
}

// TestErrorTextOfADocument checks that the error contains the path, because a discovery document is public.
func TestErrorTextOfADocument(t *testing.T) {
	t.Parallel()
	failing := roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("cause") })
	c := upstream.New(upstream.Options{HTTP: &http.Client{Transport: failing}})
	for address, want := range map[string]string{
		"https://op.example/.well-known/openid-configuration": "GET op.example/.well-known/openid-configuration: cause",
		"https://op.example/a%0a%1b[31mb?code=canary":         "GET op.example/a%0a%1b[31mb: cause",
	} {
		if _, err := c.Do(t.Context(), request(t, address), upstream.SameHost); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestErrorTextIsBounded(t *testing.T) {
	t.Parallel()
	failing := roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, errors.New(strings.Repeat("\n", 1<<20))
	})
	c := upstream.New(upstream.Options{HTTP: &http.Client{Transport: failing}})
	_, err := c.Do(t.Context(), request(t, "https://op.example/"+strings.Repeat("a", 100)), upstream.NoRedirects)
	if n := len(err.Error()); n > 1100 {
		t.Errorf("%d bytes", n)
	}
}
