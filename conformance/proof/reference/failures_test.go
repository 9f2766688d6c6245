package reference

import (
	"context"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// protocol returns a part of docs/protocol.md as one line.
func protocol(t *testing.T, from, to string) string {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(raw), from)
	text, _, ended := strings.Cut(text, to)
	if !found || !ended {
		t.Fatalf("docs/protocol.md has nothing between %q and %q", from, to)
	}
	return strings.Join(strings.Fields(text), " ")
}

func inCode(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(text, -1) {
		all[m[1]] = true
	}
	return all
}

// TestErrorsThatBrowsersSee fails with every error type. It compares the names in responses, and the names that
// redirect to the sign-in page, with docs/protocol.md §11.1 and §11.2.
func TestErrorsThatBrowsersSee(t *testing.T) {
	t.Parallel()
	told, again := map[string]bool{}, map[string]bool{}
	for _, class := range classes(t) {
		s := open(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
			SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) {
				return core.Allow(), core.NewError(class, nil)
			},
		}})
		to, err := url.Parse(s.signIn().Redirect)
		if err != nil {
			t.Fatal(err)
		}
		name := to.Query().Get("error")
		if name != "" {
			told[name] = true
		}
		if to.Path == "/auth/signin" {
			again[name] = true
		}
	}
	says := inCode(protocol(t, "### §11.1 Errors that browsers see", "Every other class"))
	if !maps.Equal(says, without(told)) {
		t.Errorf("docs/protocol.md §11.1 says %v, browsers get %v", names(says), names(without(told)))
	}
	if says := inCode(protocol(t, "\nA: ", ", and a profile")); !maps.Equal(says, without(again)) {
		t.Errorf("docs/protocol.md §11.2 says %v, to the sign-in page lead %v", names(says), names(again))
	}
	const silent = "An OAuth 1.0a sign-in that cannot start redirects there too, with `Configuration`."
	if says := strings.Contains(protocol(t, "\nA: ", "Error page:"), silent); says != again["Configuration"] {
		t.Errorf("docs/protocol.md §11.2 says that `Configuration` leads to the sign-in page: %t, it does: %t", says, !says)
	}
}

func names(all map[string]bool) []string { return slices.Sorted(maps.Keys(all)) }

// without removes the name that represents all other error types.
func without(told map[string]bool) map[string]bool {
	told = maps.Clone(told)
	delete(told, "Configuration")
	return told
}

// TestFailureStatuses causes the failures in the table of docs/protocol.md §11.2.
func TestFailureStatuses(t *testing.T) {
	t.Parallel()
	table := protocol(t, "### §11.2 Which page, which status", "\nA: ")
	waits := core.Callbacks{
		Limit: func(context.Context, core.LimitParams) (time.Duration, error) { return time.Minute, nil },
	}
	config := core.Config{Providers: []core.Provider{passwords()}}
	limited := core.Config{Providers: []core.Provider{passwords()}, Callbacks: waits}
	for row, holds := range map[string]bool{
		"400 `\"Bad request.\"`; too large: 413": is(open(t, config).ask("GET", "/auth/nope", nil), 400, `"Bad request."`) &&
			is(open(t, config).ask("POST", "/auth/signout", url.Values{"a": {strings.Repeat("x", 1<<20)}}), 413, ""),
		"| `POST session` | 400 `null` |": is(open(t, config).ask("POST", "/auth/session", url.Values{}), 400, "null"),
		"`InvalidCallbackUrl`":            is(open(t, config).ask("GET", "/auth/session?callbackUrl=ftp:x", nil), 500, ""),
		"`UntrustedHost`": is(open(t, core.Config{TrustHost: core.False}).ask("GET", "/auth/session", nil), 500, "") ||
			is(open(t, core.Config{Getenv: func(string) string { return "" }}).ask("GET", "/auth/session", nil), 500, ""),
		"429 with `Retry-After`": is(open(t, limited).signIn(), 429, "") &&
			open(t, limited).signIn().Header.Get("Retry-After") == "60",
	} {
		if !strings.Contains(table, row) {
			t.Errorf("docs/protocol.md §11.2 does not say %s", row)
		}
		if !holds {
			t.Errorf("%s is not what comes", row)
		}
	}
}

func is(r *core.Response, status int, body string) bool {
	return r.Status == status && (body == "" || string(r.Body) == body)
}
