package core

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// TestGuardFailedAnswersItsClient: a browser gets the error page, an API client JSON; both with the reference of the log line.
func TestGuardFailedAnswersItsClient(t *testing.T) {
	auth, err := New(Config{
		URL: "https://app.test", Secrets: []Secret{"a-secret-of-more-than-thirty-two-bytes"}, Pages: PagesConfig{Error: "/oops"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	request := &Request{Method: "GET", Target: "/account", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{"User-Agent": {"Browser/1"}}}
	x := &exchange{Auth: auth, r: request}
	if err := x.open(); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("connection refused")
	for _, row := range []struct {
		name string
		auth *Auth
		page bool
		kind string
	}{
		{"browser", auth, true, "text/html"},
		{"API client", auth, false, "application/json"},
		{"browser, no configuration", nil, true, "text/html"},
		{"API client, no configuration", nil, false, "application/json"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := guardFailed(context.Background(), row.auth, request, row.page, cause)
			if r.Status != http.StatusInternalServerError || r.Redirect != "" || !errors.Is(r.Err, cause) || !strings.HasPrefix(r.Header.Get("Content-Type"), row.kind) {
				t.Errorf("answered %d to %q as %s, %v", r.Status, r.Redirect, r.Header.Get("Content-Type"), r.Err)
			}
			if r.Header.Get("Cache-Control") == "" || strings.Contains(string(r.Body), "refused") {
				t.Errorf("cache control %q, body %s", r.Header.Get("Cache-Control"), r.Body)
			}
			if row.auth != nil && !strings.Contains(string(r.Body), x.ref()) {
				t.Errorf("no %s in %s", x.ref(), r.Body)
			}
		})
	}
}
