package browser_test

import (
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// looks are the window sizes, color schemes and directions. The last ones are used for few pages, which contain every
// element.
var looks = []struct {
	name, scheme, dir string
	width, height     int64
}{
	{"light", "light", "", 1000, 760},
	{"dark", "dark", "", 1000, 760},
	{"320px", "light", "", 320, 640}, // WCAG 2.2 criterion 1.4.10
	{"rtl", "light", "rtl", 320, 640},
	{"zoom", "dark", "", 500, 380}, // a window of 1000 pixels at 200 %, criterion 1.4.4
}

var few = []string{"signin", "signin-error", "verify-request", "error-configuration", "own-account", "signed-in-signin"}

// pages are all pages of the application and of the services around it, in the order in which a user opens them.
var pages = []struct {
	name string
	open func(*visitor)
}{
	{"home", path("/")},
	{"signin", path("/auth/signin?callbackUrl=%2Faccount")},
	{"signin-error", path("/auth/signin?error=CredentialsSignin")},
	{"sign-up", path("/auth/password/sign-up")},
	{"sign-up-refused", func(v *visitor) {
		v.open("/auth/password/sign-up")
		v.do(write("input[name=email]", "new@example.com"), write("input[name=password]", "short"))
		v.follow(press("\r"))
	}},
	{"forgot", path("/auth/password/forgot")},
	{"provider", func(v *visitor) { v.open("/auth/signin"); v.follow(click(devButton)) }},
	{"verify-request", func(v *visitor) {
		v.open("/auth/signin")
		v.do(write(emailField, "ada@example.com"))
		v.follow(click(emailButton))
	}},
	{"mailbox", path("/mailbox")},
	{"error", path("/auth/error")},
	{"error-configuration", path("/auth/error?error=Configuration")},
	{"error-access-denied", path("/auth/error?error=AccessDenied")},
	{"error-verification", path("/auth/error?error=Verification")},
	{"signed-in-home", func(v *visitor) { v.open("/auth/signin"); byCredentials(v); v.open("/") }},
	{"signed-in-account", path("/account")},
	{"change", path("/auth/password/change")},
	{"signed-in-signin", path("/auth/signin")},
	{"own-account", path("/auth/account")},
	{"own-account-opened", func(v *visitor) { v.open("/auth/account"); v.do(click(deleteOpens)) }},
	{"own-account-refused", func(v *visitor) {
		v.open("/auth/account")
		v.do(click(emailOpens), write(newAddress, "demo@example.com"))
		v.follow(click(changeButton))
	}},
	{"own-account-asked", func(v *visitor) {
		v.open("/auth/account")
		v.do(click(emailOpens), write(newAddress, longAddress))
		v.follow(click(changeButton))
	}},
	{"own-account-confirm", func(v *visitor) { v.letter("email-change", longAddress) }},
	{"signout", path("/auth/signout")},
}

func path(p string) func(*visitor) { return func(v *visitor) { v.open(p) } }

// TestLooks opens every page, and saves a picture of it in every look. No page may be wider than its window, axe must
// find nothing, and users who prefer more contrast get it on dark pages too.
func TestLooks(t *testing.T) {
	site := start(t, "stdlib")
	t.Run("mailbox-empty", func(t *testing.T) {
		v := visit(t, site)
		v.open("/mailbox")
		v.picture("mailbox-empty-light")
	})
	for _, scheme := range []string{"light", "dark"} {
		t.Run("more contrast, "+scheme, func(t *testing.T) {
			v := visit(t, site)
			call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-contrast", Value: "more"},
			}})
			v.open("/auth/signin")
			const colors = `["soft", "ink", "line", "edge"].map(name =>
				getComputedStyle(document.body).getPropertyValue("--" + name))`
			c := run(v, chromedp.Evaluate[[]string](colors))
			if c[0] == "" || c[0] != c[1] || c[2] == "" || c[2] != c[3] {
				t.Errorf("soft, ink, line and edge are %q", c)
			}
		})
	}
	v := visit(t, site)
	for _, page := range pages {
		t.Run(page.name, func(t *testing.T) {
			v := *v
			v.T = t
			v.looks("en", "light", looks[0].width, looks[0].height)
			page.open(&v)
			for _, look := range looks {
				if (look.dir != "" || look.name == "zoom") && !slices.Contains(few, page.name) {
					continue
				}
				v.looks("en", look.scheme, look.width, look.height)
				v.do(chromedp.Evaluate[chromedp.Void](`document.documentElement.dir = ` + quote(look.dir)))
				v.kept(page.name + "-" + look.name)
			}
		})
	}
}
