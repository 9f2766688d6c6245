package ui_test

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/ui"
)

// TestPagesHaveTheirStyle draws every page in every state, as it is and as its scripts change it: a rule of the whole
// stylesheet that has something there to match is in the page's own style.
func TestPagesHaveTheirStyle(t *testing.T) {
	t.Parallel()
	whole := rulesOf(string(ui.Stylesheet()))
	if len(whole) < 100 {
		t.Fatalf("%d rules were found in the whole stylesheet", len(whole))
	}
	used := map[string]bool{}
	for name, component := range dressed() {
		page := render(t, component)
		own, root := rulesOf(styleOf(page)), scripted(t, page)
		for _, rule := range whole {
			if rule.ofParts() || !rule.matches(root) {
				continue
			}
			used[rule.String()] = true
			if !slices.ContainsFunc(own, func(r cssRule) bool { return r.String() == rule.String() }) {
				t.Errorf("%s: without %s", name, rule)
			}
		}
	}
	for _, rule := range whole {
		if used[rule.String()] == rule.ofParts() {
			t.Errorf("a page here has something for %s: %v", rule, used[rule.String()])
		}
	}
}

// ofParts reports whether the rule is for the pages of parts alone, which have the whole stylesheet.
func (r cssRule) ofParts() bool {
	return slices.Contains([]string{
		".error + .status", ".secret + .status", ".message + .site", "form + .site", "p:empty",
	}, r.text)
}

// dressed are the pages in all their states, by name.
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
		all[fmt.Sprintf("sign-out %d", i)] = ui.SignOutPage(ui.SignOutView{Page: page, CSRFToken: token, URL: "/"})
		all[fmt.Sprintf("verify-request %d", i)] = ui.VerifyRequestPage(ui.VerifyRequestView{Page: page, URL: "/"})
		all[fmt.Sprintf("confirm %d", i)] = ui.ConfirmPage(ui.ConfirmView{Page: page, Action: "/", Email: "a@b.test"})
		all[fmt.Sprintf("confirm whoever %d", i)] = ui.ConfirmPage(ui.ConfirmView{Page: page, Action: "/"})
	}
	delete(all, "signin-linked-stylesheet") // has none of its own
	delete(all, "signin-linked-script")
	return all
}

// TestStyleOfAPage: what a page has nothing for is not sent, but where the browser may know the style by its hash or
// something else stands on the page.
func TestStyleOfAPage(t *testing.T) {
	t.Parallel()
	const dark, form, failure, two = "theme-dark{", "label{", ".signin .error{", ".pairs{"
	bare := page
	bare.Nonce = ""
	failed := signIn(page, mock)
	failed.Error = "OAuthSignin"
	for _, row := range []struct {
		name string
		page templ.Component
		has  []string
	}{
		{"buttons", ui.SignInPage(signIn(page, mock, plain)), nil},
		{"a form", ui.SignInPage(signIn(page, credentials)), []string{form}},
		{"two columns", ui.SignInPage(signIn(page, mock, plain, mock, plain, mock)), []string{two}},
		{"a failure", ui.SignInPage(failed), []string{failure}},
		{"a dark page", ui.SignInPage(signIn(themed, mock)), []string{dark}},
		{"sign-out", ui.SignOutPage(ui.SignOutView{Page: page}), nil},
		{"no nonce", ui.SignInPage(signIn(bare, mock)), []string{dark, form, failure, two}},
		{"a page of a part", ui.Shell(page, "Part"), []string{dark, form, failure, two}},
		{"a sheet", ui.Sheet(page, "Part"), []string{dark, form, failure, two}},
	} {
		style := styleOf(render(t, row.page))
		for _, rule := range []string{dark, form, failure, two} {
			if strings.Contains(style, rule) != slices.Contains(row.has, rule) {
				t.Errorf("%s: %s is there: %v", row.name, rule, strings.Contains(style, rule))
			}
		}
	}
}

// styleOf is what stands in the first style element of a page.
func styleOf(page string) string {
	_, page, _ = strings.Cut(page, "<style")
	_, page, _ = strings.Cut(page, ">")
	style, _, _ := strings.Cut(page, "</style>")
	return style
}
