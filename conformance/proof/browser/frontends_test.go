package browser_test

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
)

func TestReact(t *testing.T) {
	for _, row := range []struct {
		name string
		how  setup
	}{
		{"gin, jwt", setup{router: "gin", base: "/auth", strategy: core.StrategyJWT}},
		{"fiber, jwt, the client's own base path", setup{router: "fiber", base: "/api/auth", strategy: core.StrategyJWT}},
		{"fiber, database", setup{router: "fiber", base: "/auth", strategy: core.StrategyDatabase}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := serveSite(t, row.how)
			for _, scenario := range []struct {
				name string
				play func(*client)
			}{
				{"nobody is signed in", reactStranger},
				{"a wrong password, and a code of the application's own", reactWrongPassword},
				{"a password, without leaving the page", reactStays},
				{"a password, leaving the page", reactLeaves},
				{"the provider", reactProvider},
				{"a link in a mail", reactMail},
				{"the session is updated", reactUpdate},
				{"two tabs", reactTabs},
				{"a page for members", reactMembers},
				{"a passkey", reactPasskey},
				{"a newcomer's passkey", reactNewcomer},
			} {
				t.Run(scenario.name, func(t *testing.T) { scenario.play(s.visit(t, "/react")) })
			}
		})
	}
}

// TestSvelteKit: this client sends no CSRF token. It signs in under core.CSRFTokenOrSameOrigin, which accepts the
// browser's Origin header instead.
func TestSvelteKit(t *testing.T) {
	for _, row := range []struct {
		name string
		how  setup
	}{
		{"gin, database", setup{
			router: "gin", base: "/auth", strategy: core.StrategyDatabase, csrf: core.CSRFTokenOrSameOrigin(), typed: true,
		}},
		{"fiber, jwt", setup{
			router: "fiber", base: "/auth", strategy: core.StrategyJWT, csrf: core.CSRFTokenOrSameOrigin(), typed: true,
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := serveSite(t, row.how)
			t.Run("password and provider", func(t *testing.T) { sveltekit(s.visit(t, "/sveltekit")) })
			t.Run("a passkey", func(t *testing.T) { sveltekitPasskey(s.visit(t, "/sveltekit-passkey")) })
		})
	}
	t.Run("refused by default", func(t *testing.T) {
		c := serveSite(t, setup{router: "gin", base: "/auth", strategy: core.StrategyJWT}).visit(t, "/sveltekit")
		c.answers(`signIn("credentials", {`+right+`, redirect: false})`, answer{Error: "MissingCSRF", Status: 200, OK: true})
		c.reload()
		c.arrives(c.path, out)
	})
}

// TestSinglePage: an application on another origin signs in with fetch only, as in docs/authjs.md.
func TestSinglePage(t *testing.T) {
	for _, router := range []string{"stdlib", "gin", "echo", "fiber"} {
		t.Run(router, func(t *testing.T) {
			s := serveSite(t, setup{router: router, base: "/auth", strategy: core.StrategyDatabase, apart: true})
			singlePage(s.visit(t, "/spa"))
		})
	}
}

