package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

func TestPages(t *testing.T) {
	a := start(t, "stdlib")

	t.Run("a wrong password is refused and says so", func(t *testing.T) {
		v := visit(t, a)
		v.open("/auth/signin")
		v.do(chromedp.SendKeys(`form[action$="/callback/credentials"] input[name=email]`, "demo@example.com"),
			chromedp.SendKeys(`input[name=password]`, "wrong"), click(`form[action$="/callback/credentials"] button`))
		v.do(chromedp.WaitVisible(`[role=alert]`))
		v.picture("signin-error")
		if body := v.body("/auth/session"); body != "null" {
			v.Errorf("session %s", body)
		}
	})

	t.Run("cancelling at the provider leads back to the sign-in page", func(t *testing.T) {
		v := visit(t, a)
		v.open("/auth/signin")
		v.do(click(`form[action$="/signin/dev"] button`), click("button.cancel"))
		v.do(chromedp.WaitVisible(`[role=alert]`))
	})

	t.Run("a link works once", func(t *testing.T) {
		v := visit(t, a)
		v.open("/auth/signin")
		v.do(chromedp.SendKeys(`form[action$="/signin/email"] input[name=email]`, "once@example.com"), click(`form[action$="/signin/email"] button`))
		v.sees("Check your email")
		v.open("/mailbox")
		link := v.eval(`document.querySelector("a.button").href`)
		v.do(chromedp.Navigate(link))
		v.sees("Hello, once@example.com")
		w := visit(t, a)
		w.do(chromedp.Navigate(link))
		w.sees("was used before or has expired")
		w.picture("error-verification")
	})

	t.Run("with the keyboard alone", func(t *testing.T) {
		v := visit(t, a)
		v.open("/auth/signin")
		v.do(chromedp.Focus(`form[action$="/callback/credentials"] input[name=email]`),
			chromedp.KeyEvent("demo@example.com"), chromedp.KeyEvent("\t"), chromedp.KeyEvent("demo"), chromedp.KeyEvent("\r"))
		v.sees("Hello, Demo User")
	})

	t.Run("without JavaScript", func(t *testing.T) {
		v := visit(t, a)
		if _, err := chromedp.Call(v.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
			t.Fatal(err)
		}
		v.open("/auth/signin")
		v.do(chromedp.SendKeys(`form[action$="/callback/credentials"] input[name=email]`, "demo@example.com"),
			chromedp.SendKeys(`input[name=password]`, "demo"), click(`form[action$="/callback/credentials"] button`), chromedp.WaitVisible("button.latchkey-signout"))
	})

	t.Run("looks", func(t *testing.T) {
		v := visit(t, a)
		for _, look := range []struct {
			name, scheme string
			width        int64
		}{{"light", "light", 1000}, {"dark", "dark", 1000}, {"narrow", "light", 320}} {
			_, err := chromedp.Call(v.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}},
			})
			if err != nil {
				t.Fatal(err)
			}
			v.do(chromedp.EmulateViewport(look.width, 800))
			for name, path := range map[string]string{
				"signin": "/auth/signin?callbackUrl=%2Faccount", "signout": "/auth/signout", "error": "/auth/error?error=AccessDenied",
				"error-configuration": "/auth/error?error=Configuration", "verify-request": "/auth/verify-request", "home": "/", "mailbox": "/mailbox",
			} {
				v.open(path)
				v.picture("look-" + look.name + "-" + name)
				if wide := v.eval(`String(document.documentElement.scrollWidth > innerWidth)`); wide == "true" {
					t.Errorf("%s: %s is wider than the window", look.name, path)
				}
			}
		}
	})
}
