package ui_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/ui"
)

// sheet returns a page of sections with value as all texts.
func sheet(p ui.Page, value string) templ.Component {
	row := with(ui.Row(value, value, value),
		with(ui.Form("https://app.test/auth/account/unlink", token),
			ui.Hidden("account", value), ui.QuietButton(value, value, true)))
	return with(ui.Sheet(ui.SheetView{
		Page: p, Heading: value, URL: "https://app.test", Host: value,
		User: ui.Visitor{Name: value, Email: value, Image: value},
		Sections: []ui.PageSection{{ID: "methods", Heading: value, Content: templ.Join(
			with(ui.Rows(), row, ui.Row("plain", "", ""), ui.IconRow(ui.Icon("phone"), "plain", "", "")),
			with(ui.Disclosure(value, value), ui.QuietButton("plain", "", false)),
			with(ui.ConfirmDialog(p, "delete", value, value), ui.QuietButton("plain", "", false)),
		)}},
	}))
}

// with renders a component with children.
func with(c templ.Component, children ...templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return c.Render(templ.WithChildren(ctx, templ.Join(children...)), w)
	})
}

// TestSheetIsOnePage: a sheet has the frame of all pages, one first-level heading, and a name for each section.
func TestSheetIsOnePage(t *testing.T) {
	drawn := render(t, sheet(page, "Ada"))
	for _, part := range []string{
		"<title>Ada</title>", "<h1>Ada</h1>", `<section id="methods" aria-labelledby="methods-heading">`,
		`<h2 id="methods-heading">Ada</h2>`, `class="quiet danger" type`, `<a href="#methods">Ada</a>`,
		`<h3 id="delete-title">Ada</h3>`, `<a class="back" href="https://app.test">`,
		`name="csrfToken" value="` + token + `"`,
	} {
		if n := strings.Count(drawn, part); n != 1 {
			t.Errorf("%s is there %d times", part, n)
		}
	}
	if n := strings.Count(drawn, "<style nonce="); n != 2 {
		t.Errorf("%d style elements with the nonce, want 2", n)
	}
}

// TestPortrait: a picture is loaded over https or from this site, without a Referer header. The initials are behind it.
func TestPortrait(t *testing.T) {
	const picture = `<img src="%s" alt="" width="64" height="64" referrerpolicy="no-referrer">`
	for name, row := range map[string]struct {
		user     ui.Visitor
		initials string
		shown    bool
	}{
		"https":           {ui.Visitor{Name: "Ada Lovelace", Image: "https://img.test/a.png"}, "AL", true},
		"path":            {ui.Visitor{Name: "ada", Image: "/me.png"}, "A", true},
		"http":            {ui.Visitor{Name: "Ada King Lovelace", Image: "http://img.test/a.png"}, "AL", false},
		"script":          {ui.Visitor{Email: "ada@example.com", Image: "javascript:alert(1)"}, "A", false},
		"other host":      {ui.Visitor{Name: "Ōta 太郎", Image: "//img.test/a.png"}, "Ō太", false},
		"without picture": {ui.Visitor{Name: "7 <b>"}, "B", false},
		"unknown":         {ui.Visitor{}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := render(t, ui.Portrait(row.user))
			if want := strings.ReplaceAll(picture, "%s", row.user.Image); strings.Contains(got, want) != row.shown ||
				strings.Contains(got, "<img") != row.shown {
				t.Errorf("rendered as %s", got)
			}
			if !strings.Contains(got, `aria-hidden="true">`+row.initials) || row.initials == "" && strings.Contains(got, "?") {
				t.Errorf("initials in %s, want %q", got, row.initials)
			}
		})
	}
}
