package ui_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/ui"
)

// TestLean says of pages which rules they keep: those of what is on them, and of what their scripts add.
func TestLean(t *testing.T) {
	t.Parallel()
	failed := signIn(page, mock, credentials)
	failed.Error, failed.Reference = "OAuthSignin", "7KQ2-M9XD"
	linked := signIn(page, mock, credentials)
	linked.ScriptURL = "/script.js"
	named, columns := signIn(named, mock), signIn(page, mock, plain, mock, plain, mock, email)
	always := []string{"body{", ".card{", ".button{", ".button:hover{", "h1{", ":focus-visible{", "@keyframes busy{to{"}
	forms := []string{"label{", ".show{", ".secret:has(.show) > input{", `.show[aria-pressed="false"] .off{`, "input:not("}
	pairs := []string{".pairs{", ".pairs > :not([data-paired]){", "[data-paired] .choice{", ".unseen{"}
	failure := []string{".signin .error{", `.error[role="alert"] svg{`, ".reference{"}
	dark := []string{"body.__next-auth-theme-dark{", ",.message strong{", ".small .site{", ".logo{"}
	for _, row := range []struct {
		name      string
		view      ui.SignInView
		has, lack [][]string
	}{
		{"buttons", signIn(page, mock, plain), [][]string{always, {".last{", ".who{"}}, [][]string{pairs, failure, dark}},
		{"a form", signIn(page, mock, credentials), [][]string{always, forms}, [][]string{pairs, failure, dark}},
		{"a script of its own", linked, [][]string{always, forms, {".last{", ".site{"}}, [][]string{pairs, dark}},
		{"two columns", columns, [][]string{always, pairs}, [][]string{failure, dark}},
		{"a passkey", signIn(page, passkey), [][]string{always, {".status{"}}, [][]string{pairs, dark, {".way{"}}},
		{"a failure", failed, [][]string{always, forms, failure}, [][]string{pairs, dark}},
		{"a theme", signIn(themed, mock), [][]string{always, {dark[0]}}, [][]string{pairs, failure}},
		{"a name", named, [][]string{always, dark[2:]}, [][]string{pairs, failure, dark[:2]}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			whole := render(t, ui.SignInPage(row.view))
			lean := string(ui.Lean([]byte(whole)))
			for i, selectors := range append(row.has, row.lack...) {
				for _, selector := range selectors {
					if strings.Contains(lean, selector) != (i < len(row.has)) || !strings.Contains(whole, selector) {
						t.Errorf("%s: kept %v", selector, strings.Contains(lean, selector))
					}
				}
			}
			head, rest, _ := strings.Cut(whole, string(ui.Stylesheet()))
			if !strings.HasPrefix(lean, head) || !strings.HasSuffix(lean, rest) ||
				strings.Count(lean, "{") != strings.Count(lean, "}") {
				t.Errorf("more than rules changed:\n%s", lean)
			}
			if again := string(ui.Lean([]byte(lean))); again != lean {
				t.Error("a page without the whole stylesheet changed")
			}
		})
	}
}

// TestLeanOfNames: what somebody calls a provider removes no rules, should it look like an element or have a class in
// it.
func TestLeanOfNames(t *testing.T) {
	t.Parallel()
	rules := func(name string) string {
		provider := plain
		provider.Name = name
		_, after, _ := strings.Cut(string(ui.Lean([]byte(render(t, ui.SignInPage(signIn(page, provider)))))), "<style")
		style, _, _ := strings.Cut(after, "</style>")
		return style
	}
	for _, name := range []string{"<img src=x>", "onerror", "errors"} {
		if rules(name) != rules("zzz") {
			t.Errorf("%s has other rules", name)
		}
	}
}
