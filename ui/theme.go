package ui

import (
	"fmt"
	"strings"
)

// Theme is the look that an application gives to the pages. The zero value is our own: neutral, light or dark as the
// visitor's system asks.
type Theme struct {
	// ColorScheme is "auto" (the default: what the visitor's system prefers), "light" or "dark".
	ColorScheme string
	// BrandColor is a CSS colour for the main button and the mark on top: hexadecimal, a colour name, or a colour function
	// such as rgb() or oklch(). Default: ink on paper, paper on ink.
	BrandColor string
	// ButtonText is the CSS colour of text on BrandColor. Default: black or white, whichever can be read on it.
	ButtonText string
	// Logo is the address of a picture shown above the heading: an http(s) URL, a path that starts with a slash, or a
	// data:image URL. Default: a small key.
	Logo string
	// DarkLogo takes the place of Logo on dark pages, under the same rules. Default: Logo.
	DarkLogo string
	// Name is what people call the application: "Acme". It stands in the titles of the pages, in the heading of the
	// sign-in page and as the text of the logo. Default: none.
	Name string
	// Radius rounds buttons and fields, and what is larger in proportion: "0" or a length in px or rem up to 2rem.
	// Default: "0.75rem".
	Radius string
	// Font is a list of font families, "Inter, sans-serif": such as a system has, or Page.StylesheetURL brings. Default:
	// the system's own.
	Font string
	// Terms and Privacy are the addresses of the application's terms and of its privacy policy, linked beneath the
	// sign-in page: an http(s) URL or a path that starts with a slash. Default: no link.
	Terms, Privacy string
}

// Validate reports everything that is wrong with t, one sentence each, or nothing. A page drawn with a faulty theme
// leaves the faulty parts out.
func (t Theme) Validate() []string {
	var problems []string
	switch t.ColorScheme {
	case "", schemeAuto, schemeLight, schemeDark:
	default:
		problems = append(problems, fmt.Sprintf("theme color scheme %q is unknown: use auto, light or dark", t.ColorScheme))
	}
	problems = checkColor(problems, "theme brand color", t.BrandColor)
	problems = checkColor(problems, "theme button text", t.ButtonText)
	problems = checkImage(problems, "theme logo", t.Logo)
	problems = checkImage(problems, "theme dark logo", t.DarkLogo)
	if t.Radius != "" && !safeRadius(t.Radius) {
		problems = append(problems, fmt.Sprintf(`theme radius %q: use "0" or a length up to "2rem" or "32px"`,
			clip(t.Radius)))
	}
	if _, ok := fontFamilies(t.Font); !ok {
		problems = append(problems, fmt.Sprintf("theme font %q: use names of font families with commas between them, of "+
			"letters, digits, spaces and hyphens", clip(t.Font)))
	}
	problems = checkAddress(problems, "theme terms", t.Terms)
	return checkAddress(problems, "theme privacy", t.Privacy)
}

// Style is the optional look of one provider's button. The zero value is an outlined button with the provider's
// initial.
type Style struct {
	// Background is the CSS colour of the button. Default: that of the card.
	Background string
	// Text is the CSS colour of the label. Default: black or white, whichever can be read on Background.
	Text string
	// Logo is the address of a square picture, under the rules of [Theme].Logo. Default: Mark.
	Logo string
	// Mark is the provider's mark, drawn into the page. Default: the provider's initial on a tile.
	Mark *Mark
}

const (
	schemeAuto  = "auto"
	schemeLight = "light"
	schemeDark  = "dark"
)

// bodyClass is the class that stylesheets written for Auth.js look for.
func (t Theme) bodyClass() string {
	switch t.ColorScheme {
	case schemeLight, schemeDark:
		return "__next-auth-theme-" + t.ColorScheme
	}
	return "__next-auth-theme-" + schemeAuto
}

// css returns the rules for the theme's colours, empty without any. --brand-color and --button-text-color are the names
// that stylesheets written for Auth.js use; as there, the second one exists on pages with a form only.
func (t Theme) css(form bool) string {
	var b strings.Builder
	if safeColor(t.BrandColor) {
		b.WriteString("--brand-color:" + t.BrandColor + ";")
	}
	if safeColor(t.ButtonText) {
		b.WriteString("--on-brand:" + t.ButtonText + ";")
		if form {
			b.WriteString("--button-text-color:" + t.ButtonText + ";")
		}
	}
	if safeRadius(t.Radius) {
		b.WriteString("--radius:" + t.Radius + ";")
	}
	if families, ok := fontFamilies(t.Font); ok && families != "" {
		b.WriteString("--font:" + families + ";")
	}
	if b.Len() == 0 {
		return ""
	}
	return ":root{" + b.String() + "}"
}

// styleRules returns one rule for each provider that has colours of its own, keyed by its place in the list: a place is
// always a safe class name, an id need not be.
func styleRules(providers []Provider) string {
	var b strings.Builder
	for i, p := range providers {
		background, text := safeColor(p.Style.Background), safeColor(p.Style.Text)
		if !background && !text {
			continue
		}
		b.WriteString("." + placeClass(i) + "{")
		if background {
			b.WriteString("--provider-brand-color:" + p.Style.Background + ";")
		}
		if text {
			b.WriteString("--on-provider:" + p.Style.Text + ";")
		}
		b.WriteString("}")
	}
	return b.String()
}

func placeClass(i int) string { return fmt.Sprintf("provider-%d", i) }

func checkColor(problems []string, what, value string) []string {
	if value == "" || safeColor(value) {
		return problems
	}
	return append(problems, fmt.Sprintf("%s %q is no CSS colour we accept: use #rrggbb, a colour name or a colour "+
		"function", what, value))
}

func checkImage(problems []string, what, value string) []string {
	if value == "" || safeImage(value) {
		return problems
	}
	return append(problems, fmt.Sprintf("%s %q is no picture address we accept: use an http(s) URL, a path that "+
		"starts with / or data:image", what, clip(value)))
}

func checkAddress(problems []string, what, value string) []string {
	if value == "" || safeAddress(value) {
		return problems
	}
	return append(problems, fmt.Sprintf("%s %q is no address: use an http(s) URL or a path that starts with /", what,
		clip(value)))
}

// clip keeps a long value, a data URL for instance, from filling the log.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
