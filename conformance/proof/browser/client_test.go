package browser_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
)

// ownPage is a page with the JavaScript client that core serves.
const ownPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Own client</title><main></main>
<script type="module">
import * as client from "%s/client.js";
const show = ({ data }) => {
  document.querySelector("main").textContent = data?.user
    ? "signed in as " + (data.user.email ?? "somebody") + (data.note ? " who says " + data.note : "") : "signed out";
};
globalThis.client = { ...client, refresh: async () => show(await client.getSession()) };
client.onSessionChange(show);
await globalThis.client.refresh();
</script>`

// result is the result of a client's call.
type result struct {
	Data  *struct{ URL string }
	Error *struct {
		Status int
		Code   string
	}
}

func (c *client) resolves(call, url, failure string) {
	c.Helper()
	got := await[result](c, call)
	to, why := "", ""
	if got.Data != nil {
		to = got.Data.URL
	}
	if got.Error != nil {
		why = fmt.Sprint(got.Error.Status, " ", got.Error.Code)
	}
	if to != url || why != failure {
		c.Errorf("client.%s resolves to %q, %q and not to %q, %q", call, to, why, url, failure)
	}
}

// TestOwnClient uses core's JavaScript client on the site's own pages.
func TestOwnClient(t *testing.T) {
	for name, how := range map[string]setup{
		"stdlib, jwt":     {router: "stdlib", base: "/auth", strategy: core.StrategyJWT},
		"fiber, database": {router: "fiber", base: "/api/auth", strategy: core.StrategyDatabase},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveSite(t, how)
			t.Run("password", func(t *testing.T) { ownPassword(s.visit(t, "/own")) })
			t.Run("called as Auth.js", func(t *testing.T) { ownAsAuthjs(s.visit(t, "/own")) })
			t.Run("provider", func(t *testing.T) { ownProvider(s.visit(t, "/own")) })
			t.Run("passkey", func(t *testing.T) { ownPasskey(s.visit(t, "/own")) })
		})
	}
}

// TestOwnClientElsewhere uses the client on pages of a trusted origin.
func TestOwnClientElsewhere(t *testing.T) {
	s := serveSite(t, setup{router: "gin", base: "/auth", strategy: core.StrategyDatabase, apart: true})
	ownPassword(s.visit(t, "/own"))
	ownAsAuthjs(s.visit(t, "/own"))
	ownProvider(s.visit(t, "/own"))
}

func ownPassword(c *client) {
	here := c.site + c.path
	c.resolves(`signIn("credentials", {`+wrong+`})`, "", "401 credentials")
	c.resolves(`signIn("credentials", {`+unknown+`})`, "", "401 unknown-address")
	for _, elsewhere := range []string{"../signout?", "../signout/", "..%2fsignout#"} {
		c.resolves(`signIn("`+elsewhere+`")`, "", "404 unknown_provider")
	}
	other := &client{visitor: c.tab(), app: c.app, path: c.path}
	other.reload()
	other.arrives(c.path, out)

	c.resolves(`signIn("credentials", {`+right+`}, {redirect: false})`, here, "")
	other.sees(as(lovell)) // receives the event
	await[chromedp.Void](c, `refresh()`)
	c.sees(as(lovell))
	await[chromedp.Void](c, `update({note: "hello"}).then(client.refresh)`)
	if c.app.strategy == core.StrategyJWT { // otherwise the note is returned only once
		c.sees(as(lovell) + " who says hello")
	}
	c.resolves(`signOut({redirect: false})`, here, "")
	other.sees(out)
	await[chromedp.Void](c, `refresh()`)
	c.sees(out)
	c.leave(`signIn("credentials", {` + right + `}, {callbackUrl: location.href + "#there"})`)
	c.arrives(c.path+"#there", as(lovell))
	c.leave(`signOut({callbackUrl: location.origin + "` + c.path + `"})`)
	c.arrives(c.path, out)
}

// ownAsAuthjs calls signIn and signOut with the arguments of next-auth/react, and expects the same results. See
// reactStays and reactLeaves.
func ownAsAuthjs(c *client) {
	there := c.site + c.path + "?there"
	for call, want := range map[string]answer{
		`signIn("credentials", {` + wrong + `, redirect: false})`: {
			Error: "CredentialsSignin", Code: "credentials", Status: 200, OK: true,
		},
		`signIn("credentials", {` + unknown + `, redirect: false}, {})`: {
			Error: "CredentialsSignin", Code: "unknown-address", Status: 200, OK: true,
		},
		`signIn("credentials", {email: 7, remember: true, otp: undefined, redirect: false})`: {
			Error: "CredentialsSignin", Code: "remembered-7", Status: 200, OK: true,
		},
		`signIn("../signout?", {redirect: false})`: {Error: "Configuration", Status: 200, OK: true},
	} {
		c.answers(call, want)
	}
	c.resolves(`signIn("credentials", (() => {
		const form = new FormData();
		form.set("email", "nobody@example.com");
		return form;
	})())`, "", "401 unknown-address")
	c.answers(`signIn("credentials", {`+right+`, redirect: false})`, c.good())
	await[chromedp.Void](c, `refresh()`)
	c.sees(as(lovell))
	signOut := `signOut({redirect: false, redirectTo: "` + there + `"}).then(done => done.url)`
	if got := await[string](c, signOut); got != there {
		c.Errorf("signOut returns %q", got)
	}
	c.answers(`signIn("credentials", {`+right+`, redirect: false, callbackUrl: "`+there+`"})`,
		answer{Status: 200, OK: true, URL: there})
	await[chromedp.Void](c, `signOut({redirect: false})`)
	for name, params := range map[string]string{
		"an object": `{login_hint: "` + grace + `"}`, "text": `"login_hint=` + grace + `"`,
		"pairs": `[["login_hint", "` + grace + `"]]`,
	} {
		got := await[answer](c, `signIn("dev", {redirect: false, redirectTo: "`+there+`"}, `+params+`)`)
		if at, err := url.Parse(got.URL); err != nil || at.Query().Get("login_hint") != grace || !got.OK {
			c.Errorf("the parameters are %s: %+v", name, got)
		}
	}
	c.leave(`signIn("credentials", {` + right + `, redirectTo: "` + there + `"})`)
	c.arrives(c.path+"?there", as(lovell))
	c.leave(`signOut({redirectTo: "` + c.site + c.path + `"})`)
	c.arrives(c.path, out)
	c.leave(`signIn("dev", {callbackUrl: "` + there + `"}, {login_hint: "` + grace + `"})`)
	c.arrives(c.path+"?there", as(grace))
	c.leave(`signOut({callbackUrl: "` + c.site + c.path + `"})`)
	c.arrives(c.path, out)
	if c.app.apart {
		return // the sign-in page has another origin than these pages
	}
	c.leave(`signIn(undefined, {callbackUrl: "` + there + `"})`)
	c.arrives(c.app.base+"/signin?callbackUrl="+url.QueryEscape(there), "Sign in")
}

func ownProvider(c *client) {
	c.leave(`signIn("dev", {}, {params: {login_hint: "` + grace + `"}})`)
	c.arrives(c.path, as(grace))
	c.leave(`signOut()`)
	c.arrives(c.path, out)
}

func ownPasskey(c *client) {
	c.holds()
	c.resolves(`signIn("credentials", {`+right+`}, {redirect: false})`, c.site+c.path, "")
	c.resolves(`registerPasskey({redirect: false})`, c.site+c.path, "")
	there := c.site + c.path + "?there"
	for _, options := range []string{`, email: "` + lovell + `"`, ``} {
		c.resolves(`signOut({redirect: false})`, c.site+c.path, "")
		c.answers(`signIn("webauthn", {redirect: false`+options+`})`, c.good())
		c.resolves(`signOut({redirect: false})`, c.site+c.path, "")
		c.resolves(`signInWithPasskey({redirectTo: "`+there+`", redirect: false`+options+`})`, there, "")
		await[chromedp.Void](c, `refresh()`)
		c.sees(as(lovell))
	}
}
