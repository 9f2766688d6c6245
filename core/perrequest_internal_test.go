package core

import (
	"context"
	"log/slog"
	"testing"
)

// TestPerRequestMemoryIsBounded returns a new Auth for each request, like an application that creates one each time.
func TestPerRequestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	made, err := New(Config{
		URL: "https://app.test", Secrets: []Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &chooser{basePath: "/auth", choose: func(context.Context, *Request) (*Auth, error) {
		return &Auth{site: made.site, sessions: made.sessions, log: made.log}, nil
	}}
	for range 2 * maxKnown {
		if _, err := c.resolve(t.Context(), &Request{}); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	c.known.Range(func(_, _ any) bool { kept++; return true })
	if kept != maxKnown {
		t.Errorf("%d Auths are remembered, want %d", kept, maxKnown)
	}
}
