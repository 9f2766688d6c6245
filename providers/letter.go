package providers

import (
	"html/template"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Letter is a sign-in mail: the subject and the same text twice, plain and as HTML.
type Letter struct{ Subject, Text, HTML string }

// SignInLetter writes the letter that our services send: a line with the site's host, the link, and in HTML a button in
// the colours of the theme. It shows no address: a stranger who asks for a letter in another's name must not have a
// text of theirs in it.
func SignInLetter(m core.SignInMail) (Letter, error) {
	subject := "Sign in to " + m.Host
	// Without the zero-width spaces mail programs make a link of the host.
	host := strings.ReplaceAll(template.HTMLEscapeString(m.Host), ".", "&#8203;.")
	var page strings.Builder
	err := letterPage.Execute(&page, letterView{
		Host:  template.HTML(host), //nolint:gosec // escaped above
		URL:   string(m.URL),
		Brand: color(m.Theme, m.Theme.BrandColor, "#346df1"),
		Text:  color(m.Theme, m.Theme.ButtonText, "#fff"),
	})
	return Letter{Subject: subject, Text: subject + "\n" + string(m.URL) + "\n\n", HTML: page.String()}, err
}

type letterView struct {
	Host        template.HTML
	URL         string
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
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
	`<title>Sign in</title></head>
<body style="margin:0;background:#f9f9f9;color:#444;font-family:Helvetica,Arial,sans-serif">
<table role="presentation" width="100%" cellspacing="0" cellpadding="0" style="background:#f9f9f9">` +
	`<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellspacing="0" cellpadding="0"` +
	` style="max-width:600px;background:#fff;border-radius:10px">
<tr><td align="center" style="padding:24px 24px 8px;font-size:22px;color:#444">` +
	`Sign in to <strong>{{.Host}}</strong></td></tr>
<tr><td align="center" style="padding:16px 24px">` +
	`<a href="{{.URL}}" target="_blank" rel="noreferrer"` +
	` style="display:inline-block;padding:10px 20px;font-size:18px;font-weight:bold;text-decoration:none;` +
	`border-radius:5px;border:1px solid {{.Brand}};background:{{.Brand}};color:{{.Text}}">Sign in</a></td></tr>
<tr><td align="center" style="padding:8px 24px 24px;font-size:16px;line-height:22px;color:#444">` +
	`If you did not ask for this e-mail you can ignore it.</td></tr>
</table></td></tr></table>
</body></html>
`))
