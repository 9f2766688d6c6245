package browser_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// acme is a theme like an application's.
var acme = core.Theme{
	Name: "Acme", BrandColor: "#0f766e", Radius: "6px", Font: "Georgia, serif", Terms: "/terms", Privacy: "/privacy",
}

// pictured are the pictures of docs/pages.md.
var pictured = []struct {
	name, language, scheme string
	width, height          int64
	change                 func(*core.Config)
	open                   func(*visitor)
}{
	{"signin", "en", "light", 480, 660, nil, path("/auth/signin")},
	{"signin-dark", "en", "dark", 480, 660, nil, path("/auth/signin")},
	{"signin-theme", "en", "light", 480, 660, func(c *core.Config) { c.Theme = acme }, path("/auth/signin")},
	{"signin-error", "en", "light", 480, 660, nil, path("/auth/signin?error=CredentialsSignin")},
	{"last-used", "en", "light", 480, 660, anyPassword, lastUsed},
	{"signin-arabic", "ar", "light", 480, 660, nil, path("/auth/signin")},
	{"signin-one", "en", "light", 480, 360, func(c *core.Config) { c.Providers = c.Providers[:1] }, path("/auth/signin")},
	{"signin-many", "en", "light", 480, 660, many, path("/auth/signin")},
	{
		"sign-up",
		"en",
		"light",
		480,
		600,
		func(c *core.Config) { c.Theme = core.Theme{Name: "Acme", Terms: "/terms", Privacy: "/privacy"} },
		func(v *visitor) {
			v.open("/auth/password/sign-up")
			v.do(write("input[name=password]", "three quiet"))
			v.becomes(`document.querySelector(".meter").dataset.level === "2"`)
		},
	},
	{"signin-first", "en", "light", 480, 560, emailFirst, path("/auth/signin")},
	{"signin-second", "en", "light", 480, 480, emailFirst, typesAddress},
	{"signin-first-dark", "de", "dark", 390, 640, emailFirst, path("/auth/signin")},
	{"signin-second-dark", "de", "dark", 390, 520, emailFirst, typesAddress},
	{"signin-second-arabic", "ar", "light", 320, 520, emailFirst, typesAddress},
	{"sign-up-fields", "en", "light", 480, 900, signUpFields, refusedField},
	{"sign-up-fields-dark", "ar", "dark", 390, 900, signUpFields, refusedField},
	{"signed-in", "en", "light", 480, 420, nil, func(v *visitor) { v.open("/enter"); v.open("/auth/signin") }},
	{"signin-required", "de", "dark", 480, 660, nil, path("/auth/signin?error=SessionRequired")},
	{"sent", "ar", "light", 390, 500, nil, func(v *visitor) {
		v.open("/auth/password/forgot")
		v.do(write("input[name=email]", "ada@example.com"))
		v.follow(click("button.button"))
	}},
	{"verify-request", "en", "light", 480, 420, nil, func(v *visitor) {
		v.open("/auth/signin")
		v.do(write("input[name=email]", "ada@example.com"))
		v.follow(click("[data-address]"))
		v.becomes(`!document.querySelector("[data-sent]").hidden`)
		// The port is different in each run and must not be in the picture.
		v.do(chromedp.Evaluate[chromedp.Void](
			`void (document.querySelector(".home > .site").textContent = "app.example.com")`))
	}},
	{"account", "en", "light", 1280, 800, nil, path("/enter")},
	{"account-phone", "en", "dark", 390, 800, nil, path("/enter")},
	{"account-arabic", "ar", "light", 390, 800, nil, path("/enter")},
	{"account-email", "en", "light", 720, 660, nil, func(v *visitor) { v.open("/enter"); v.do(click(emailOpens)) }},
	{"account-delete", "de", "light", 1000, 800, nil, func(v *visitor) { v.open("/enter"); v.do(click(deleteOpens)) }},
	{"error", "en", "light", 480, 420, nil, path("/auth/error?error=Verification")},
	{"error-server", "de", "dark", 480, 420, nil, path("/auth/error?error=Configuration")},
	{"canceled", "en", "light", 480, 660, nil, path("/auth/signin?error=OAuthCallbackError")},
	{"signout", "de", "dark", 480, 420, nil, func(v *visitor) { v.open("/enter"); v.open("/auth/signout"); v.sees("@") }},
}

