package ui_test

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/ui"
)

// TestEveryRuleIsUsed renders every page in every state, with and without the elements of its script. Each rule of the
// stylesheet matches something.
func TestEveryRuleIsUsed(t *testing.T) {
	t.Parallel()
	whole := rulesOf(string(ui.Stylesheet()))
	if len(whole) < 100 {
		t.Fatalf("%d rules were found in the stylesheet", len(whole))
	}
	used := map[string]bool{}
	for _, component := range dressed() {
		root := scripted(t, render(t, component))
		for _, rule := range whole {
			if !rule.ofParts() && rule.matches(root) {
				used[rule.String()] = true
			}
		}
	}
	for _, rule := range whole {
		if used[rule.String()] == rule.ofParts() {
			t.Errorf("a page here has something for %s: %v", rule, used[rule.String()])
		}
	}
}

// ofParts reports whether the rule is only for pages of plugins.
func (r cssRule) ofParts() bool {
	return slices.Contains([]string{
		".message + .site", "form + .site", "p:empty", "select", "ul.message",
	}, r.text)
}

// dressed returns the pages in all their states, by name.
func dressed() map[string]templ.Component {
	all := views()
	painted, marked, checked := mock, plain, credentials
	painted.Style = ui.Style{Background: "#123456", Logo: "https://img.test/l.svg"}
	marked.Style.Mark = &ui.Mark{Shapes: []ui.Shape{{Path: "M0 0h24v24z"}}}
	checked.ID, checked.Fields = "checked", []ui.Field{{Name: "terms", Type: "checkbox"}, {Name: "tint", Type: "color"}}
	blue, short := plain, withAddress
	blue.Style.Background = "blue"
	short.Links = nil
	ways := [][]ui.Provider{
		{mock}, {painted, blue, marked}, {mock, plain, mock, plain, mock}, {email}, {credentials}, {withAddress}, {short},
		{passkey}, {checked},
	}
	errors := []string{"", "CredentialsSignin", "EmailSignin", "OAuthSignin"}
	shells := []ui.Page{page, themed, named}
	for _, locale := range []ui.Locale{{Tag: "ja"}, {Tag: "zh-Hans"}, {Tag: "ar", Dir: "rtl"}} {
		shells = append(shells, ui.Page{BasePath: "/auth", Nonce: "n", Locale: locale, Theme: ui.Theme{ColorScheme: "light"}})
	}
	for set := range 1 << len(ways) {
		if n := bits.OnesCount(uint(set)); n > 2 && n < len(ways) {
			continue
		}
		view := signIn(shells[set%len(shells)])
		view.Error, view.Reference = errors[set%len(errors)], "7KQ2-M9XD"
		for i, way := range ways {
			if set&(1<<i) != 0 {
				view.Providers = append(view.Providers, way...)
			}
		}
		all[fmt.Sprintf("sign-in of %b", set)] = ui.SignInPage(view)
	}
	for i, page := range shells {
		for _, name := range []string{"", "Configuration", "AccessDenied", "Verification", "TooManyRequests"} {
			all[fmt.Sprintf("error %q %d", name, i)] = ui.ErrorPage(ui.ErrorView{
				Page: page, Error: name, Reference: "7KQ2-M9XD", URL: "/", Host: "app.test",
			})
		}
		ada := ui.Visitor{Name: "Ada", Email: "ada@example.com", Image: "/ada.png"}
		signedIn := ui.SignInView{Page: page, CallbackURL: "/", SignedIn: ada, Error: "SessionRequired"}
		all[fmt.Sprintf("signed in %d", i)] = ui.SignInPage(signedIn)
		signedIn.SwitchURL = "/auth/signin?prompt=login"
		all[fmt.Sprintf("signed in, card %d", i)] = ui.SignInPage(signedIn)
		all[fmt.Sprintf("sign-out of a user %d", i)] = ui.SignOutPage(ui.SignOutView{Page: page, SignedIn: ada})
		signUp := ui.SignUpView{
			Page: page, Heading: "Sign up", Form: "sign-up", Foot: ui.Link{Label: "Sign in", Action: "signin"},
			Providers: []ui.Provider{mock, passkey},
		}
		field := ui.FormField("sign-up", ui.Field{Name: "password", Type: "password"}, "Too short", false)
		all[fmt.Sprintf("sign-up %d", i)] = with(ui.SignUpPage(signUp), with(ui.Form("/", ""), field,
			ui.PasswordHint(page.Locale, "15 characters", 15, true)))
		all[fmt.Sprintf("sent %d", i)] = ui.SentPage(ui.SentView{
			Page: page, Text: "Sent.", Email: "ada@gmail.com", ResendURL: "/again", ChangeURL: "/other", URL: "/",
		})
		all[fmt.Sprintf("sign-out %d", i)] = ui.SignOutPage(ui.SignOutView{Page: page, CSRFToken: token, URL: "/"})
		all[fmt.Sprintf("verify-request %d", i)] = ui.VerifyRequestPage(ui.VerifyRequestView{Page: page, URL: "/"})
		all[fmt.Sprintf("confirm %d", i)] = ui.ConfirmPage(ui.ConfirmView{Page: page, Action: "/", Email: "a@b.test"})
		all[fmt.Sprintf("confirm whoever %d", i)] = ui.ConfirmPage(ui.ConfirmView{Page: page, Action: "/"})
	}
	return all
}
