package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

func TestPages(t *testing.T) {
	site := start(t, "stdlib")
	for _, row := range []struct {
		name string
		test func(*visitor)
	}{
		{"a protected page leads through the sign-in page and back", protectedPage},
		{"a wrong password is refused and says so", wrongPassword},
		{"cancelling at the provider leads back to the sign-in page", cancelled},
		{"a link works once", linkTwice},
		{"the sign-out page asks first", signOutPage},
		{"with the keyboard alone", keyboard},
		{"without JavaScript", withoutJavaScript},
	} {
		t.Run(row.name, func(t *testing.T) { row.test(visit(t, site)) })
	}
}

func protectedPage(v *visitor) {
	v.open("/account")
	v.at("/auth/signin")
	byCredentials(v)
	v.at("/account")
	v.sees("demo@example.com")
}

func wrongPassword(v *visitor) {
	v.open("/auth/signin")
	v.do(write(userField, "demo@example.com"), write(passwordField, "wrong"))
	v.follow(click(passButton))
	v.at("/auth/signin")
	v.do(chromedp.WaitVisible(chromedp.CSS(`[role=alert]`)))
	v.signedOut()
}

func cancelled(v *visitor) {
	v.open("/auth/signin")
	v.follow(click(devButton))
	v.follow(click("button.cancel"))
	v.at("/auth/signin")
	v.do(chromedp.WaitVisible(chromedp.CSS(`[role=alert]`)))
	v.signedOut()
}

func linkTwice(v *visitor) {
	v.open("/auth/signin")
	byMail(v)
	v.sees("Hello, mail@example.com")
	other := visit(v.T, v.site)
	other.open("/mailbox")
	other.follow(click("a.button"))
	other.at("/auth/error")
	other.sees("was used before or has expired")
	other.signedOut()
}

func signOutPage(v *visitor) {
	v.open("/auth/signin")
	byCredentials(v)
	v.open("/auth/signout")
	v.signedIn("/auth/session", "Demo User", "demo@example.com") // opening the page changes nothing
	v.open("/auth/signout")
	v.follow(click(`form[action$="/signout"] button`))
	v.signedOut()
}

// keyboard signs in and out with Tab and Enter, and wants to see where the keyboard is at each stop.
func keyboard(v *visitor) {
	v.open("/")
	v.tabTo("nav a.latchkey-signin")
	v.follow(press("\r"))
	v.tabTo(userField)
	v.do(press("demo@example.com"))
	v.tabTo(passwordField)
	v.do(press("demo"))
	v.follow(press("\r"))
	v.sees("Hello, Demo User")
	v.tabTo(signOutButton)
	v.follow(press("\r"))
	v.sees("Hello, stranger")
	v.signedOut()
}

// tabTo presses Tab until an element has the focus.
func (v *visitor) tabTo(selector string) {
	v.Helper()
	for range 20 {
		v.do(press("\t"))
		// After the last stop the focus leaves the page, and its body stands in for it.
		if !run(v, chromedp.Evaluate[bool](`document.activeElement == document.body || getComputedStyle(document.activeElement).outlineStyle != "none"`)) {
			v.Errorf("the focus cannot be seen on %s", run(v, chromedp.Evaluate[string](`document.activeElement.outerHTML`)))
		}
		if run(v, chromedp.Evaluate[bool](fmt.Sprintf(`document.activeElement.matches(%s)`, quote(selector)))) {
			return
		}
	}
	v.Fatalf("Tab does not lead to %s on the page %s", selector, v.page())
}

func withoutJavaScript(v *visitor) {
	call(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	v.do(chromedp.Navigate(`data:text/html,<noscript><p id="off">off</p></noscript>`), chromedp.WaitVisible(chromedp.CSS("#off")))
	v.do(chromedp.Navigate(v.site + "/auth/signin"))
	byCredentials(v)
	v.do(chromedp.WaitVisible(chromedp.CSS(signOutButton)))
	v.follow(click(signOutButton))
	v.do(chromedp.WaitVisible(chromedp.CSS("nav a.latchkey-signin")))
}
