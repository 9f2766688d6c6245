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
	return checkImage(problems, "theme logo", t.Logo)
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

// clip keeps a long value, a data URL for instance, from filling the log.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
