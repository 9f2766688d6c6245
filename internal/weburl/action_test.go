package weburl_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

func TestAction(t *testing.T) {
	t.Parallel()
	tests := []struct{ target, base, action, provider string }{
		{"/auth/signin/github?callbackUrl=/x", "/auth", "signin", "github"},
		{"/auth///signin//github//", "/auth", "signin", "github"},
		{"/session", "", "session", ""},
		{"/auth/x/../session", "/auth", "session", ""}, // recorded: the client's URL parser resolves it
		{"/auth/./session", "/auth", "session", ""},
		{"/auth/session/.", "/auth", "session", ""},
		{"/auth/session?x#y", "/auth", "", ""},
		{"http://app.example/auth/session", "/auth", "session", ""},
		{"/auth/callback/undefined", "/auth", "callback", ""},
		{"/auth/error", "/auth", "error", ""},
		{"/auth/verify-request", "/auth", "verify-request", ""},
		{"/auth/providers", "/auth", "providers", ""},
		{"/auth/csrf", "/auth", "csrf", ""},

		{"/authsession", "/auth", "", ""},          // recorded as session: basepath-no-boundary
		{"/apixauth/session", "/api.auth", "", ""}, // recorded as session: basepath-regex
		{"", "/auth", "", ""}, {"", "", "", ""}, {"/", "", "", ""}, {"*", "", "", ""},
		{"/auth/../auth/session", "/auth", "", ""},
		{"/auth/x//../session", "/auth", "", ""},
		{"/auth/x/%2e%2e/session", "/auth", "", ""},
		{"/auth/signin/..%2f", "/auth", "signin", "..%2f"}, // an unknown provider, undecoded
		{"//session", "", "", ""},
		{"/auth/sessión", "/auth", "", ""},
		{"/auth/session ", "/auth", "", ""},
		{"http:/auth/session", "/auth", "", ""},
		{"http://evil.example", "", "", ""},
		{"?x", "", "", ""},
	}
	for _, tt := range tests {
		action, provider, ok := weburl.Action(tt.target, tt.base)
		if action != tt.action || provider != tt.provider || ok != (tt.action != "") {
			t.Errorf("Action(%q, %q) = %q, %q, %v; want %q, %q", tt.target, tt.base, action,
				provider, ok, tt.action, tt.provider)
		}
	}
}

func TestSplitTarget(t *testing.T) {
	t.Parallel()
	tests := []struct{ target, authority, path, query string }{
		{"/a/b?c=d?e", "", "/a/b", "c=d?e"},
		{"/a?u=http://x/y", "", "/a", "u=http://x/y"},
		{"http://evil.example/a?b", "evil.example", "/a", "b"},
		{"http://u@evil.example:80", "u@evil.example:80", "", ""},
		{"*", "", "*", ""},
		{"", "", "", ""},
	}
	for _, tt := range tests {
		authority, path, query := weburl.SplitTarget(tt.target)
		if authority != tt.authority || path != tt.path || query != tt.query {
			t.Errorf("SplitTarget(%q) = %q, %q, %q", tt.target, authority, path, query)
		}
	}
}

func TestCleanBasePath(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"/auth": "/auth", "auth": "/auth", "/auth/": "/auth", "//api//auth//": "/api/auth", "/api.auth": "/api.auth", "": "",
		"/": "",
	} {
		if got, err := weburl.CleanBasePath(raw); got != want || err != nil {
			t.Errorf("CleanBasePath(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{
		"/a/../b", "/.", "/%61uth", "/a b", "/a?b", "/a#b", `/a\b`, "/ä", "/a\n", "/:id", "/a*", "/{x}", "/%2e",
	} {
		if got, err := weburl.CleanBasePath(raw); err == nil {
			t.Errorf("CleanBasePath(%q) = %q, want an error", raw, got)
		}
	}
}

func TestBasePathRecorded(t *testing.T) {
	t.Parallel()
	var vectors []struct{ BasePath, Action, Result string }
	load(t, "vectors.json", "url-env.base-path", &vectors)
	for _, v := range vectors {
		base, err := weburl.CleanBasePath(v.BasePath)
		// base-path-trailing-slash: the root gives one slash, not two.
		want := strings.Replace(v.Result, "test//", "test/", 1)
		if got := "https://app.test" + base + "/" + v.Action; err != nil || got != want {
			t.Errorf("base path %q: %s, %v, want %s", v.BasePath, got, err, want)
		}
	}
}
