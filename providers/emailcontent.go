package providers

import (
	"cmp"
	_ "embed" // email.html
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// EmailContent is the content of an email: its subject, and its text in plain text and in HTML.
type EmailContent struct{ Subject, Text, HTML string }

// WriteEmail returns the default content of an email of any kind, in its Locale. It contains fixed texts, the site's
// host and name, times, a network, the link and the code, but neither the recipient's
// address nor any other text that an attacker could choose. The HTML uses
// Name, BrandColor and ButtonText of the theme, and follows the user's dark mode unless ColorScheme is "light". It
// loads no resources, not even the logo. WriteEmail returns an error if the Kind is unknown.
func WriteEmail(l core.Email) (EmailContent, error) {
	texts, known := emailTexts[l.Kind]
	if !known {
		return EmailContent{}, fmt.Errorf(
			"no texts for an email of kind %q: write it in EmailOptions.Content",
			string(l.Kind),
		)
	}
	texts = texts.in(l.Locale, l.Kind)
	if l.Kind == core.EmailAddressChanged && l.URL == "" { // without an undo link
		texts.button, texts.footer = "", emailTexts[core.EmailDeleted].in(l.Locale, core.EmailDeleted).footer
	}
	if l.Kind == core.EmailAddressChanged && l.URL != "" && l.EndsSessions {
		texts.footer += " " + l.Locale.Say(textEnds)
	}
	before, after, _ := strings.Cut(texts.subject, "%s")
	subject := before + l.Host + after
	// Zero-width spaces prevent mail clients from turning the host into a link.
	host := strings.ReplaceAll(template.HTMLEscapeString(l.Host), ".", "&#8203;.")
	facts, until := factsOf(l), untilOf(l)
	view := emailView{
		Lang: cmp.Or(l.Locale.Tag, "en"), Dir: l.Locale.Dir, Start: "left", Dark: l.Theme.ColorScheme != "light",
		Title: texts.title(l.Locale), Before: before, After: after, Button: texts.button, Footer: texts.footer,
		Name: l.Theme.Name, Body: texts.body, Facts: facts, Until: until,
		Preview: cmp.Or(strings.Join(texts.body, " "), texts.footer),
		Host:    template.HTML(host), //nolint:gosec // escaped above
		URL:     string(l.URL), Otherwise: l.Locale.Say(textOtherwise),
		Code: string(l.Code),
	}
	if l.Locale.Dir == "rtl" {
		view.Start = "right"
	}
	view.Brand, view.Text = buttonColors(l.Theme)
	var page strings.Builder
	err := emailPage().Execute(&page, view)
	lines := slices.Clone(texts.body)
	for _, f := range append(facts, until...) {
		lines = append(lines, f.Before+f.Value+f.After)
	}
	return EmailContent{Subject: subject, Text: plainText(subject, l, lines, texts.footer), HTML: page.String()}, err
}

// fact is a sentence about the event, split around its time or network.
type fact struct{ Before, Value, After string }

// newFact returns a text around its value, or nil if the value is not known.
func newFact(l core.Email, text ui.Text, value string, known bool) []fact {
	if !known {
		return nil
	}
	before, after := l.Locale.Around(text)
	return []fact{{before, value, after}}
}

// factsOf returns what is known about the event.
func factsOf(l core.Email) []fact {
	facts := newFact(l, textService, l.Service, l.Service != "")
	facts = append(facts, newFact(l, textTime, l.Locale.Moment(l.At), !l.At.IsZero())...)
	facts = append(facts, newFact(l, textDevice, l.Device, l.Device != "")...)
	return append(facts, newFact(l, textNetwork, l.Peer.String(), l.Peer.IsValid())...)
}

// untilOf returns the expiry of the link. Sign-in emails do not contain it, because their links are used immediately.
func untilOf(l core.Email) []fact {
	return newFact(l, textUntil, l.Locale.Moment(l.Expires),
		l.Kind != core.EmailSignIn && l.URL != "" && !l.Expires.IsZero())
}

// plainText returns the text for mail clients without HTML. For a sign-in it is equal to that of Auth.js.
func plainText(subject string, l core.Email, lines []string, footer string) string {
	if l.Kind == core.EmailSignIn && l.Code == "" {
		return subject + "\n" + string(l.URL) + "\n\n"
	}
	parts := append([]string{subject}, lines...)
	if l.Code != "" {
		parts = append(parts, l.Locale.Say(textCode.With(string(l.Code))))
	}
	if l.URL != "" {
		parts = append(parts, string(l.URL))
	}
	return strings.Join(append(parts, footer), "\n\n") + "\n"
}

type emailView struct {
	Lang, Dir, Start, Title, Name, Preview, Before, After, Button, Otherwise, Footer, URL, Code string

	Dark         bool
	Body         []string
	Facts, Until []fact
	Host         template.HTML
	Brand, Text  template.CSS
}

// buttonColors returns the colors of the button and its text. If the theme has none, they are those of Auth.js.
func buttonColors(theme core.Theme) (brand, text template.CSS) {
	if theme.BrandColor == "" || len(theme.Validate()) > 0 {
		return "#346df1", "#ffffff"
	}
	on := cmp.Or(theme.ButtonText, readableOn(theme.BrandColor))
	return template.CSS(theme.BrandColor), template.CSS(on) //nolint:gosec // Validate lets plain colors through
}

// readableOn returns black on a light hexadecimal color, and white on all others. Unlike browsers, mail clients do not
// compute colors.
func readableOn(color string) string {
	digits, found := strings.CutPrefix(color, "#")
	if found && len(digits) < 6 && len(digits) >= 3 { // #rgb
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	rgb, err := strconv.ParseUint(digits[:min(len(digits), 6)], 16, 32)
	if !found || err != nil {
		return "#ffffff"
	}
	// Relative luminance of WCAG 2.2, with a power as its curve. Above 0.18 black has the higher contrast.
	linear := func(shift uint) float64 { return math.Pow(float64(rgb>>shift&0xff)/255, 2.2) }
	if 0.2126*linear(16)+0.7152*linear(8)+0.0722*linear(0) > 0.18 {
		return "#000000"
	}
	return "#ffffff"
}

//go:embed email.html
var emailSource string

// emailPage is parsed when the first email is written, because most processes write none.
var emailPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("email").Parse(emailSource))
})