// TestDocs compares the statements of docs/assurance.md and docs/authjs.md about clients with these tests.
func TestDocs(t *testing.T) {
	read := func(path string) string {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	docs, tests := read("../../../docs/authjs.md"), read("../../../docs/assurance.md")
	var manifest struct{ Dependencies map[string]string }
	if err := json.Unmarshal([]byte(read("clients/package.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"next-auth", "react", "@simplewebauthn/browser", "@auth/sveltekit"} {
		if tested := name + " " + manifest.Dependencies[name]; !strings.Contains(tests, tested) {
			t.Errorf("docs/assurance.md does not name %s, which is tested", tested)
		}
	}
	if recipe := strings.Split(read("clients/spa.js"), "// ---\n")[1]; !strings.Contains(docs, recipe) {
		t.Error("docs/authjs.md does not have the recipe of clients/spa.js")
	}
}

const (
	out = "signed out"
	// JavaScript of the form fields: the right password, a wrong one, and an address without a password.
	right   = `email: "` + lovell + `", password: "` + password + `"`
	wrong   = `email: "` + lovell + `", password: "guess"`
	unknown = `email: "nobody@example.com", password: "guess"`
)

// as returns the text that a page shows to a signed-in user.
func as(email string) string { return "signed in as " + email }

// client is a browser on a page with an Auth.js client.
type client struct {
	*visitor
	app  *site
	path string
}

// visit opens a page of the site in a new browser that is not signed in.
func (s *site) visit(t *testing.T, path string) *client {
	t.Helper()
	c := &client{visitor: visit(t, s.url), app: s, path: path}
	c.reload()
	c.arrives(path, out)
	return c
}

// reload opens the client's page again.
func (c *client) reload() {
	c.Helper()
	c.do(leaveFor(c.site + c.path))
}

// leave calls a function of the client that leaves the page.
func (c *client) leave(call string) {
	c.Helper()
	c.do(chromedp.Evaluate[chromedp.Void](`void setTimeout(() => { client.` + call + ` })`))
}

// await calls a function of the client that stays on the page, and returns the result of its promise.
func await[T any](c *client, call string) T {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, wait)
	defer cancel()
	result, err := chromedp.Run(ctx, chromedp.Evaluate[T]("client."+call, chromedp.EvalAwaitPromise))
	if err != nil {
		c.Fatalf("client.%s: %v\non the page %s", call, err, c.page())
	}
	return result
}

// answer is the result of a signIn that stays on the page.
type answer struct {
	Error  string `json:"error"`
	Code   string `json:"code"`
	Status int    `json:"status"`
	OK     bool   `json:"ok"`
	URL    string `json:"url"`
}

// answers calls a signIn that stays on the page and compares its result.
func (c *client) answers(call string, want answer) {
	c.Helper()
	if got := await[answer](c, call); got != want {
		c.Errorf("client.%s returns %+v, not %+v", call, got, want)
	}
}

// good is the result of a sign-in that returns to the client's page.
func (c *client) good() answer { return answer{Status: 200, OK: true, URL: c.site + c.path} }

func reactStranger(c *client) {
	statuses := run(c.visitor, chromedp.Evaluate[[]string](`statuses`))
	if !slices.Equal(statuses, []string{"loading", "unauthenticated"}) {
		c.Errorf("useSession says %v", statuses)
	}
	if !await[bool](c, `getSession().then(session => session === null)`) {
		c.Error("getSession finds a session")
	}
	want := map[string]map[string]string{}
	for _, p := range []struct{ id, name, kind string }{
		{"dev", "dev", "oidc"}, {"email", "Email", "email"},
		{"webauthn", "WebAuthn", "webauthn"}, {"credentials", "Credentials", "credentials"},
	} {
		base := c.site + c.app.base
		want[p.id] = map[string]string{
			"id": p.id, "name": p.name, "type": p.kind,
			"signinUrl": base + "/signin/" + p.id, "callbackUrl": base + "/callback/" + p.id,
		}
	}
	if got := await[map[string]map[string]string](c, `getProviders()`); !reflect.DeepEqual(got, want) {
		c.Errorf("getProviders returns %v, not %v", got, want)
	}
	token := await[string](c, `getCsrfToken()`)
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(token) || await[string](c, `getCsrfToken()`) != token {
		c.Error("getCsrfToken returns no token, or another one each time")
	}
	c.leave(`signIn()`)
	c.arrives(c.app.base+"/signin?callbackUrl="+url.QueryEscape(c.site+c.path), "Sign in")
}

func reactWrongPassword(c *client) {
	c.answers(`signIn("credentials", {`+wrong+`, redirect: false})`,
		answer{Error: "CredentialsSignin", Code: "credentials", Status: 200, OK: true})
	c.answers(`signIn("credentials", {`+unknown+`, redirect: false})`,
		answer{Error: "CredentialsSignin", Code: "unknown-address", Status: 200, OK: true})
	c.sees(out)
	c.leave(`signIn("credentials", {` + wrong + `})`)
	c.arrives(c.app.base+"/signin?error=CredentialsSignin&code=credentials", "Sign in")
}

func reactStays(c *client) {
	c.answers(`signIn("credentials", {`+right+`, redirect: false})`, c.good())
	c.sees(as(lovell))
	if got := await[string](c, `getSession().then(session => session.user.email)`); got != lovell {
		c.Errorf("getSession finds %q", got)
	}
	if got := await[string](c, `signOut({redirect: false}).then(answer => answer.url)`); got != c.site+c.path {
		c.Errorf("signOut answers %q", got)
	}
	c.sees(out)
}

func reactLeaves(c *client) {
	c.leave(`signIn("credentials", {` + right + `, redirectTo: "/react#there"})`)
	c.arrives("/react#there", as(lovell))
	c.leave(`signOut()`)
	c.arrives("/react#there", out)
	c.leave(`signIn("credentials", {` + right + `, callbackUrl: "/react?elsewhere"})`)
	c.arrives("/react?elsewhere", as(lovell))
	c.leave(`signOut({redirectTo: "/react"})`)
	c.arrives("/react", out)
}

func reactProvider(c *client) {
	c.leave(`signIn("dev")`)
	c.arrives(c.path, as(ada))
	c.leave(`signOut()`)
	c.arrives(c.path, out)
	c.leave(`signIn("dev", {redirectTo: "/react#hinted"}, {login_hint: "` + grace + `"})`)
	c.arrives("/react#hinted", as(grace))
	await[chromedp.Void](c, `signOut({redirect: false})`)
	c.sees(out)
	got := await[answer](c, `signIn("dev", {redirect: false, redirectTo: "/react"})`)
	if !got.OK || got.Error != "" || !strings.Contains(got.URL, "code_challenge=") {
		c.Fatalf("signIn returns %+v", got)
	}
	c.do(leaveFor(got.URL))
	c.arrives("/react", as(ada))
}

func reactMail(c *client) {
	const reader = "reader@example.com"
	c.answers(`signIn("email", {email: "`+reader+`", redirect: false})`,
		answer{Status: 200, OK: true, URL: c.site + c.app.base + "/verify-request?provider=email&type=email"})
	link := c.mail(reader)
	c.do(leaveFor(link))
	c.arrives(c.path, as(reader))
	c.leave(`signOut()`)
	c.arrives(c.path, out)
	c.follow(goTo(link)) // the second time the page asks for confirmation, because the browser's request was used
	c.follow(click("#submitButton"))
	c.arrives(c.app.base+"/error?error=Verification", "sign in")
	c.reload()
	c.arrives(c.path, out)
}

// mail waits for an email and returns its link.
func (c *client) mail(to string) (link string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), wait)
	defer cancel()
	mail, err := c.app.mails.Wait(ctx, to)
	if err != nil {
		c.Fatalf("no mail to %s: %v", to, err)
	}
	return mail.URL
}

