package browser_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/providers"
	passwords "github.com/latchkey-go/latchkey/providers/password"
)

// TestUsernamePages opens the pages with a username in every look.
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
	for _, row := range everyLook() {
		t.Run(row.tag, func(t *testing.T) {
			v := visit(t, site)
			v.looks(row.tag, row.scheme, row.width, row.height)
			check := func(path string) {
				t.Helper()
				v.open(path)
				v.shows(row, path)
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

// TestUsernameAlonePages signs up without an address in every look, saves the recovery codes, creates new ones and uses
// one.
func TestUsernameAlonePages(t *testing.T) {
	site := serveLanguages(t, ada, func(c *core.Config) {
		for i, p := range c.Providers {
			if _, ok := p.(*passwords.Provider); ok {
				c.Providers[i] = passwords.New(passwords.Options{
					Mail: mailbox.New(), Usernames: passwords.Usernames{On: true, Alone: true},
				})
			}
		}
	})
	for i, row := range everyLook() {
		t.Run(row.tag, func(t *testing.T) {
			v := visit(t, site)
			v.looks(row.tag, row.scheme, row.width, row.height)
			shown := func(where string) {
				t.Helper()
				v.shows(row, where)
			}
			check := func(path string) {
				t.Helper()
				v.open(path)
				shown(path)
			}
			const (
				username  = `input[name=username]`
				secret    = `input[name=password]`
				renew     = `form[action$="/password/recovery-codes"] button[type=submit]`
				useCode   = `form[action$="/password/recover"] button[type=submit]`
				empty     = `document.querySelector("input[name=username]").value = ""`
				firstCode = `(document.getElementById("recovery-codes")?.textContent ?? "").split("\n")[0]`
			)
			name := "user-" + string(rune('a'+i)) + "b"
			v.open("/auth/password/sign-up?callbackUrl=%2Fauth%2Faccount")
			shown("sign-up")
			v.do(write(username, "a b"), write(secret, password))
			v.follow(click(`form[action$="/password/sign-up"] button[type=submit]`))
			shown("sign-up, refused")
			run(v, chromedp.Evaluate[string](empty))
			v.do(write(username, name), write(secret, password))
			v.follow(click(`form[action$="/password/sign-up"] button[type=submit]`))
			shown("codes")
			if code := run(v, chromedp.Evaluate[string](firstCode)); len(code) != 19 {
				t.Fatalf("the first code is %q", code)
			}
			check("/auth/account")
			check("/auth/password/recovery-codes")
			v.follow(click(renew))
			shown("new codes")
			code := run(v, chromedp.Evaluate[string](firstCode))
			check("/auth/password/forgot")
			check("/auth/password/recover")
			fill := func(code string) {
				run(v, chromedp.Evaluate[string](empty))
				v.do(write(username, name), write(`input[name=code]`, code), write(`input[name=newPassword]`, password+" 2"))
				v.follow(click(useCode))
			}
			fill("3AAA-AAAA-AAAA-AAAA")
			shown("recover, refused")
			fill(code)
			shown("recovered")
		})
	}
}
