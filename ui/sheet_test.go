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
	return with(ui.Sheet(p, value), with(ui.Section("methods", value), with(ui.Rows(), row, ui.Row("plain", "", ""))),
		ui.QuietButton("plain", "", false))
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
		`<h2 id="methods-heading">Ada</h2>`, `class="quiet danger"`, `<span class="unseen"><bdi>Ada</bdi></span>`,
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
