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

// TestSheetStylesheet: a Sheet links to the stylesheet with the styles of sections, or contains both inline.
func TestSheetStylesheet(t *testing.T) {
	linked := page
	linked.StylesheetURL, linked.SheetURL = "/auth/page.style?v=1", "/auth/page.style?v=2"
	drawn := render(t, ui.Sheet(ui.SheetView{Page: linked, Heading: "Account"}))
	if !strings.Contains(drawn, linked.SheetURL) || strings.Contains(drawn, linked.StylesheetURL) ||
		strings.Contains(drawn, "<style") {
		t.Errorf("not one stylesheet: %s", drawn)
	}
	inline := render(t, ui.Sheet(ui.SheetView{Page: page, Heading: "Account"}))
	if !strings.Contains(inline, string(ui.Stylesheet())) || !strings.Contains(inline, string(ui.SheetStylesheet())) {
		t.Errorf("without URLs: %s", inline)
	}
	if drawn := render(t, ui.Shell(linked.WithSheetStyles(), "Part")); !strings.Contains(drawn, linked.SheetURL) {
		t.Errorf("a small page with the styles of sections: %s", drawn)
	}
	if page.WithSheetStyles().StylesheetURL != page.StylesheetURL {
		t.Error("a page without URLs has one")
	}
	if drawn := render(t, ui.Shell(linked, "Part")); !strings.Contains(drawn, linked.StylesheetURL) {
		t.Errorf("a page without sections: %s", drawn)
	}
}

// TestExcerpt: a section of another page has two rows, and the link to all contains their number.
func TestExcerpt(t *testing.T) {
	for n, want := range map[int]string{0: "All", 2: "All", 3: "All \u2068(3)\u2069"} {
		if rows, link := ui.Excerpt(make([]int, n), "All"); len(rows) != min(n, 2) || link != want {
			t.Errorf("of %d: %d rows, %q", n, len(rows), link)
		}
	}
}

// TestListButton: the buttons of a list share a form, and each sends its own value.
func TestListButton(t *testing.T) {
	drawn := render(t, ui.ListForm("end", "/auth/end", token)) + render(t, ui.ListButton(ui.RowButton{
		Form: "end", Name: "session", Value: `"1"`, Label: "Sign out", About: "Firefox", Danger: true,
	}))
	const want = `<button class="quiet danger" type="submit" form="end" name="session" value="&#34;1&#34;">Sign out` +
		`<span class="unseen"><bdi>Firefox</bdi></span></button>`
	if !strings.Contains(drawn, `<form id="end" action="/auth/end" method="POST" hidden>`) ||
		!strings.Contains(drawn, `name="csrfToken" value="`+token+`"`) || !strings.Contains(drawn, want) {
		t.Errorf("rendered as %s", drawn)
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
