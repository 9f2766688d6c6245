package ui_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/ui"
)

// TestInbox: the page after an email links to the web mail of the typed address, if its service is known.
func TestInbox(t *testing.T) {
	for address, want := range map[string]string{
		"ada@gmail.com":                `href="https://mail.google.com/" target="_blank" rel="noopener noreferrer"`,
		" Ada@GoogleMail.COM ":         "Open Gmail",
		"ada@hotmail.com":              `href="https://outlook.live.com/mail/"`,
		"ada@outlook.com":              "Open Outlook",
		"ada@example.com":              "",
		"ada@gmail.com.evil.example":   "",
		"ada@evil.example@gmail.com":   "",
		"gmail.com":                    "",
		"":                             "",
		"ada@mail.gmail.com":           "",
		"\"><script>alert(1)</script>": "",
	} {
		for name, drawn := range map[string]string{
			"a link": render(t, ui.SentPage(ui.SentView{Page: page, Text: "We sent a link to", Email: address})),
			"a code": render(t, ui.VerifyRequestPage(ui.VerifyRequestView{
				Page: page, Code: &ui.CodeForm{Action: "/auth/code", Sent: address},
			})),
		} {
			linked := strings.Contains(drawn, "https://mail.google") || strings.Contains(drawn, "outlook")
			if linked && want == "" || !strings.Contains(drawn, want) {
				t.Errorf("%s to %q: want %q in\n%s", name, address, want, drawn)
			}
		}
	}
}

// TestCurrentSection: without the script, the style marks the link that was followed. IDs that are not plain are left
// out of the style.
func TestCurrentSection(t *testing.T) {
	view := ui.SheetView{Page: page, Heading: "Account", Sections: []ui.PageSection{
		{ID: "email", Heading: "Email", Content: ui.Hidden("a", "b")},
		{ID: "x}body{display:none", Heading: "Other", Content: ui.Hidden("a", "b")},
	}}
	drawn := render(t, ui.Sheet(view))
	if !strings.Contains(drawn, `:has(#email:target) .still [href="#email"]{background:`) {
		t.Error("the link of the section is not marked")
	}
	if strings.Contains(drawn, ":has(#x}") {
		t.Error("an ID changes the style")
	}
}

// TestReferenceCode: the script shows the button that copies the code. Error pages without a code have no script.
func TestReferenceCode(t *testing.T) {
	with := render(t, ui.ErrorPage(ui.ErrorView{Page: page, Error: "Configuration", Reference: "stvdgjk6"}))
	without := render(t, ui.ErrorPage(ui.ErrorView{Page: page, Error: "Configuration"}))
	if !strings.Contains(with, `<code>stvdgjk6</code>`) || !strings.Contains(with, `data-copied="Copied"`) ||
		!strings.Contains(with, "aria-live=\"polite\" hidden>Copy</button>") || !strings.Contains(with, "<script") {
		t.Errorf("the page is\n%s", with)
	}
	if strings.Contains(without, "<script") || strings.Contains(without, "data-copied") {
		t.Error("a page without a code has a script or a button")
	}
}
