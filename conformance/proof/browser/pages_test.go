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
		{"a failure is on the screen, on a phone", func(v *visitor) { failureInView(v, 390, 844) }},
		{"a failure is on the screen, in a low window", func(v *visitor) { failureInView(v, 1000, 600) }},
		{"canceling at the provider returns to the sign-in page", cancelled},
		{"a link works once", linkTwice},
		{"a link in a browser that did not ask for it", linkElsewhere},
		{"the sign-out page asks first", signOutPage},
		{"texts added by script: user, email address, last sign-in method", facts},
		{"a password can be looked at, and goes nowhere else", shownPassword},
		{"with the keyboard alone", keyboard},
		{"without JavaScript", withoutJavaScript},
		{"an account, with the keyboard alone", accountByKeyboard},
		{"an account, without JavaScript", accountWithoutJavaScript},
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

// failureInView enters a wrong password and an invalid address. The message must be on the screen, the focus in the
// form that failed, and the fields must keep their values except for the password.
func failureInView(v *visitor, width, height int64) {
	v.do(chromedp.EmulateViewport(width, height))
	v.open("/auth/signin")
	v.inView("h1")
	v.do(write(userField, "somebody@example.com"), write(passwordField, "wrong"))
	v.follow(click(passButton))
	v.inView(`form[action$="/callback/password"] [role=alert]`)
	v.holdsText(userField, "somebody@example.com")
	v.holdsText(passwordField, "")
	v.focused(passwordField)

	v.open("/auth/signin")
	v.do(write(emailField, "somebody@127.0.0.1"), write(passwordField, "wrong"))
	v.follow(click(emailButton))
	v.at("/auth/signin")
	v.sees("send the email. Check the address")
	v.inView(`form[action$="/callback/password"] [role=alert]`)
	v.holdsText(emailField, "somebody@127.0.0.1")
	v.holdsText(passwordField, "")
	v.focused(emailField)

	v.open("/auth/signin")
	v.holdsText(emailField, "")
}

// inView checks that the whole element is on the screen.
func (v *visitor) inView(selector string) {
	v.Helper()
	v.do(chromedp.WaitVisible(chromedp.CSS(selector)))
	got := run(v, chromedp.Evaluate[string](`(() => {
		const r = document.querySelector(`+quote(selector)+`).getBoundingClientRect();
		return r.top >= 0 && r.bottom <= innerHeight ? "" : r.top + " to " + r.bottom + " of " + innerHeight
	})()`))
	if got != "" {
		v.Errorf("%s is off the screen: %s", selector, got)
	}
}

func (v *visitor) holdsText(selector, want string) {
	v.Helper()
	if got := run(v, chromedp.Evaluate[string](`document.querySelector(`+quote(selector)+`).value`)); got != want {
		v.Errorf("%s holds %q, want %q", selector, got, want)
	}
}

// focused waits until an element has the focus. A browser moves it to a field with autofocus after the page has loaded.
func (v *visitor) focused(selector string) {
	v.Helper()
	v.do(chromedp.WaitVisible(chromedp.CSS(selector + ":focus")))
}

func cancelled(v *visitor) {
	v.open("/auth/signin")
	v.follow(click(devButton))
	v.follow(click("button.cancel"))
	v.at("/auth/signin")
	v.sees("Sign-in was canceled")
	v.signedOut()
}

func linkTwice(v *visitor) {
	v.open("/auth/signin")
	byMail(v)
	v.sees("Hello, mail@example.com")
	other := visit(v.T, v.site)
	other.letter("sign-in", "mail@example.com")
	other.follow(click("#submitButton"))
	other.at("/auth/error")
	other.sees("has expired or was already used")
	other.signedOut()
}

