package upstream_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

func TestErrorText(t *testing.T) {
	cause := errors.New("cause")
	for _, row := range []struct {
		name string
		url  string
		err  error
		want string
	}{
		{"plain", "https://op.example/token", cause, "GET op.example/token: cause"},
		{"query", "https://op.example/token?code=canary", fmt.Errorf("code=canary failed: %w", cause), "GET op.example/token: [hidden] failed: cause"},
		{"header", "https://op.example/token", errors.New("sent Bearer canary-token"), "GET op.example/token: sent [hidden]"},
		{"whole URL", "https://op.example/token?code=canary", &url.Error{Op: "Get", URL: "https://op.example/token?code=canary", Err: cause}, "GET op.example/token: cause"},
		{"whole URL further in", "https://op.example/token?code=canary", fmt.Errorf("own: %w", &url.Error{Op: "Get", URL: "x?code=canary", Err: cause}), "GET op.example/token: cause"},
		{"line break in the path", "https://op.example/a%0a%1b[31mb", cause, "GET op.example/a%0a%1b[31mb: cause"},
		{"line break from the peer", "https://op.example/", errors.New("a\r\n\x1b[31m\u202eb \"c\""), `GET op.example/: a\r\n\x1b[31m\u202eb "c"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := upstream.New(upstream.Options{HTTP: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, row.err })}})
			_, err := c.Do(t.Context(), request(t, row.url), upstream.NoRedirects)
			if err == nil || err.Error() != row.want {
				t.Errorf("got  %v\nwant %s", err, row.want)
			}
		})
	}
}

func TestErrorTextIsBounded(t *testing.T) {
	c := upstream.New(upstream.Options{HTTP: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, errors.New(strings.Repeat("\n", 1<<20))
	})}})
	_, err := c.Do(t.Context(), request(t, "https://op.example/"+strings.Repeat("a", 100)), upstream.NoRedirects)
	if n := len(err.Error()); n > 1100 {
		t.Errorf("%d bytes", n)
	}
}
