package providers

import (
	"cmp"
	_ "embed" // email.html
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
)

// EmailContent is the content of an email: its subject, and its text in plain text and in HTML.
type EmailContent struct{ Subject, Text, HTML string }

// WriteEmail returns the default content of an email of any kind, in its Locale. It contains fixed texts, the site's
// host and name, times, a network, the name of a device from a fixed list, the link and the code, but neither the
// recipient's address nor any other text that an attacker could choose. The HTML uses Name, BrandColor, ButtonText and
// EmailLogo of the theme, and follows the user's dark mode unless ColorScheme is "light". It loads no resource other
// than EmailLogo. The plain text has the same content, except that of a sign-in link: it is equal to that of Auth.js.
// WriteEmail returns an error if the Kind is unknown.
func WriteEmail(l core.Email) (EmailContent, error) {
	texts, known := emailTexts[l.Kind]
	if !known {
		return EmailContent{}, fmt.Errorf(
			"no texts for an email of kind %q: write it in EmailOptions.Content",
			string(l.Kind),
		)
	}
	texts = texts.in(l.Locale, l.Kind)
	if l.Kind == mailkind.AddressChanged && l.URL == "" { // without an undo link
		texts.button, texts.footer = "", emailTexts[mailkind.Deleted].in(l.Locale, mailkind.Deleted).footer
	}
	if l.Kind == mailkind.AddressChanged && l.URL != "" && l.EndsSessions {
		texts.footer += " " + l.Locale.Say(textEnds)
	}
	before, after, _ := strings.Cut(texts.subject, "%s")
	subject := before + l.Host + after
	// Zero-width spaces prevent mail clients from turning the host into a link.
	host := strings.ReplaceAll(template.HTMLEscapeString(l.Host), ".", "&#8203;.")
	view := emailView{
		Lang: cmp.Or(l.Locale.Tag, "en"), Dir: l.Locale.Dir, Start: "left", Dark: l.Theme.ColorScheme != "light",
		Title: texts.title(l.Locale), Before: before, After: after, Button: texts.button, Footer: texts.footer,
		Name: l.Theme.Name, Body: texts.body, Facts: factsOf(l), Until: untilOf(l),
		Preview: cmp.Or(strings.Join(texts.body, " "), texts.footer), Why: sentence(l, texts.why, ""),
		Host: template.HTML(host), //nolint:gosec // escaped above
		URL:  string(l.URL), Otherwise: l.Locale.Say(textOtherwise),
		Code: string(l.Code), CodeLabel: sentence(l, textCode, "").Label(),
		Filler: filler, MSOHead: msoHead, MSOOpen: msoOpen, MSOClose: msoClose, buttonLook: lookOf(l.Theme),
	}
	if len(l.Theme.Validate()) == 0 {
		view.Logo = l.Theme.EmailLogo
	}
	if l.Locale.Dir == "rtl" {
		view.Start = "right"
	}
	var page strings.Builder
	err := emailPage().Execute(&page, view)
	return EmailContent{Subject: subject, Text: plainText(subject, l, view), HTML: page.String()}, err
}

// fact is a sentence, split around its value: a time, a network or a name.
type fact struct{ Before, Value, After string }

// Label returns the text before the value without its colon, for a table. It is empty if text follows the value.
func (f fact) Label() string {
	if f.After != "" {
		return ""
	}
	return strings.TrimRight(f.Before, ":： \u00a0\u202f")
}

func (f fact) String() string { return f.Before + f.Value + f.After }

// sentence returns a text around its value.
func sentence(l core.Email, text ui.Text, value string) fact {
	before, after := l.Locale.Around(text)
	return fact{before, value, after}
}

// factsOf returns what is known about the event.
func factsOf(l core.Email) (facts []fact) {
	add := func(text ui.Text, value string, known bool) {
		if known {
			facts = append(facts, sentence(l, text, value))
		}
	}
	add(textService, l.Service, l.Service != "")
	add(textOrganization, l.Organization, l.Organization != "")
	when := textTime
	switch l.Kind {
	case mailkind.KeyExpiring:
		when = textExpires
	case mailkind.DeletionScheduled:
		when = textDeletion
	}
	add(when, l.Locale.Moment(l.At), !l.At.IsZero())
	add(textDevice, l.Device, l.Device != "")
	network := l.Peer.String()
	if l.Peer.IsSingleIP() {
		network = l.Peer.Addr().String()
	}
	add(textNetwork, network, l.Peer.IsValid())
	return facts
}

