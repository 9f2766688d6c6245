package browser_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	passwords "github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/ui"
)

// emailFirst splits the sign-in page.
func emailFirst(c *core.Config) { c.Pages.EmailFirst = true }

// signUpFields adds a required field and a checkbox to the sign-up.
func signUpFields(c *core.Config) {
	c.Providers[3] = passwords.New(passwords.Options{Mail: mailbox.New(), SignUpFields: passwords.SignUpFields{
		Fields: []ui.Field{
			{Name: "company", Label: "Company", Autocomplete: "organization"},
			{Name: "news", Label: "Send me news about the product", Type: "checkbox"},
		},
		Check: func(_ context.Context, values map[string]string) error {
			if values["company"] == "Acme" {
				return nil
			}
			return &core.Problem{Status: 422, Code: "company", Field: "company", Detail: "We don't know this company."}
		},
		Save: func(context.Context, *core.User, map[string]string) error { return nil },
	}})
}

const (
	firstField  = `form[data-next] input[name=email]`
	firstButton = `form[data-next] button`
)

// empty deletes the text of a field.
func empty(selector string) step {
	return chromedp.Evaluate[chromedp.Void](`void (document.querySelector(` + quote(selector) + `).value = "")`)
}

// typesAddress goes to the second page of PagesConfig.EmailFirst.
func typesAddress(v *visitor) {
	v.open("/auth/signin")
	v.do(write(firstField, "ada@example.com"))
	v.follow(click(firstButton))
}

// refusedField submits the sign-up form with a company that the application does not know.
func refusedField(v *visitor) {
	v.open("/auth/password/sign-up")
	v.do(write(`input[name=email]`, "bob@example.com"), write(`input[name=company]`, "Nowhere"),
		click(`input[name=news]`), write(`input[name=password]`, firstPassword))
	v.follow(click(`form[action$="/password/sign-up"] button.button`))
}

// TestEmailFirst: with and without JavaScript the password follows the address, a wrong password keeps the address,
// and the link changes it.
func TestEmailFirst(t *testing.T) {
	for _, script := range []bool{true, false} {
		name := "with JavaScript"
		if !script {
			name = "without JavaScript"
		}
		t.Run(name, func(t *testing.T) {
			v := visit(t, serveLanguages(t, ada, emailFirst))
			if !script {
				v.scriptless()
			}
			visible := func(selector string) { v.do(chromedp.WaitVisible(chromedp.CSS(selector))) }
			v.do(chromedp.Navigate(v.site + "/auth/signin"))
			visible(firstField)
			v.do(write(firstField, "ada@example.com"))
			v.follow(click(firstButton))
			visible(passwordField + ":focus")
			visible(userField + `[readonly][value="ada@example.com"]`)
			v.do(write(passwordField, "not the password"))
			v.follow(click(passButton))
			visible(passwordField + ":focus[aria-invalid=true]")
			visible(userField + `[readonly][value="ada@example.com"]`)
			v.follow(click(`a[href*="step=email"]`))
			visible(firstField + `[value="ada@example.com"]`)
			v.do(empty(firstField), write(firstField, "bob@example.com"))
			v.follow(click(firstButton))
			visible(userField + `[readonly][value$="bob@example.com"]`)
			v.follow(click(emailButton))
			visible(`.message`)
		})
	}
}

// TestSignUpFieldsOnThePage: a refused field has the focus and its error, and the form keeps what was typed.
func TestSignUpFieldsOnThePage(t *testing.T) {
	v := visit(t, serveLanguages(t, ada, signUpFields))
	refusedField(v)
	v.focused("input[name=company]")
	v.sees("We don't know this company.")
	kept := run(v, chromedp.Evaluate[bool](`document.querySelector("input[name=company]").value === "Nowhere" &&
		document.querySelector("input[name=news]").checked &&
		document.querySelector("input[name=email]").value === "bob@example.com" &&
		document.getElementById(document.activeElement.getAttribute("aria-describedby")).innerText.includes("company")`))
	if !kept {
		t.Errorf("the form lost values: %s", v.page())
	}
	v.do(empty(`input[name=company]`), write(`input[name=company]`, "Acme"), write(`input[name=password]`, firstPassword))
	v.follow(click(`form[action$="/password/sign-up"] button.button`))
	v.at("/auth/password/sent")
}
