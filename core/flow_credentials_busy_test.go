package core_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestAuthorizeThatIsBusy has Authorize ask for patience: no refusal, and nothing that counts as one.
func TestAuthorizeThatIsBusy(t *testing.T) {
	t.Parallel()
	busy := &core.Problem{Status: http.StatusServiceUnavailable, Code: "busy", RetryAfter: 2500 * time.Millisecond}
	a := newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
		Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, busy },
	}}})
	for accept, contentType := range map[string]string{
		"text/html": "text/html", "application/json": "application/problem+json",
	} {
		b := visit(t, a)
		b.header.Set("Accept", accept)
		r := b.submit("/auth/callback/credentials", url.Values{"name": {"ada"}})
		if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "3" || r.Redirect != "" ||
			!strings.HasPrefix(r.Header.Get("Content-Type"), contentType) {
			t.Errorf("%s: answered %d, %v", accept, r.Status, r.Header)
		}
	}
}

// TestProblemThatEnds has an action say when to come back.
func TestProblemThatEnds(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Parts: []core.Part{answers(core.Action{Method: "GET", Name: "toy",
		Handle: func(context.Context, *core.Call) (*core.Response, error) {
			return nil, &core.Problem{Status: http.StatusServiceUnavailable, Code: "busy", RetryAfter: time.Second}
		}})}})
	for _, accept := range []string{"text/html", "application/json"} {
		b := visit(t, a)
		b.header.Set("Accept", accept)
		r := b.get("/auth/toy")
		if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: answered %d, %v", accept, r.Status, r.Header)
		}
	}
}

// TestLinksOfACredentialsForm shows them on the sign-in page, behind the base path.
func TestLinksOfACredentialsForm(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
		Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		Links:     []ui.Link{{Label: "Forgot <it>?", Action: "toy/forgot"}},
	}}})
	b := visit(t, a)
	b.header.Set("Accept", "text/html")
	page := string(b.get("/auth/signin").Body)
	if !strings.Contains(page, `href="/auth/toy/forgot"`) || !strings.Contains(page, "Forgot &lt;it&gt;?") {
		t.Errorf("the page has no link: %s", page)
	}
}
