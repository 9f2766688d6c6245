package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Selectors of the account page.
const (
	otherSession = `#sessions li:nth-child(2) button`
	emailOpens   = `#email summary`
	newAddress   = `#new-email`
	changeButton = `form[action$="/account/email"]:has(#new-email) button`
	goOnButton   = `button.button`
	deleteOpens  = `#danger summary`
	deletePhrase = `#delete-phrase`
	deleteButton = `#danger form button[type=submit]`
)

// TestAccount tests the life cycle of an account on each router.
func TestAccount(t *testing.T) {
	for _, example := range examples {
		t.Run(example, func(t *testing.T) {
			site := start(t, example)
			v, laptop := visit(t, site), visit(t, site)
			const old, fresh = "way@example.com", "new-way@example.com"
			signsUp(v, old, firstPassword)
			v.open("/auth/signout")
			v.follow(click(`form[action$="/signout"] button`))
			byPassword(v, old, firstPassword)
			v.at("/")
			forgets(laptop, old, nextPassword)
			v.signedOut() // a new password ends all sessions
			byPassword(v, old, nextPassword)
			byPassword(laptop, old, nextPassword)

			v.open("/auth/account")
			v.sees("This device")
			v.sees("on Linux")
			v.follow(click(otherSession))
			v.at("/auth/account")
			v.sees("signed out")
			laptop.signedOut()
			if n := run(v, chromedp.Evaluate[int](`document.querySelectorAll("#sessions li").length`)); n != 1 {
				t.Errorf("%d sessions are left", n)
			}

			moves(v, old, fresh)
			takesBack(visit(t, site), old)
			v.signedOut()

			byPassword(v, old, nextPassword)
			deletes(v)
			v.signedOut()
			tries(v, old, nextPassword)
			v.at("/auth/signin")
			v.signedOut()
		})
	}
}

// Passwords of a new user.
const firstPassword, nextPassword = "three quiet horses", "four loud kettles!"

// signsUp creates an account with a password, and signs in with the link in the email.
func signsUp(v *visitor, address, password string) {
	v.Helper()
	v.open("/auth/signin")
	v.follow(click(`a[href$="/password/sign-up"]`))
	form := `form[action$="/password/sign-up"] `
	v.do(write(form+"input[name=email]", address), write(form+"input[name=password]", "short"))
	v.follow(click(form + "button.button"))
	v.sees("15")
	v.signedOut()
	v.open("/auth/password/sign-up")
	v.do(write(form+"input[name=email]", address), write(form+"input[name=name]", "Newcomer"),
		write(form+"input[name=password]", password))
	v.follow(click(form + "button.button"))
	v.sees("Check your email")
	v.signedOut()
	v.letter("verify", address)
	v.follow(click(goOnButton))
	v.at("/")
	v.sees("Hello, Newcomer")
}

// tries enters an address and a password on the sign-in page.
func tries(v *visitor, address, password string) {
	v.Helper()
	v.open("/auth/signin")
	v.do(write(userField, address), write(passwordField, password))
	v.follow(click(passButton))
}

// byPassword signs in with a password.
func byPassword(v *visitor, address, password string) {
	v.Helper()
	tries(v, address, password)
	v.at("/")
}

// forgets resets the password by email, in a browser that is not signed in.
func forgets(v *visitor, address, password string) {
	v.Helper()
	v.open("/auth/password/forgot")
	v.do(write(`form[action$="/password/forgot"] input[name=email]`, address))
	v.follow(click(`form[action$="/password/forgot"] button`))
	v.sees("Check your email")
	v.letter("reset", address)
	v.do(write(`form[action$="/password/reset"] input[type=password]`, password))
	v.follow(click(`form[action$="/password/reset"] button.button`))
	v.signedOut()
	tries(v, address, firstPassword)
	v.at("/auth/signin")
}

// newcomer signs in with an email link, which creates an account.
func newcomer(v *visitor, address string) {
	v.Helper()
	v.open("/auth/signin")
	v.do(write(emailField, address))
	v.follow(click(emailButton))
	v.letter("sign-in", address)
	v.at("/")
}

// moves changes the user's address. The change takes effect only after the new address is verified.
func moves(v *visitor, old, fresh string) {
	v.Helper()
	v.open("/auth/account")
	v.do(click(emailOpens), write(newAddress, fresh))
	v.follow(click(changeButton))
	v.at("/auth/account")
	v.sees("Open it in this browser to finish")
	v.sees(old)
	v.letter("email-change", fresh)
	v.sees(fresh)
	v.follow(click(goOnButton))
	v.at("/auth/account")
	v.sees("Email updated.")
	v.sees(fresh)
}

// takesBack undoes the change with the email to the old address, in a browser that is not signed in.
func takesBack(v *visitor, old string) {
	v.Helper()
	v.letter("email-changed", old)
	v.sees(old)
	v.follow(click(goOnButton))
	v.sees("Email change undone")
	v.signedOut()
}

// deletes deletes the user's account. It checks that the confirmation phrase is required.
func deletes(v *visitor) {
	v.Helper()
	v.open("/auth/account")
	v.do(click(deleteOpens), write(deletePhrase, "delete it"))
	v.follow(click(deleteButton))
	v.at("/auth/account")
	v.sees("The text doesn't match")
	v.do(click(deleteOpens), write(deletePhrase, "delete my account"))
	v.follow(click(deleteButton))
	v.sees("Account deleted")
}

// accountByKeyboard changes an address and deletes an account with Tab and Enter. It checks that the focus is visible
// at each stop.
func accountByKeyboard(v *visitor) {
	newcomer(v, "keyboard@example.com")
	v.open("/auth/account")
	v.tabTo(emailOpens)
	v.do(press("\r"))
	v.tabTo(newAddress)
	v.do(press("new-keyboard@example.com"))
	v.follow(press("\r"))
	v.sees("Open it in this browser to finish")
	link := v.mailed("email-change", "new-keyboard@example.com")
	v.open("/mailbox")
	v.tabTo(link)
	v.follow(press("\r"))
	v.tabTo(goOnButton)
	v.follow(press("\r"))
	v.sees("Email updated.")
	v.tabTo(deleteOpens)
	v.do(press("\r"))
	v.tabTo(deletePhrase)
	v.do(press("delete my account"))
	v.follow(press("\r"))
	v.sees("Account deleted")
	v.signedOut()
}

// accountWithoutJavaScript does the same with clicks and without JavaScript.
func accountWithoutJavaScript(v *visitor) {
	newcomer(v, "scriptless@example.com")
	v.scriptless()
	v.do(chromedp.Navigate(v.site + "/auth/account"))
	v.do(click(emailOpens), write(newAddress, "new-scriptless@example.com"))
	v.follow(click(changeButton))
	v.do(chromedp.WaitVisible(chromedp.CSS(".notice")))
	link := v.mailed("email-change", "new-scriptless@example.com")
	v.do(chromedp.Navigate(v.site + "/mailbox"))
	v.follow(click(link))
	v.follow(click(goOnButton))
	v.do(chromedp.WaitVisible(chromedp.CSS(".notice")))
	v.do(click(deleteOpens), write(deletePhrase, "delete my account"))
	v.follow(click(deleteButton))
	v.do(chromedp.WaitVisible(chromedp.CSS("a.back")))
	call(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	v.signedOut()
}
