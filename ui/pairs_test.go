package ui_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/ui"
	"github.com/latchkey-go/latchkey/ui/locales"
)

var (
	providerTag = regexp.MustCompile(`<div class="provider"[^>]*>`)
	firstButton = regexp.MustCompile(`(?s)<button.*?</button>`)
	anyTag      = regexp.MustCompile(`<[^>]*>`)
)

// TestPairs checks which buttons are next to each other: those of more than four consecutive buttons, except for the
// last of an odd number.
func TestPairs(t *testing.T) {
	for _, row := range []struct{ name, ways, want string }{
		{"none", "", ""},
		{"one", "o", "."},
		{"four", "oooo", "...."},
		{"five", "ooooo", "====."},
		{"six", "oooooo", "======"},
		{"six above a form", "ooooooe", "======."},
		{"six below a form", "eoooooo", ".======"},
		{"two runs of three", "oooeooo", "......."},
		{"a long run and a short one", "oooooeoo", "====...."},
		{"forms alone", "ec", ".."},
	} {
		t.Run(row.name, func(t *testing.T) {
			var ways []ui.Provider
			for _, way := range row.ways {
				ways = append(ways, map[rune]ui.Provider{'o': mock, 'e': email, 'c': credentials}[way])
			}
			got := ""
			for _, way := range providerTag.FindAllString(render(t, ui.SignInPage(signIn(page, ways...))), -1) {
				got += map[bool]string{true: "=", false: "."}[strings.Contains(way, "data-paired")]
			}
			if got != row.want {
				t.Errorf("stand as %q, want %q", got, row.want)
			}
		})
	}
}

// TestPairedNames: for screen readers, buttons in two columns have the same labels as in one.
func TestPairedNames(t *testing.T) {
	for _, locale := range locales.All() {
		t.Run(locale.Tag, func(t *testing.T) {
			spoken := page
			spoken.Locale = locale
			one := render(t, ui.SignInPage(signIn(spoken, mock)))
			five := render(t, ui.SignInPage(signIn(spoken, mock, mock, mock, mock, mock)))
			want := buttonText(one)
			if got := buttonText(five); got != want || !strings.Contains(want, mock.Name) {
				t.Errorf("says %q, want %q", got, want)
			}
		})
	}
}

// buttonText returns the text of the first button.
func buttonText(page string) string {
	return strings.TrimSpace(anyTag.ReplaceAllString(firstButton.FindString(page), ""))
}