// lastUsed signs in with a password, and returns to the sign-in page after the sign-out. The button has the mark.
func lastUsed(v *visitor) {
	v.open("/auth/signin?callbackUrl=%2Fauth%2Faccount")
	v.do(write(factorUser, ada), write(factorPass, password))
	v.follow(click(factorSignIn))
	v.open("/auth/signout?callbackUrl=%2Fauth%2Fsignin")
	v.follow(click(`form[action*="/signout"] button`))
	v.open("/auth/signin")
	v.do(chromedp.WaitVisible(chromedp.CSS(".last")))
}

// many configures more sign-in methods than fit in a laptop's window.
func many(c *core.Config) {
	o := providers.Options{ClientID: "id", ClientSecret: "secret"}
	c.Providers = []core.Provider{
		providers.GitHub(o), providers.Google(o), providers.GitLab(o), providers.Discord(o), providers.Spotify(o),
		providers.Twitch(o), providers.Dropbox(o), providers.Figma(o),
	}
}

// TestPictures opens the pages that are shown in the documentation, and saves their pictures. Each page must fit its
// window, and axe must find nothing.
func TestPictures(t *testing.T) {
	for _, p := range pictured {
		t.Run(p.name, func(t *testing.T) {
			v := visit(t, serveLanguages(t, ada, p.change))
			v.looks(p.language, p.scheme, p.width, p.height)
			p.open(v)
			v.fits()
			v.accessible(p.name)
			v.picture(p.name)
		})
	}
	for name, kind := range map[string]mailkind.Kind{
		"letter": mailkind.SignIn, "letter-new-device": mailkind.NewDevice,
	} {
		t.Run(name, func(t *testing.T) {
			written, err := providers.WriteEmail(letter(kind, locales.English(), core.Theme{Name: "Acme"}))
			if err != nil {
				t.Fatal(err)
			}
			listener, origin := listen(t)
			t.Cleanup(serveHTTP(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = io.WriteString(w, written.HTML)
			})))
			v := visit(t, origin)
			v.looks("en", "light", 560, 360)
			v.open("/")
			v.picture(name)
		})
	}
	t.Run("mailbox", func(t *testing.T) {
		box := mailbox.NewWith(providers.WriteEmail)
		for _, kind := range []mailkind.Kind{mailkind.AddressChange, mailkind.Reset} {
			email := letter(kind, locales.English(), core.Theme{Name: "Acme"})
			email.URL = "http://localhost:3000/auth/account" // the mailbox shows no emails of a site on https
			if err := box.Send(t.Context(), email); err != nil {
				t.Fatal(err)
			}
		}
		listener, origin := listen(t)
		mux := http.NewServeMux()
		mux.Handle("GET /mailbox", box)
		mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		})
		t.Cleanup(serveHTTP(listener, mux))
		v := visit(t, origin)
		v.looks("en", "light", 1000, 760)
		v.open("/mailbox")
		v.kept("mailbox")
	})
}

// lightAndDark are two color schemes for [visitor.looks].
const lightAndDark = "light and dark"

// looks sets the browser's language, color scheme and window size. With lightAndDark, pages are opened in light mode,
// and [visitor.kept] checks them in both modes.
func (v *visitor) looks(language, scheme string, width, height int64) {
	v.Helper()
	v.schemes, v.width = strings.Split(scheme, " and "), width
	call(v, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
		UserAgent: chromeOnLinux, AcceptLanguage: language,
	})
	v.colored(v.schemes[0])
	v.do(chromedp.EmulateViewport(width, height))
}

// colored sets the color scheme. The open page has its new colors at once, without a transition.
func (v *visitor) colored(scheme string) {
	v.Helper()
	call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	v.do(chromedp.Evaluate[chromedp.Void](`document.getAnimations().forEach(a => a.finish())`))
}

// kept checks a page with the rules for the visitor's looks, and saves its pictures.
func (v *visitor) kept(name string) {
	v.Helper()
	for i, scheme := range v.schemes {
		if i > 0 {
			v.colored(scheme)
			name += "-" + scheme
		}
		if wide := run(v, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`)); wide > 0 {
			v.Errorf("%s is %d px wider than its window", name, wide)
		}
		v.accessibleBy(rulesFor(scheme, v.width), name)
		v.picture(name)
	}
	if len(v.schemes) > 1 {
		v.colored(v.schemes[0])
	}
}
