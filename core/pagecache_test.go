package core_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

var pageNonce = regexp.MustCompile(`nonce="([^"]+)"`)

// TestSignInPageFromTheCache compares a cached page with one that is rendered for the request.
func TestSignInPageFromTheCache(t *testing.T) {
	t.Parallel()
	config := core.Config{Providers: []core.Provider{passwords(), (&service{}).provider("op")}, TrustHost: core.True}
	cached := newApp(t, config)
	config.Views.SignIn = ui.SignInPage // the built-in page as a view of the application is never cached
	fresh := newApp(t, config)
	neutral := func(a *app, origin string) (page, nonce, token string) {
		b := visit(t, a)
		b.origin = origin
		token = b.csrf()
		r := b.get("/auth/signin")
		page = string(r.Body)
		nonce = pageNonce.FindStringSubmatch(page)[1]
		if r.Status != 200 || !strings.Contains(r.Header.Get("Content-Security-Policy"), "'nonce-"+nonce+"'") ||
			strings.Count(page, token) < 2 {
			t.Errorf("%s: %d, policy %q, token %d times", origin, r.Status,
				r.Header.Get("Content-Security-Policy"), strings.Count(page, token))
		}
		return strings.ReplaceAll(strings.ReplaceAll(page, nonce, "NONCE"), token, "TOKEN"), nonce, token
	}
	seen := map[string]bool{}
	for i := range 40 {
		origin := fmt.Sprintf("https://host-%d.test", i%20) // more than are kept
		want, _, _ := neutral(fresh, origin)
		got, nonce, token := neutral(cached, origin)
		if got != want {
			t.Fatalf("%s: another page\n%s\n%s", origin, got, want)
		}
		if seen[nonce] || seen[token] {
			t.Errorf("%s: nonce or token of an earlier visit", origin)
		}
		seen[nonce], seen[token] = true, true
	}
	b := visit(t, cached)
	plain := len(b.get("/auth/signin").Body)
	for _, query := range []string{"?error=CredentialsSignin", "?callbackUrl=%2Flong-path-of-the-application"} {
		if got := len(b.get("/auth/signin" + query).Body); got == plain {
			t.Errorf("%s makes no difference", query)
		}
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			b := visit(t, cached)
			b.origin = "https://together.test"
			if b.get("/auth/signin").Status != 200 {
				t.Error("no page")
			}
		})
	}
	all.Wait()
}
