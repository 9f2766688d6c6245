package browser_test

import (
	"context"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// Selectors of the pages of plugins/secondfactor.
const (
	factorUser   = `form[action$="/callback/credentials"] input[name=email]`
	factorPass   = `form[action$="/callback/credentials"] input[name=password]`
	factorSignIn = `form[action$="/callback/credentials"] button[type=submit]`
	factorKey    = `code[dir=ltr]`
	factorCode   = `main input[name=code]`
	factorSubmit = `main form:has(input[name=csrfToken]) button[type=submit]`
	factorCodes  = `#recovery-codes`
)

// qrIsReadable is an expression that is true if a camera can read the QR code: it is large, and has no outlines, which
// would fill its light modules.
const qrIsReadable = `(({width, height}, {stroke}) => width >= 180 && width === height && stroke === "none")(
	document.querySelector("svg[role=img]").getBoundingClientRect(),
	getComputedStyle(document.querySelector("svg[role=img] path")))`

// factorSite is a site with second factors in all languages. Its only user is ada.
type factorSite struct {
	url string
	// ahead is how far the site's clock is ahead, so that a test need not wait for the next code.
	ahead *atomic.Int64
}

func serveFactors(t *testing.T, o secondfactor.Options) *factorSite {
	t.Helper()
	s := &factorSite{ahead: &atomic.Int64{}}
	s.url = serveLanguages(t, ada, func(c *core.Config) {
		users := c.Store
		c.Now = s.now
		c.Plugins = append(c.Plugins, secondfactor.New(o))
		c.Providers = []core.Provider{
			webauthn.Passkey(),
			providers.Credentials(func(ctx context.Context, _ map[string]string, _ *core.Request) (*core.User, error) {
				return users.User(ctx, "ada")
			}),
		}
	})
	return s
}

func (s *factorSite) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// code returns the next code of an authenticator app, computed by oathtool. It moves the site's clock by a minute, so
// that the code was not used before.
func (s *factorSite) code(t *testing.T, secret string) string {
	t.Helper()
	if _, err := exec.LookPath("oathtool"); err != nil {
		engines.Absent(t, "oathtool computes codes of authenticator apps: apt-get install -y oathtool")
	}
	s.ahead.Add(int64(time.Minute))
	at := s.now().UTC().Format("2006-01-02 15:04:05 UTC")
	out, err := exec.CommandContext(t.Context(), "oathtool", "--totp", "--base32", "--now", at, secret).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// signs signs in with the first factor.
func (v *visitor) signs() {
	v.Helper()
	v.open("/auth/signin?callbackUrl=%2Fauth%2Fsecond-factor%2Fsettings")
	v.do(write(factorUser, ada), write(factorPass, password))
	v.follow(click(factorSignIn))
}

// held checks that there is no session.
func (v *visitor) held() {
	v.Helper()
	if got := strings.TrimSpace(v.json("/auth/session")); got != "null" {
		v.Errorf("before the second factor there is a session: %s", got)
	}
}

// leaves signs out.
func (v *visitor) leaves() {
	v.Helper()
	v.open("/auth/signout")
	v.follow(click(`form[action$="/signout"] button`))
}

// types types a code and sends the form.
func (v *visitor) types(code string) {
	v.Helper()
	v.do(write(factorCode, code))
	v.follow(click(factorSubmit))
}

// enrolls sets up an authenticator app on the open page, and returns its secret and the recovery codes.
func (v *visitor) enrolls(s *factorSite) (secret string, codes []string) {
	v.Helper()
	secret = strings.ReplaceAll(run(v, chromedp.TextContent(chromedp.CSS(factorKey))), " ", "")
	v.types(s.code(v.T, secret))
	codes = strings.Fields(run(v, chromedp.TextContent(chromedp.CSS(factorCodes))))
	if len(codes) != 10 {
		v.Errorf("recovery codes %q", codes)
	}
	return secret, codes
}

// TestFactors enrolls an authenticator app whose codes oathtool computes, and signs in with an app, a recovery code and
// a passkey as the second factor.
func TestFactors(t *testing.T) {
	s := serveFactors(t, secondfactor.Options{})
	v := visit(t, s.url)
	id := v.holds()
	v.signs()
	v.at("/auth/second-factor/settings")
	v.open("/auth/second-factor/enroll")
	v.names("image", "QR code with the setup key")
	v.becomes(qrIsReadable)
	v.names("textbox", "Code from the app", "Name of this app (optional)")
	secret, codes := v.enrolls(s)
	v.names("button", "Copy", "Print", "I saved them")
	v.names("link", "Download")
	v.follow(click(factorSubmit))
	v.sees("Two-step verification is on.")

	v.leaves()
	v.signs()
	v.at("/auth/second-factor")
	v.held()
	v.open("/auth/second-factor")
	v.names("textbox", "Code")
	v.names("checkbox", "Don't ask again in this browser for 30 days")
	v.types("000000")
	v.sees("That code is not right.")
	v.names("alert", "")
	v.types(s.code(t, secret))
	v.at("/auth/second-factor/settings")

	v.leaves()
	v.signs()
	v.do(click(`main summary`))
	v.follow(click(`main details a[href*="method=recovery"]`))
	v.names("textbox", "Recovery code")
	v.types(codes[3])
	v.at("/auth/second-factor/settings")
	v.sees("9 left")

	v.open("/auth/account")
	v.follow(chromedp.Evaluate[chromedp.Void](
		`void document.querySelector('form[data-passkey-options*="action=register"]').requestSubmit()`))
	v.open("/auth/second-factor/settings")
	v.follow(click(`form[action$="/passkeys"] button`))
	v.sees("Your passkeys are a second step now.")
	v.confirms(id, false)
	v.leaves()
	v.signs()
	v.do(click(`main summary`))
	v.follow(click(`main details a[href*="method=passkey"]`))
	v.held()
	v.open("/auth/second-factor?method=passkey")
	v.confirms(id, true)
	v.follow(click(factorSubmit))
	v.at("/auth/second-factor/settings")
	v.sees("Can confirm a sign-in")
}

// TestForcedFactors: a user who must enroll gets no session before the recovery codes are saved. It also works without
// JavaScript.
func TestForcedFactors(t *testing.T) {
	for name, script := range map[string]bool{"with JavaScript": true, "without JavaScript": false} {
		t.Run(name, func(t *testing.T) {
			s := serveFactors(t, secondfactor.Options{Required: secondfactor.Always})
			v := visit(t, s.url)
			v.signs()
			v.at("/auth/second-factor/enroll")
			v.sees("Your account needs two-step verification.")
			v.held()
			v.open("/auth/second-factor/enroll?signin=1")
			if script {
				v.enrolls(s)
			} else {
				secret := strings.ReplaceAll(run(v, chromedp.TextContent(chromedp.CSS(factorKey))), " ", "")
				v.scriptless()
				v.do(chromedp.Navigate(v.site + "/auth/second-factor/enroll?signin=1"))
				v.types(s.code(t, secret))
				v.do(chromedp.WaitVisible(chromedp.CSS(factorCodes)))
			}
			v.follow(click(factorSubmit))
			v.do(chromedp.WaitVisible(chromedp.CSS(`form[action$="/remove"] button`)))
		})
	}
}

// TestFactorLooks opens the pages in light and dark mode, on a phone and right to left. No page may be wider than its
// window, and axe must find nothing.
func TestFactorLooks(t *testing.T) {
	for _, look := range []struct {
		name, language, scheme string
		width, height          int64
	}{
		{"", "en", lightAndDark, 1000, 760},
		{"-phone", "de", "dark", 320, 640},
		{"-arabic", "ar", "light", 320, 640},
	} {
		t.Run("look"+look.name, func(t *testing.T) {
			s := serveFactors(t, secondfactor.Options{Required: secondfactor.Always, Grace: 24 * time.Hour})
			v := visit(t, s.url)
			id := v.holds()
			v.looks(look.language, look.scheme, look.width, look.height)
			shows := func(page string) {
				t.Helper()
				if dir := run(v, chromedp.Evaluate[string](`document.dir`)); (dir == "rtl") != (look.language == "ar") {
					t.Errorf("%s is written %s", page, dir)
				}
				v.kept("factor-" + page + look.name)
			}
			v.signs()
			shows("forced")
			secret, _ := v.enrolls(s)
			shows("codes")
			v.follow(click(factorSubmit))
			shows("settings")
			v.open("/auth/account")
			v.follow(chromedp.Evaluate[chromedp.Void](
				`void document.querySelector('form[data-passkey-options*="action=register"]').requestSubmit()`))
			v.open("/auth/account")
			shows("account")
			v.open("/auth/second-factor/enroll")
			shows("enroll")
			v.open("/auth/second-factor/verify")
			shows("verify")
			v.confirms(id, false)
			v.leaves()
			v.signs()
			v.at("/auth/second-factor")
			v.do(click(`main summary`))
			shows("challenge")
			v.types("000000")
			shows("wrong")
			for _, method := range []string{"recovery", "passkey", "lost"} {
				v.open("/auth/second-factor?method=" + method)
				shows(method)
			}
			v.open("/auth/second-factor")
			v.types(s.code(t, secret))
			v.at("/auth/second-factor/settings")
		})
	}
}

// names checks that the page has elements with a role and these names, as a screen reader says them. An empty name is
// that of an element that has none.
func (v *visitor) names(role string, names ...string) {
	v.Helper()
	var tree accessibility.GetFullAXTreeResult
	run(v, chromedp.Func(func(ctx context.Context, t *chromedp.Target) (err error) {
		tree, err = cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		return err
	}))
	found := map[string]bool{}
	for _, n := range tree.Nodes {
		if n.Role == nil || n.Ignored || string(n.Role.Value) != quote(role) {
			continue
		}
		name := `""`
		if n.Name != nil {
			name = string(n.Name.Value)
		}
		found[name] = true
	}
	for _, name := range names {
		if !found[quote(name)] {
			v.Errorf("no %s %q, only %v", role, name, found)
		}
	}
}