func reactUpdate(c *client) {
	const expires = `.then(session => Date.parse(session.expires))`
	c.answers(`signIn("credentials", {`+right+`, redirect: false})`, c.good())
	c.sees(as(lovell))
	before := await[int64](c, `getSession()`+expires)
	if after := await[int64](c, `update()`+expires); after <= before {
		c.Errorf("update() moved the end of the session from %d to %d", before, after)
	}
	await[chromedp.Void](c, `update({note: "hello"})`)
	c.sees(as(lovell) + " who says hello")
	if c.app.strategy == core.StrategyJWT {
		c.reload()
		c.arrives(c.path, as(lovell)+" who says hello")
	}
}

// reactTabs: a tab receives the events of another tab, and updates itself when it becomes visible.
func reactTabs(c *client) {
	other := &client{visitor: c.tab(), app: c.app, path: c.path}
	other.reload()
	other.arrives(c.path, out)
	other.do(chromedp.Evaluate[chromedp.Void](`void (window.stayed = true)`))

	c.leave(`signIn("credentials", {` + right + `})`)
	c.arrives(c.path, as(lovell))
	other.sees(as(lovell))
	await[chromedp.Void](c, `signOut({redirect: false})`)
	other.sees(out)

	c.answers(`signIn("credentials", {`+right+`, redirect: false})`, c.good())
	await[chromedp.Void](c, `getSession()`) // notifies the other tabs
	other.sees(as(lovell))
	// A browser without windows treats every tab as visible. The client may still wait for the response to an earlier
	// request. That response sets the session cookie again, and the client considers it newer if it arrives last.
	// Therefore the loop deletes the cookies and activates the tab until the client notices.
	for until := time.Now().Add(wait); ; {
		c.forget()
		if run(other.visitor, chromedp.Evaluate[bool](`new Promise(done => {
			document.dispatchEvent(new Event("visibilitychange"))
			setTimeout(() => done(document.body.innerText.includes(`+quote(out)+`)), 500)
		})`, chromedp.EvalAwaitPromise)) {
			break
		}
		if time.Now().After(until) {
			c.Fatal("the other tab does not find out that the session is over")
		}
	}
	if !run(other.visitor, chromedp.Evaluate[bool](`window.stayed === true`)) {
		c.Error("the other tab was reloaded")
	}
}

// forget deletes the browser's cookies, so that the session ends without an event on any page.
func (c *client) forget() {
	c.Helper()
	call(c.visitor, network.ClearBrowserCookies, cdp.Empty{})
}

