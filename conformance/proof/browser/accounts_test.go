package browser_test

import (
	"context"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/multisession"
)

// withAccounts allows several accounts in one browser, and adds four users.
func withAccounts(c *core.Config) {
	anyPassword(c)
	for _, u := range []core.User{
		{ID: "grace", Name: "Grace", Email: grace}, {ID: "long", Name: longName, Email: longAddress},
		{ID: "unnamed", Email: "x" + longAddress}, {ID: "joan", Name: "Joan", Email: "joan@example.com"},
	} {
		if _, err := c.Store.CreateUser(context.Background(), &u); err != nil {
			panic(err)
		}
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

// fillsAccounts adds the accounts of all users, the maximum of a browser.
func fillsAccounts(v *visitor) {
	addsAccount(v)
	for _, address := range []string{longAddress, "x" + longAddress, "joan@example.com"} {
		v.follow(click(`form[action$="/accounts/add"] button`))
		v.enterAs(address)
		v.open("/auth/accounts")
	}
	v.lists(5, 5)
}

// endsAccount adds an account, and ends the session of the other one in another browser.
func endsAccount(v *visitor) {
	addsAccount(v)
	other := visit(v.T, v.site)
	other.enters()
	other.follow(click(`button[name=session][value=others]`))
	v.open("/auth/accounts")
	v.lists(2, 1)
}

// lists checks the number of accounts on the page, and how many of them are signed in.
func (v *visitor) lists(all, signedIn int) {
	v.Helper()
	got := run(v, chromedp.Evaluate[[]int](`fetch("/auth/accounts", {headers: {Accept: "application/json"}})
		.then(r => r.json()).then(({accounts}) => [document.querySelectorAll("#accounts li").length, accounts.length,
			accounts.filter(a => a.signedIn).length])`, chromedp.EvalAwaitPromise))
	if !slices.Equal(got, []int{all, all, signedIn}) {
		v.Errorf("rows, accounts and signed-in accounts: %d, want %d of which %d", got, all, signedIn)
	}
}

// switchesToUnknown continues with an account that was removed in another tab.
func switchesToUnknown(v *visitor) {
	addsAccount(v)
	other := v.tab()
	other.open("/auth/accounts")
	other.follow(click(`form[action$="/accounts/switch"] + form[action$="/accounts/sign-out"] button`))
	v.follow(click(`form[action$="/accounts/switch"] button`))
}

// choosesAccount signs out of the active account. The sign-in page has a link to the other one.
func choosesAccount(v *visitor) {
	addsAccount(v)
	v.follow(click(`#accounts li:first-child form[action$="/accounts/sign-out"] button`))
	v.open("/auth/signin")
	v.do(chromedp.WaitVisible(chromedp.CSS(`a[href$="/auth/accounts"]`)))
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
