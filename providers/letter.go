package providers

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Letter is a letter as it is mailed: the subject and the same text twice, plain and as HTML.
type Letter struct{ Subject, Text, HTML string }

// SignInLetter writes the letter that our services send with a sign-in link: a line with the site's host, the link, and
// in HTML a button in the colours of the theme. It shows no address: a stranger who asks for a letter in another's name
// must not have a text of theirs in it.
func SignInLetter(m core.SignInMail) (Letter, error) { return WriteLetter(m.Letter()) }

// WriteLetter writes the letter of any kind, in its Locale. It has sentences of ours, the site's host, times, a
// network, the link and the code: nothing that a stranger typed. Its error is about a Kind that is unknown.
func WriteLetter(l core.Letter) (Letter, error) {
	texts, known := letterTexts[l.Kind]
	if !known {
		return Letter{}, fmt.Errorf("no texts for a letter of kind %q: write it in EmailOptions.Letters", string(l.Kind))
	}
	texts = texts.in(l.Locale, l.Kind)
	before, after, _ := strings.Cut(texts.subject, "%s")
	subject := before + l.Host + after
	// Without the zero-width spaces mail programs make a link of the host.
	host := strings.ReplaceAll(template.HTMLEscapeString(l.Host), ".", "&#8203;.")
	lines := texts.lines(l)
	view := letterView{
		Lang: cmp.Or(l.Locale.Tag, "en"), Dir: l.Locale.Dir,
		Title: texts.title(l.Locale), Before: before, After: after, Button: texts.button, Lines: lines, Footer: texts.footer,
		Host:  template.HTML(host), //nolint:gosec // escaped above
		URL:   string(l.URL),
		Code:  string(l.Code),
		Brand: color(l.Theme, l.Theme.BrandColor, "#346df1"),
		Text:  color(l.Theme, l.Theme.ButtonText, "#fff"),
	}
	var page strings.Builder
	err := letterPage.Execute(&page, view)
	return Letter{Subject: subject, Text: plainText(subject, l, lines, texts.footer), HTML: page.String()}, err
}

// lines are the sentences of a letter between its heading and its button, and below that what is known of the event.
func (t letterText) lines(l core.Letter) []string {
	lines := slices.Clone(t.body)
	if !l.At.IsZero() {
		lines = append(lines, l.Locale.Say(textTime.With(l.Locale.Moment(l.At))))
	}
	if l.Peer.IsValid() {
		lines = append(lines, l.Locale.Say(textNetwork.With(l.Peer.String())))
	}
	if l.Kind != core.LetterSignIn && l.URL != "" && !l.Expires.IsZero() {
		lines = append(lines, l.Locale.Say(textUntil.With(l.Locale.Moment(l.Expires))))
	}
	return lines
}

// plainText is the letter for programs that show no HTML. The one of a sign-in is that of Auth.js.
func plainText(subject string, l core.Letter, lines []string, footer string) string {
	if l.Kind == core.LetterSignIn && l.Code == "" {
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

type letterView struct {
	Lang, Dir, Title, Before, After, Button, Footer, URL, Code string

	Lines       []string
	Host        template.HTML
	Brand, Text template.CSS
}

// color returns a colour of a theme that is valid, as New has made sure of.
func color(theme core.Theme, value, otherwise string) template.CSS {
	if value == "" || len(theme.Validate()) > 0 {
		value = otherwise
	}
	return template.CSS(value) //nolint:gosec // Validate lets plain colours through
}

// letterPage has its styles at the elements and its layout in tables: mail programs know nothing else.
var letterPage = template.Must(template.New("letter").Parse(`<!doctype html>
<html lang="{{.Lang}}"{{with .Dir}} dir="{{.}}"{{end}}><head><meta charset="utf-8">` +
	`<meta name="viewport" content="width=device-width">` +
	`<title>{{.Title}}</title></head>
<body style="margin:0;background:#f9f9f9;color:#444;font-family:Helvetica,Arial,sans-serif">
<table role="presentation"{{with .Dir}} dir="{{.}}"{{end}} width="100%"` +
	` cellspacing="0" cellpadding="0"` +
	` style="background:#f9f9f9">` +
	`<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellspacing="0" cellpadding="0"` +
	` style="max-width:600px;background:#fff;border-radius:10px">
<tr><td align="center" style="padding:24px 24px 8px;font-size:22px;color:#444">` +
	`{{.Before}}<strong>{{.Host}}</strong>{{.After}}</td></tr>
{{range .Lines}}<tr><td align="center" style="padding:8px 24px;font-size:16px;line-height:22px;color:#444">` +
	`{{.}}</td></tr>
{{end}}{{with .Code}}<tr><td align="center" style="padding:8px 24px;font-size:28px;letter-spacing:4px;color:#444">` +
	`{{.}}</td></tr>
{{end}}{{if .URL}}<tr><td align="center" style="padding:16px 24px">` +
	`<a href="{{.URL}}" target="_blank" rel="noreferrer"` +
	` style="display:inline-block;padding:10px 20px;font-size:18px;font-weight:bold;text-decoration:none;` +
	`border-radius:5px;border:1px solid {{.Brand}};background:{{.Brand}};color:{{.Text}}">{{.Button}}</a></td></tr>
{{end}}<tr><td align="center" style="padding:8px 24px 24px;font-size:16px;line-height:22px;color:#444">` +
	`{{.Footer}}</td></tr>
</table></td></tr></table>
</body></html>
`))
