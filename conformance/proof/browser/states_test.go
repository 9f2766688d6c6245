package browser_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/webhooks"
	"github.com/latchkey-go/latchkey/providers"
	passwords "github.com/latchkey-go/latchkey/providers/password"
)

// states are pages that users see less often.
var states = []struct {
	name   string
	change func(*core.Config)
	open   func(*visitor)
}{
	{"first", emailFirst, path("/auth/signin")},
	{"second", emailFirst, typesAddress},
	{"sign-up-fields", signUpFields, refusedField},
	{"sent-gmail", nil, func(v *visitor) {
		v.open("/auth/password/forgot")
		v.do(write("input[name=email]", "ada@gmail.com"))
		v.follow(click("button.button"))
		v.do(chromedp.WaitVisible(chromedp.CSS(`a[href="https://mail.google.com/"]`)))
	}},
	{"code", emailCodes, asksForCode},
	{"code-wrong", emailCodes, func(v *visitor) {
		asksForCode(v)
		v.do(write("#input-code", "12345"))
		v.follow(click("form[data-code] button"))
	}},
	{"reauth", nil, func(v *visitor) { v.open("/enter"); v.open("/auth/reauth?callbackUrl=%2Fauth%2Faccount") }},
	{"keys", withKeys, func(v *visitor) { createsKey(v); v.open("/auth/api-keys") }},
	{"keys-new", withKeys, createsKey},
	{"webhooks", withWebhooks, addsEndpoint},
	{"webhooks-endpoint", withWebhooks, failsDelivery},
	{"accounts", withAccounts, addsAccount},
	{"accounts-ended", withAccounts, endsAccount},
	{"accounts-full", withAccounts, fillsAccounts},
	{"accounts-problem", withAccounts, switchesToUnknown},
	{"signin-accounts", withAccounts, choosesAccount},
	{"danger-later", withGrace, func(v *visitor) { v.enters(); v.do(click(deleteOpens)) }},
	{"deletion", withGrace, schedulesDeletion},
	{"keep", withGrace, func(v *visitor) {
		schedulesDeletion(v)
		v.enters()
	}},
	{"error-copy", nil, func(v *visitor) {
		v.open("/auth/callback/github?code=x&state=y")
		v.do(chromedp.WaitVisible(chromedp.CSS(".copy")))
	}},
}

// emailCodes adds a code to sign-in emails.
func emailCodes(c *core.Config) {
	for _, p := range c.Providers {
		if p, ok := p.(*core.EmailProvider); ok {
			p.Code = true
		}
	}
}

func asksForCode(v *visitor) {
	v.open("/auth/signin")
	v.do(write(userField, ada))
	v.follow(click(emailButton))
	v.do(chromedp.WaitVisible(chromedp.CSS("#input-code")))
}

