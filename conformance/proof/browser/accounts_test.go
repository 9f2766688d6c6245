package browser_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/multisession"
)

// withAccounts allows several accounts in one browser, and adds a second user.
func withAccounts(c *core.Config) {
	anyPassword(c)
	_, err := c.Store.CreateUser(context.Background(), &core.User{ID: "grace", Name: "Grace", Email: grace})
	if err != nil {
		panic(err)
	}
	c.Plugins = append(c.Plugins, multisession.New())
}

// enterAs signs in with anyPassword, on the sign-in page that is open.
func (v *visitor) enterAs(address string) {
	v.Helper()
	v.do(write(factorUser, address), write(factorPass, password))
	v.follow(click(factorSignIn))
}

// addsAccount signs Ada in and adds the account of Grace, which is active then.
func addsAccount(v *visitor) {
	v.enters()
	v.open("/auth/accounts")
	v.follow(click(`form[action$="/accounts/add"] button`))
	v.enterAs(grace)
	v.open("/auth/accounts")
}

// signedInAs returns the address of the active account.
func (v *visitor) signedInAs() string {
	v.Helper()
	return run(v, chromedp.Evaluate[string](
		`fetch("/auth/session").then(r => r.json()).then(s => s && s.user ? s.user.email : "")`, chromedp.EvalAwaitPromise))
}

// TestAccounts adds an account without linking it, switches by a button of the page, and posts a form of the earlier
// account in another tab, which must not act as the other one. The page has no script except those of all pages.
func TestAccounts(t *testing.T) {
	v := visit(t, serveLanguages(t, ada, withAccounts))
	v.looks("de", "light", 320, 640)
	addsAccount(v)
	if got := v.signedInAs(); got != grace {
		t.Fatalf("after adding an account the user is %q", got)
	}
	v.fits()
	v.accessible("accounts")
	other := v.tab()
	other.open("/auth/signout")
	v.follow(click(`form[action$="/accounts/switch"] button`))
	if got := v.signedInAs(); got != ada {
		t.Errorf("after the switch the user is %q", got)
	}
	other.follow(click(`form[action$="/signout"] button`))
	if got := v.signedInAs(); got != ada {
		t.Errorf("the form of the other account signed the user out: %q", got)
	}
	v.open("/auth/accounts")
	v.follow(click(`form[action$="/accounts/sign-out-all"] button`))
	if got := v.signedInAs(); got != "" {
		t.Errorf("after the sign-out of all accounts the user is %q", got)
	}
	v.open("/auth/accounts")
	v.at("/auth/signin")
}
