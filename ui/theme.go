package ui

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/a-h/templ"
)

// Theme is the look of the pages. The zero value is the default theme: neutral, light or dark as the user's system
// prefers.
type Theme struct {
	// ColorScheme is "auto", "light" or "dark". The default is "auto", which follows the user's system.
	ColorScheme string
	// BrandColor is the CSS color of the main button and the drawing above the heading: hexadecimal, a color name, or a
	// color function such as rgb() or oklch(). The default is near-black on light pages and near-white on dark pages.
	BrandColor string
	// ButtonText is the CSS color of text on BrandColor. The default is black or white, whichever has more contrast.
	ButtonText string
	// Logo is the URL of the picture above the heading: an http(s) URL, a path that starts with a slash, or a data:image
	// URL. The default is a drawing of a key.
	Logo string
	// DarkLogo replaces Logo on dark pages. It has the same format. The default is Logo.
	DarkLogo string
	// EmailLogo is the https URL of a picture at the top of emails, for example a PNG of 64 by 64 pixels. It is 32 pixels
	// high there. Email clients load it from its server, and many do not support SVG. By default, emails load nothing.
	EmailLogo string
	// Name is the name of the application, such as "Acme". It is in the titles of the pages, in the heading of the sign-in
	// page, in the alternative text of the logo and in emails. It may be empty.
	Name string
	// HomeURL is the URL of the application that pages link back to: an http(s) URL or a path that starts with a slash.
	// The default is the origin of the auth routes with Config.PublicPath.
	HomeURL string
	// Radius is the corner radius of buttons and fields: "0", or a length in px or rem up to 2rem. Larger elements scale
	// with it. The default is "0.75rem".
	Radius string
	// Font is a list of font families, such as "Inter, sans-serif". The user's system or Page.StylesheetURL must provide
	// them. The default is the system font.
	Font string
	// Terms and Privacy are the URLs of the application's terms and privacy policy: an http(s) URL or a path that starts
	// with a slash. The sign-in page links to them. By default there are no links.
	Terms, Privacy string
}

// Validate returns one sentence for each error in t, or nil. Pages leave out invalid parts of a theme.
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
	if t.EmailLogo != "" && (!safeImage(t.EmailLogo) || !strings.HasPrefix(t.EmailLogo, "https://")) {
		problems = append(problems, fmt.Sprintf("theme email logo %q: use an https URL, because email clients load nothing "+
			"else", truncate(t.EmailLogo)))
	}
	if t.Radius != "" && !safeRadius(t.Radius) {
		problems = append(problems, fmt.Sprintf(`theme radius %q: use "0" or a length up to "2rem" or "32px"`,
			truncate(t.Radius)))
	}
	if _, ok := fontFamilies(t.Font); !ok {
		problems = append(problems, fmt.Sprintf("theme font %q: use family names of letters, digits, spaces and "+
			"hyphens, separated by commas", truncate(t.Font)))
	}
	problems = checkAddress(problems, "theme home URL", t.HomeURL)
	problems = checkAddress(problems, "theme terms", t.Terms)
	return checkAddress(problems, "theme privacy", t.Privacy)
}

// Style is the look of a provider's button. The zero value is an outlined button with the provider's initial.
type Style struct {
	// Background is the CSS color of the button. The default is the color of the card.
	Background string
	// Text is the CSS color of the label. The default is black or white, whichever has more contrast with Background.
	Text string
	// Logo is the URL of a square picture. It has the format of [Theme].Logo. The default is Mark.
	Logo string
	// Mark is the provider's logo as an inline drawing. The default is the provider's initial.
	Mark *Mark
}

const (
	schemeAuto  = "auto"
	schemeLight = "light"
	schemeDark  = "dark"
)

// icon returns the icon of the browser's tab: the logo, or a key on a square in the brand color.
func (t Theme) icon() templ.SafeURL {
	if light, _ := t.logo(); light != "" {
		return templ.SafeURL(light) // logo has checked it
	}
	back := "#1d1c1a"
	if safeColor(t.BrandColor) {
		back = t.BrandColor
	}
	return templ.SafeURL(
		"data:image/svg+xml," + url.PathEscape(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">`+
			`<rect width="24" height="24" rx="6" fill="`+back+`"/><g fill="none" stroke="#fff" stroke-width="2">`+
			`<circle cx="8.5" cy="12" r="3.5"/><path d="M12 12h8m-2 0v3"/></g></svg>`),
	)
}

// bodyClass returns the class that stylesheets written for Auth.js select.
func (t Theme) bodyClass() string {
	switch t.ColorScheme {
	case schemeLight, schemeDark:
		return "__next-auth-theme-" + t.ColorScheme
	}
	return "__next-auth-theme-" + schemeAuto
}

// css returns the rules for the theme's colors, or "". Stylesheets written for Auth.js use --brand-color and
// --button-text-color. As in Auth.js, the second one exists only on pages with a form.
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

// styleRules returns a rule for each provider with its own colors. The class names contain the provider's index,
// because an ID may not be a safe class name.
func styleRules(providers []Provider) string {
	var b strings.Builder
	for i, p := range providers {
		background, text := safeColor(p.Style.Background), safeColor(p.Style.Text)
		if !background && !text {
			continue
		}
		b.WriteString("." + indexClass(i) + "{")
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

func indexClass(i int) string { return fmt.Sprintf("provider-%d", i) }

func checkColor(problems []string, what, value string) []string {
	if value == "" || safeColor(value) {
		return problems
	}
	return append(problems, fmt.Sprintf("%s %q is not a supported CSS color: use #rrggbb, a color name or a color "+
		"function", what, value))
}

func checkImage(problems []string, what, value string) []string {
	if value == "" || safeImage(value) {
		return problems
	}
	return append(problems, fmt.Sprintf("%s %q is not a supported picture URL: use an http(s) URL, a path that "+
		"starts with / or data:image", what, truncate(value)))
}

func checkAddress(problems []string, what, value string) []string {
	if value == "" || safeAddress(value) {
		return problems
	}
	return append(problems, fmt.Sprintf("%s %q is not a URL: use an http(s) URL or a path that starts with /", what,
		truncate(value)))
}

// truncate shortens a long value, such as a data URL, for the log.
func truncate(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
