package browser_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/plugins/multisession"
	"github.com/latchkey-go/latchkey/plugins/onetap"
	"github.com/latchkey-go/latchkey/providers"
	passwords "github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// pageLook is a language, a color scheme and a window size.
type pageLook struct {
	tag, scheme   string
	width, height int64
	axe           bool // the other looks differ only in the language
}

// everyLook returns English on a desktop, German in dark colors and Arabic on a phone, and the other languages on a
// phone.
func everyLook() []pageLook {
	all := []pageLook{
		{"en", "light", 1280, 800, true}, {"de", "dark", 320, 640, true}, {"ar", "light", 320, 640, true},
	}
	for _, l := range locales.All() {
		if !strings.Contains("en de ar", l.Tag) {
			all = append(all, pageLook{l.Tag, "light", 320, 640, false})
		}
	}
	return all
}

// shows checks that the page has the direction of its language, is not wider than its window or larger than maxPage,
// and that axe finds nothing.
func (v *visitor) shows(l pageLook, page string) {
	v.Helper()
	if rtl := run(v, chromedp.Evaluate[bool](`document.dir === "rtl"`)); rtl != (l.tag == "ar") {
		v.Errorf("%s: right to left: %t", page, rtl)
	}
	v.fits()
	if l.axe {
		v.accessible(page)
	}
	v.picture(strings.NewReplacer("/", "-", " ", "-").Replace(page) + "-" + l.tag)
}

// serveSignIns serves an application with everything that a sign-in page can have: OAuth, One Tap, passkeys with a
// sign-up, passwords of users without an address, email links, guests and several accounts.
func serveSignIns(
	t *testing.T, service *tapService, change func(*core.Config),
) (site string, box *mailbox.Mailbox) {
	t.Helper()
	site = serveLanguages(t, ada, func(c *core.Config) {
		box = passkeySignUps(c)
		for i, p := range c.Providers {
			if _, ok := p.(*passwords.Provider); ok {
				c.Providers[i] = passwords.New(passwords.Options{
					Mail: box, Usernames: passwords.Usernames{On: true, Alone: true},
				})
			}
		}
		change(c)
		c.Providers = append(c.Providers, providers.OIDC("dev", service.provider.Issuer(), providers.Options{
			ClientID: service.provider.ClientID(), ClientSecret: core.Secret(service.provider.ClientSecret()),
		}))
		c.Plugins = append(c.Plugins, guest.New(guest.Options{}), multisession.New(),
			onetap.New(onetap.Options{Provider: "dev", Library: service.url + "/gsi/client"}))
	})
	return site, box
}

const aloneForm = `form[action$="/password/sign-up"] `

// signsUpAlone creates an account without an address, and saves its recovery codes.
func (v *visitor) signsUpAlone(name string) {
	v.Helper()
	v.open("/auth/password/sign-up")
	v.do(write(aloneForm+"input[name=username]", name), write(aloneForm+"input[name=password]", password))
	v.follow(click(aloneForm + "button[type=submit]"))
	v.do(chromedp.WaitVisible(chromedp.CSS("#recovery-codes")))
}

// keepsAccount signs up a user without an address, and starts to add another account. The sign-in page has the link to
// the accounts.
func (v *visitor) keepsAccount(name string) {
	v.Helper()
	v.signsUpAlone(name)
	v.open("/auth/accounts")
	v.follow(click(`form[action$="/accounts/add"] button`))
	v.do(chromedp.WaitVisible(chromedp.CSS(`a[href$="/auth/accounts"]`)))
}

// prompted waits for the prompt of One Tap, checks the page with it, and removes it: axe does not support the
// stylesheet of another site.
func (v *visitor) prompted() {
	v.Helper()
	v.do(chromedp.WaitVisible("#credential_picker"))
	v.fits()
	v.do(chromedp.Evaluate[chromedp.Void](tapRemoved))
}

// TestSignInPages opens the sign-in page with One Tap, the button for guests and the link to the accounts of the
// browser in every look.
func TestSignInPages(t *testing.T) {
	site, _ := serveSignIns(t, newTapService(t), func(*core.Config) {})
	for _, row := range everyLook() {
		t.Run(row.tag, func(t *testing.T) {
			v := visit(t, site)
			v.looks(row.tag, row.scheme, row.width, row.height)
			v.open("/auth/signin")
			v.prompted()
			v.do(chromedp.WaitVisible(chromedp.CSS(guestButton)))
			v.shows(row, "signin-all")
			v.open("/auth/signin?error=CredentialsSignin")
			v.prompted()
			v.shows(row, "signin-all-error")
			v.keepsAccount("user." + strings.ToLower(row.tag))
			v.prompted()
			v.shows(row, "signin-all-accounts")
			v.open("/auth/accounts")
			v.shows(row, "accounts-unnamed")
			v.open("/auth/signin")
			v.prompted()
			v.follow(click(guestButton))
			v.open("/auth/signin")
			v.prompted()
			v.shows(row, "signin-all-guest")
		})
	}
}

// TestLayoutShiftOfSignIns is TestLayoutShift for the same page, and for the pages of users without an address and of a
// sign-up with a passkey.
func TestLayoutShiftOfSignIns(t *testing.T) {
	site, box := serveSignIns(t, newTapService(t), func(c *core.Config) {
		// its request would go to the site, not to the proxy
		c.Providers[2].(*webauthn.SignUp).ConditionalCreate = core.False
	})
	origin, hold := slowScript(t, site)
	v := visit(t, site)
	s := newSteady(v, hold)
	still := func(paths ...string) {
		t.Helper()
		v.site = origin // the cookies are those of all ports of the host
		for _, path := range paths {
			s.still(path)
		}
		v.site = site
	}
	still("/auth/signin", "/auth/password/sign-up", "/auth/password/forgot", "/auth/password/recover",
		"/auth/passkey/sign-up")
	mail := asksForPasskey(v, box, bob)
	link, err := url.Parse(mail.URL)
	if err != nil {
		t.Fatal(err)
	}
	still("/auth/passkey/sent", link.RequestURI())
	v.keepsAccount("kept.user")
	still("/auth/signin", "/auth/accounts")
	v.signsUpAlone("other.user")
	still("/auth/account", "/auth/accounts", "/auth/password/recovery-codes", "/auth/password/username")
}