// untilOf returns the expiry of the link. Sign-in emails do not contain it, because their links are used immediately.
// The link to keep an account expires with the deletion, which is among the facts.
func untilOf(l core.Email) []fact {
	if l.Kind == mailkind.SignIn || l.Kind == mailkind.DeletionScheduled || l.URL == "" || l.Expires.IsZero() {
		return nil
	}
	return []fact{sentence(l, textUntil, l.Locale.Moment(l.Expires))}
}

// plainText returns the text for mail clients without HTML. For a sign-in link it is equal to that of Auth.js.
func plainText(subject string, l core.Email, view emailView) string {
	if l.Kind == mailkind.SignIn && l.Code == "" {
		return subject + "\n" + string(l.URL) + "\n\n"
	}
	parts := append([]string{subject}, view.Body...)
	if len(view.Facts) > 0 {
		lines := make([]string, len(view.Facts))
		for i, f := range view.Facts {
			lines[i] = f.String()
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	if l.Code != "" {
		parts = append(parts, l.Locale.Say(textCode.With(string(l.Code))))
	}
	if l.URL != "" {
		parts = append(parts, string(l.URL))
	}
	for _, f := range view.Until {
		parts = append(parts, f.String())
	}
	view.Why.Value = l.Host
	if l.Theme.Name != "" {
		view.Why.Value = l.Theme.Name + " (" + l.Host + ")"
	}
	return strings.Join(append(parts, view.Footer, view.Why.String()), "\n\n") + "\n"
}

type emailView struct {
	Lang, Dir, Start, Title, Name, Logo, Preview, Before, After, Button, Otherwise, Footer, URL, Code, CodeLabel string

	Dark         bool
	Body         []string
	Facts, Until []fact
	Why          fact // its value is the name and the host
	Host         template.HTML

	Filler, MSOHead, MSOOpen, MSOClose template.HTML
	buttonLook
}

// filler is invisible text after the preview text. Without it, inboxes would show the beginning of the email there.
var filler = template.HTML(strings.Repeat("\u034f\u200c\u00a0", 60)) //nolint:gosec // constant

// Conditional comments for Outlook on Windows, which html/template would remove: it needs the resolution, a font, and a
// table with a fixed width.
//
//nolint:gosec // constants
const (
	msoHead = template.HTML("<!--[if mso]><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch>" +
		"</o:OfficeDocumentSettings></xml><style>body,table,td,p,h1,a{font-family:'Segoe UI',Arial,sans-serif " +
		"!important}</style><![endif]-->")
	msoOpen = template.HTML(`<!--[if mso]><table role="presentation" width="480" align="center" cellspacing="0" ` +
		`cellpadding="0" border="0"><tr><td><![endif]-->`)
	msoClose = template.HTML("<!--[if mso]></td></tr></table><![endif]-->")
)

// buttonLook has the colors of the button and its text. Without a color in the theme, the button has the color of
// Auth.js's emails.
type buttonLook struct {
	// Brand is in style attributes. Solid replaces it in clients that do not support its format.
	Brand, Solid, Text template.CSS
	// Modern is a color that Gmail cannot read: it would remove the whole attribute. It has a style element, or is empty.
	Modern template.CSS
}

func lookOf(theme core.Theme) buttonLook {
	const blue = "#346df1"
	if theme.BrandColor == "" || len(theme.Validate()) > 0 {
		return buttonLook{Brand: blue, Solid: blue, Text: "#ffffff"}
	}
	color := theme.BrandColor
	own := template.CSS(color) //nolint:gosec // Validate lets plain colors through
	look := buttonLook{Brand: own, Solid: own}
	if strings.Contains(color, "(") {
		hex, known := rgbHex(color)
		switch {
		case !known:
			look = buttonLook{Brand: blue, Solid: blue, Modern: own}
		case strings.Contains(color, ","):
			look.Solid = template.CSS(hex) //nolint:gosec // digits
		default:
			look.Brand, look.Solid = template.CSS(hex), template.CSS(hex) //nolint:gosec // digits
		}
		color = hex
	}
	look.Text = template.CSS(cmp.Or(theme.ButtonText, readableOn(color))) //nolint:gosec // as above
	return look
}

// rgbHex converts an opaque rgb() color, with commas or spaces, to hexadecimal.
func rgbHex(color string) (hex string, known bool) {
	inner, found := strings.CutPrefix(strings.ToLower(color), "rgb(")
	inner, closed := strings.CutSuffix(inner, ")")
	parts := strings.FieldsFunc(inner, func(r rune) bool { return r == ',' || r == ' ' })
	if !found || !closed || len(parts) != 3 {
		return "", false
	}
	var b strings.Builder
	b.WriteByte('#')
	for _, part := range parts {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil {
			return "", false
		}
		fmt.Fprintf(&b, "%02x", n)
	}
	return b.String(), true
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