// linkElsewhere opens a sign-in link in another browser. The page asks for confirmation, and its button signs in.
func linkElsewhere(v *visitor) {
	v.open("/auth/signin")
	v.do(write(emailField, "elsewhere@example.com"))
	v.follow(click(emailButton))
	other := visit(v.T, v.site)
	other.letter("sign-in", "elsewhere@example.com")
	other.at("/auth/callback/email")
	other.sees("elsewhere@example.com")
	other.signedOut()
	other.letter("sign-in", "elsewhere@example.com")
	other.follow(click("#submitButton"))
	other.sees("Hello, elsewhere@example.com")
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

// facts checks the texts that a script adds to pages. The server's HTML is the same for all users.
func facts(v *visitor) {
	v.open("/auth/signin")
	v.do(write(emailField, "ada@example.com"))
	v.follow(click(emailButton))
	v.sees("Sent to ada@example.com.")
	v.becomes(`document.querySelector("[data-resend] button").textContent.startsWith("Resend email (")`)
	v.follow(click(`a.back`))
	v.at("/auth/signin")
	v.holdsText(emailField, "ada@example.com")
	v.do(chromedp.WaitNotPresent(chromedp.CSS(".last"))) // the link was not opened
	v.follow(click(devButton))
	v.open("/auth/signin")
	v.do(chromedp.WaitNotPresent(chromedp.CSS(".last"))) // the user left the provider's page
	byCredentials(v)
	v.open("/auth/signin")
	v.sees("You're already signed in")
	v.sees("demo@example.com")
	v.follow(click("a.back"))
	v.sees("You're signed in as demo@example.com.")
	v.do(chromedp.WaitVisible(chromedp.CSS(passButton + " .last")))
	v.follow(click(`.who a`))
	v.at("/")
	v.open("/auth/signout")
	v.sees("You're signed in as demo@example.com.")
	v.follow(click("a.back"))
	v.at("/")
	v.signedIn("/auth/session", "Demo User", "demo@example.com")
}

// shownPassword shows a password and hides it again. The button for an email link does not submit the password.
func shownPassword(v *visitor) {
	v.open("/auth/signin")
	v.do(write(passwordField, "secret"))
	typeOf := `document.querySelector(` + quote(passwordField) + `).type`
	for _, want := range []string{"text", "password", "text"} {
		v.do(click(".show"))
		if got := run(v, chromedp.Evaluate[string](typeOf)); got != want {
			v.Errorf("the field is one of type %s, want %s", got, want)
		}
	}
	sent := run(v, chromedp.Evaluate[string](`(() => {
		const form = document.querySelector(`+quote(passButton)+`).form, sent = [];
		const stop = (event) => event.preventDefault();
		for (const button of form.querySelectorAll("button[type=submit]")) {
			form.addEventListener("submit", stop, {once: true});
			form.dispatchEvent(new SubmitEvent("submit", {submitter: button, cancelable: true}));
			sent.push(new FormData(form).has("password"));
		}
		return sent.join() + " " + form.querySelector("[name=password]").type;
	})()`))
	if sent != "true,false password" {
		v.Errorf("sent with a password, and the type of the field: %s", sent)
	}
}

// keyboard signs in and out with Tab and Enter. It checks that the focus is visible at each stop.
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
	v.sees("Welcome")
	v.signedOut()
}

// tabTo presses Tab until an element has the focus.
func (v *visitor) tabTo(selector string) {
	v.Helper()
	for range 40 {
		v.do(press("\t"))
		// After the last stop the focus leaves the page, and activeElement is the body.
		seen := `document.activeElement == document.body || ` +
			`getComputedStyle(document.activeElement).outlineStyle != "none"`
		if !run(v, chromedp.Evaluate[bool](seen)) {
			v.Errorf("the focus cannot be seen on %s", run(v, chromedp.Evaluate[string](`document.activeElement.outerHTML`)))
		}
		if run(v, chromedp.Evaluate[bool](fmt.Sprintf(`document.activeElement.matches(%s)`, quote(selector)))) {
			return
		}
	}
	v.Fatalf("Tab does not reach %s on the page %s", selector, v.page())
}

// scriptless disables JavaScript in the browser, and checks that it is disabled.
func (v *visitor) scriptless() {
	v.Helper()
	call(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	v.do(chromedp.Navigate(`data:text/html,<noscript><p id="off">off</p></noscript>`),
		chromedp.WaitVisible(chromedp.CSS("#off")))
}

func withoutJavaScript(v *visitor) {
	v.scriptless()
	v.do(chromedp.Navigate(v.site + "/auth/signin"))
	byCredentials(v)
	v.do(chromedp.WaitVisible(chromedp.CSS(signOutButton)))
	v.follow(click(signOutButton))
	v.do(chromedp.WaitVisible(chromedp.CSS("nav a.latchkey-signin")))
}
