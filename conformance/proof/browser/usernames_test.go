package browser_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/providers"
	passwords "github.com/latchkey-go/latchkey/providers/password"
)

// TestUsernamePages opens the pages with a username on a desktop, and on a phone in German and Arabic. Everything must
// be accessible and on the screen.
func TestUsernamePages(t *testing.T) {
	site := serveLanguages(t, ada, func(c *core.Config) {
		users, box := c.Store, mailbox.New()
		for i, p := range c.Providers {
			if _, ok := p.(*passwords.Provider); ok {
				c.Providers[i] = passwords.New(passwords.Options{Mail: box, Usernames: passwords.Usernames{On: true}})
			}
		}
		c.Providers = append(c.Providers, providers.Credentials(
			func(ctx context.Context, _ map[string]string, _ *core.Request) (*core.User, error) {
				return users.User(ctx, "ada")
			},
		))
	})
	for _, row := range []struct {
		tag, scheme   string
		width, height int64
	}{{"en", "light", 1280, 800}, {"de", "dark", 320, 640}, {"ar", "light", 320, 640}} {
		t.Run(row.tag, func(t *testing.T) {
			v := visit(t, site)
			v.do(chromedp.EmulateViewport(row.width, row.height))
			call(v, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
				UserAgent: chromeOnLinux, AcceptLanguage: row.tag,
			})
			call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: row.scheme}},
			})
			check := func(path string) {
				t.Helper()
				v.open(path)
				v.accessible(path)
				const wide = `document.documentElement.scrollWidth > innerWidth ? "wider than the screen" : ""`
				if found := run(v, chromedp.Evaluate[string](wide)); found != "" {
					t.Errorf("%s: %s", path, found)
				}
			}
			check("/auth/signin")
			check("/auth/password/sign-up")
			v.open("/auth/signin?callbackUrl=%2Fauth%2Faccount")
			v.do(write(factorUser, ada), write(factorPass, password))
			v.follow(click(factorSignIn))
			for _, path := range []string{"/auth/account", "/auth/password/username", "/auth/password/username?error=taken"} {
				check(path)
			}
		})
	}
}