func reactMembers(c *client) {
	const members = "/react-members"
	c.do(leaveFor(c.site + members))
	c.arrives(c.app.base+"/signin?error=SessionRequired&callbackUrl="+url.QueryEscape(c.site+members), "Sign in")
	const form = `form[action$="/callback/credentials"] `
	c.do(write(form+"input[name=email]", lovell), write(form+"input[name=password]", password))
	c.do(click(form + "#submitButton"))
	c.arrives(members, as(lovell))
}

// reactPasskey adds a passkey for a signed-in user, and then signs in with it.
func reactPasskey(c *client) {
	c.holds()
	c.answers(`signIn("credentials", {`+right+`, redirect: false})`, c.good())
	c.sees(as(lovell))
	c.answers(`signInByPasskey("webauthn", {action: "register", redirect: false})`, c.good())
	for _, options := range []string{
		`, email: "` + lovell + `"`,
		``, // the authenticator knows the user
	} {
		await[chromedp.Void](c, `signOut({redirect: false})`)
		c.sees(out)
		c.answers(`signInByPasskey("webauthn", {redirect: false`+options+`})`, c.good())
		c.sees(as(lovell))
	}
}

// reactNewcomer signs up with a passkey and an address that no user has.
func reactNewcomer(c *client) {
	c.holds()
	c.answers(`signInByPasskey("webauthn", {email: "newcomer@example.com", action: "register", redirect: false})`,
		c.good())
	c.sees(as("somebody"))
	await[chromedp.Void](c, `signOut({redirect: false})`)
	c.sees(out)
	c.leave(`signInByPasskey("webauthn", {redirectTo: "/react#back"})`)
	c.arrives("/react#back", as("somebody"))
}

func sveltekit(c *client) {
	c.answers(`signIn("credentials", {`+wrong+`, redirect: false})`,
		answer{Error: "CredentialsSignin", Code: "credentials", Status: 200, OK: true})
	c.leave(`signIn("credentials", {` + wrong + `})`)
	c.arrives("/auth/signin?error=CredentialsSignin&code=credentials", "Sign in")
	c.reload()
	c.arrives(c.path, out)
	c.leave(`signIn("credentials", {` + right + `, redirectTo: "/sveltekit#there"})`)
	c.arrives("/sveltekit#there", as(lovell))
	c.leave(`signOut({redirectTo: "/sveltekit"})`)
	c.arrives("/sveltekit", out)

	c.leave(`signIn("dev", {}, {login_hint: "` + grace + `"})`)
	c.arrives(c.path, as(grace))
	if got := await[string](c, `signOut({redirect: false}).then(answer => answer.url)`); got != c.site+c.path {
		c.Errorf("signOut answers %q", got)
	}
	c.reload()
	c.arrives(c.path, out)

	c.answers(`signIn("email", {email: "reader@example.com", redirect: false})`,
		answer{Status: 200, OK: true, URL: c.site + "/auth/verify-request?provider=email&type=email"})
	c.do(leaveFor(c.mail("reader@example.com")))
	c.arrives(c.path, as("reader@example.com"))
}

func sveltekitPasskey(c *client) {
	const owner = "owner@example.com"
	c.holds()
	for _, options := range []string{`email: "` + owner + `", action: "register"`, `email: "` + owner + `"`, ``} {
		c.answers(`signInByPasskey("webauthn", {redirect: false, `+options+`})`, c.good())
		c.reload()
		c.arrives(c.path, as(owner))
		c.forget()
		c.reload()
		c.arrives(c.path, out)
	}
	c.leave(`signInByPasskey("webauthn")`)
	c.arrives(c.path, as(owner))
}

func singlePage(c *client) {
	signInPage := c.app.auth + "/auth/signin"
	c.answers(`signIn("credentials", {`+wrong+`})`,
		answer{Error: "CredentialsSignin", Code: "credentials",
			URL: signInPage + "?error=CredentialsSignin&code=credentials",
		})
	c.answers(`signIn("credentials", {`+right+`, callbackUrl: location.href})`, answer{URL: c.site + c.path})
	await[chromedp.Void](c, `refresh()`)
	c.sees(as(lovell))
	c.answers(`signOut()`, answer{URL: c.site + c.path})
	await[chromedp.Void](c, `refresh()`)
	c.sees(out)
	c.leave(`signIn("dev", {callbackUrl: location.href}).then(({url}) => { location.href = url })`)
	c.arrives(c.path, as(ada))
}
