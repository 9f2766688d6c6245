package core_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestPublicPath tests an application that a proxy shows under /app: requests arrive without that prefix, and every URL
// for a browser or a provider has it.
func TestPublicPath(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		config core.Config
	}{
		{"with the path of the URL", core.Config{URL: "https://app.test/app/auth", PublicPath: "/app"}},
		{"with a base path", core.Config{URL: "https://app.test", BasePath: "/auth", PublicPath: "/app/"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.config.Providers = []core.Provider{passwords(), plainOAuth()}
			a := newApp(t, row.config)
			b := visit(t, a)
			got := string(b.get("/auth/providers").Body)
			if !strings.Contains(got, `"https://app.test/app/auth/signin/plain"`) ||
				!strings.Contains(got, `"https://app.test/app/auth/callback/plain"`) {
				t.Errorf("the providers are %s", got)
			}
			page := string(b.get("/auth/signin").Body)
			if !strings.Contains(page, `action="https://app.test/app/auth/callback/credentials"`) ||
				strings.Contains(page, `"https://app.test/auth`) {
				t.Errorf("the forms lead elsewhere: %s", page)
			}
			u, err := url.Parse(b.submit("/auth/signin/plain", nil).Redirect)
			if err != nil || u.Query().Get("redirect_uri") != "https://app.test/app/auth/callback/plain" {
				t.Errorf("the provider receives %v, %v", u, err)
			}
			r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
			if r.Redirect != "https://app.test/app/" {
				t.Errorf("a sign-in redirects to %q", r.Redirect)
			}
			r = b.submit("/auth/signout", url.Values{"callbackUrl": {"https://evil.example/"}})
			if r.Redirect != "https://app.test/app/" {
				t.Errorf("a foreign address redirects to %q", r.Redirect)
			}
			r = b.submit("/auth/callback/credentials", url.Values{"password": {"wrong"}})
			if !strings.HasPrefix(r.Redirect, "https://app.test/app/auth/signin?") {
				t.Errorf("a failure redirects to %q", r.Redirect)
			}
			_, refusal := a.Visit(t.Context(), visit(t, a).pageRequest()).Require()
			if refusal.Redirect != "https://app.test/app/auth/signin?error=SessionRequired&callbackUrl=%2Fapp%2Fpage%3Fx%3D1" {
				t.Errorf("the guard redirects to %q", refusal.Redirect)
			}
			form := b.request("POST", "/signout", "application/x-www-form-urlencoded",
				url.Values{"csrfToken": {b.csrf()}}.Encode())
			if r := a.SignOut(t.Context(), form); r.Redirect != "https://app.test/app/" {
				t.Errorf("the form action redirects to %q", r.Redirect)
			}
		})
	}
}