// withKeys adds API keys.
func withKeys(c *core.Config) {
	anyPassword(c)
	c.Plugins = append(c.Plugins,
		apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read", Label: "Read orders"}}}))
}

// enters signs in with anyPassword: a session of "/enter" is not recent enough for changes.
func (v *visitor) enters() {
	v.Helper()
	v.open("/auth/signin?callbackUrl=%2Fauth%2Faccount")
	v.do(write(factorUser, ada), write(factorPass, password))
	v.follow(click(factorSignIn))
}

func createsKey(v *visitor) {
	v.enters()
	v.open("/auth/api-keys")
	v.do(write(`form[action$="/api-keys"] input[name=name]`, "Backup server"), click(`input[name="scope orders:read"]`))
	v.follow(click(`form[action$="/api-keys"] button[type=submit]`))
}

// withWebhooks adds pages for webhooks, with an endpoint that accepts nothing.
func withWebhooks(c *core.Config) {
	anyPassword(c)
	c.Plugins = append(c.Plugins, webhooks.New(webhooks.Options{
		Endpoints: []webhooks.Config{{
			ID: "billing", URL: "http://127.0.0.1:1/a/path/that/is/rather/long/for/a/narrow/screen", Internal: true,
			Events: []string{"user.*", "signin"}, Secrets: []core.Secret{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		}},
		Managers: []core.Guard{func(context.Context, *core.Session) error { return nil }},
	}))
}

func addsEndpoint(v *visitor) {
	v.enters()
	v.open("/auth/webhooks")
	v.do(write(`form[action$="/webhooks"] input[name=url]`, "https://example.com/hooks"),
		write(`form[action$="/webhooks"] input[name=description]`, "Billing"))
	v.follow(click(`form[action$="/webhooks"] button[type=submit]`))
	v.open("/auth/webhooks")
}

func failsDelivery(v *visitor) {
	v.enters()
	v.open("/auth/webhooks?id=billing")
	v.follow(click(`form[action$="/webhooks/test"] button`))
}

// withGrace deletes accounts after two weeks. The user can sign in with a password.
func withGrace(c *core.Config) {
	c.Plugins = []core.Plugin{account.New(account.Options{
		Mail: mailbox.New(), DeleteAfter: 14 * 24 * time.Hour,
		Delete: func(context.Context, *core.User) error { return nil },
	})}
	anyPassword(c)
}

// anyPassword lets every user in the store sign in with any password.
func anyPassword(c *core.Config) {
	store := c.Store
	for i, p := range c.Providers {
		if _, ok := p.(*passwords.Provider); ok {
			c.Providers[i] = providers.Credentials(
				func(ctx context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
					return store.UserByEmail(ctx, form["email"])
				})
		}
	}
}

func schedulesDeletion(v *visitor) {
	v.enters()
	v.do(click(deleteOpens), write(deletePhrase, "delete my account"))
	v.follow(click(`form[action$="/account/delete"] button`))
}

// maxPage is the maximum size of a page in bytes, without its stylesheet and script.
const maxPage = 16 << 10

// TestStates opens pages of less frequent states in light and dark mode, in German and in Arabic, on a large screen and
// on a phone. No page may be wider than its window or larger than 16 kB, and axe must find nothing. Unless it saves
// pictures, it opens every second state in German and the others in Arabic, which takes less time.
func TestStates(t *testing.T) {
	all := os.Getenv("LATCHKEY_SCREENSHOTS") != ""
	for i, look := range []struct {
		name, language string
		width          int64
		scheme         string
	}{
		{"", "en", 1280, lightAndDark},
		{"-phone", "de", 390, "dark"},
		{"-arabic", "ar", 390, "light"},
	} {
		for j, s := range states {
			if look.width < 400 && !all && i%2 == j%2 {
				continue
			}
			t.Run(s.name+look.name, func(t *testing.T) {
				v := visit(t, serveLanguages(t, ada, s.change))
				v.looks(look.language, look.scheme, look.width, 800)
				s.open(v)
				v.fits()
				v.kept("state-" + s.name + look.name)
			})
		}
	}
}

// fits checks that the page is not wider than its window and has at most maxPage bytes.
func (v *visitor) fits() {
	v.Helper()
	if wide := run(v, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`)); wide > 0 {
		v.Errorf("%d px wider than its window", wide)
	}
	// The size of the response, which does not have what scripts add.
	size := run(v, chromedp.Evaluate[int](`performance.getEntriesByType("navigation")[0].decodedBodySize`))
	if size == 0 || size > maxPage {
		v.Errorf("the page has %d bytes", size)
	}
}

// TestCodeIsSubmitted: a code that is typed or pasted with spaces is sent as soon as it has six digits, and not before.
// Without JavaScript the button sends it.
func TestCodeIsSubmitted(t *testing.T) {
	sent := `document.querySelector("#input-code").getAttribute("aria-invalid") === "true"`
	open := func(t *testing.T) *visitor {
		t.Helper()
		v := visit(t, serveLanguages(t, ada, emailCodes))
		asksForCode(v)
		return v
	}
	t.Run("typed", func(t *testing.T) {
		v := open(t)
		v.do(click("#input-code"), press("00000"))
		if run(v, chromedp.Evaluate[bool](sent)) {
			t.Error("five digits were sent")
		}
		v.follow(press("0"))
		v.becomes(sent)
	})
	t.Run("pasted with spaces", func(t *testing.T) {
		v := open(t)
		v.follow(chromedp.Evaluate[chromedp.Void](`void (() => {
			document.querySelector("#input-code").focus();
			document.execCommand("insertText", false, " 000 000 ");
		})()`))
		v.becomes(sent)
	})
	t.Run("without JavaScript", func(t *testing.T) {
		v := visit(t, serveLanguages(t, ada, emailCodes))
		v.scriptless()
		v.do(chromedp.Navigate(v.site + "/auth/signin"))
		v.do(chromedp.WaitVisible(chromedp.CSS(userField)), write(userField, ada))
		v.follow(click(emailButton))
		v.do(chromedp.WaitVisible(chromedp.CSS("#input-code")), write("#input-code", "000 000"))
		v.follow(click("form[data-code] button"))
		v.do(chromedp.WaitVisible(chromedp.CSS("#input-code[aria-invalid=true]")))
	})
}

// TestCopiedReference: the button copies the reference code of an error.
func TestCopiedReference(t *testing.T) {
	v := visit(t, serveLanguages(t, ada, nil))
	v.open("/auth/callback/github?code=x&state=y")
	v.do(chromedp.Evaluate[chromedp.Void](
		`void (navigator.clipboard.writeText = async (text) => { window.copied = text; })`),
		click(".copy"))
	v.becomes(`document.querySelector(".copy").innerText === "Copied" &&
		window.copied === document.querySelector(".reference code").innerText && window.copied !== ""`)
}

// TestCurrentTab: the navigation of the account page marks the section that the user opened or scrolled to, with and
// without JavaScript.
func TestCurrentTab(t *testing.T) {
	v := visit(t, serveLanguages(t, ada, nil))
	v.looks("en", "light", 1280, 500)
	v.open("/enter")
	current := func(id string) {
		t.Helper()
		v.becomes(`[...document.querySelectorAll(".tabs [aria-current]")].map(a => a.hash).join() === ` + quote("#"+id))
	}
	current("profile")
	v.do(click(`.tabs [href="#sessions"]`))
	current("sessions")
	v.do(chromedp.Evaluate[chromedp.Void](`void scrollTo(0, 1e6)`))
	v.do(chromedp.Evaluate[chromedp.Void](`void scrollTo(0, 0)`))
	current("profile")

	v.scriptless()
	v.do(chromedp.Navigate(v.site + "/auth/account#methods"))
	v.do(chromedp.WaitVisible(chromedp.CSS(`.tabs [href="#methods"]`)))
}
