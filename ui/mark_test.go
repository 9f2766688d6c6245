package ui_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/ui"
)

const square = "M0 0h24v24H0z"

// TestMarks: an invalid mark is reported in advance, and its button shows a globe.
func TestMarks(t *testing.T) {
	shapes := func(s ...ui.Shape) *ui.Mark { return &ui.Mark{Shapes: s} }
	for _, row := range []struct {
		name string
		mark *ui.Mark
		want string // a part of the error message; if empty, the mark is valid
	}{
		{"in the text color", shapes(ui.Shape{Path: square}), ""},
		{"in two colors", shapes(
			ui.Shape{Path: square, Fill: "#fff"}, ui.Shape{Path: "m1,1-.5e1 2A1 1 0 01 2 3", Fill: "red"},
		), ""},
		{"in a larger square", &ui.Mark{Side: 48, Shapes: []ui.Shape{{Path: square}}}, ""},

		{"no shapes", shapes(), "no shape"},
		{"an impossible square", &ui.Mark{Side: -1, Shapes: []ui.Shape{{Path: square}}}, "no square"},
		{"an empty path", shapes(ui.Shape{}), `path ""`},
		{"a path that does not begin", shapes(ui.Shape{Path: "h24v24z"}), `path "h24`},
		{"markup in the path", shapes(ui.Shape{Path: `M0 0"/><script>`}), "path"},
		{"an address in the path", shapes(ui.Shape{Path: "M0 0url(#x)"}), "path"},
		{"a URL as color", shapes(ui.Shape{Path: square, Fill: "url(https://evil.example/)"}), "color"},
		{"one bad shape of two", shapes(ui.Shape{Path: square}, ui.Shape{Path: "x"}), `path "x"`},
		{"a whole picture", shapes(ui.Shape{Path: "M" + strings.Repeat("1 ", 9000)}), "18001 bytes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := mock
			p.Style.Mark = row.mark
			problems := strings.Join(p.Validate(), "\n")
			if (row.want == "") != (problems == "") || !strings.Contains(problems, row.want) {
				t.Errorf("problems %q, want %q", problems, row.want)
			}
			drawn := render(t, ui.SignInPage(signIn(page, p)))
			_, drawn, _ = strings.Cut(drawn, "<form")
			if svg := strings.Contains(drawn, `<svg class="mark"`); svg != (row.want == "") {
				t.Errorf("rendered: %v", svg)
			}
			if globe := strings.Contains(drawn, `class="mark way"`); globe == (row.want == "") {
				t.Errorf("the globe is there: %v", globe)
			}
		})
	}
}

// TestLogoBeforeMark: a logo of the application replaces the mark.
func TestLogoBeforeMark(t *testing.T) {
	p := mock
	p.Style = ui.Style{Logo: "/own.svg", Mark: &ui.Mark{Shapes: []ui.Shape{{Path: square}}}}
	_, drawn, _ := strings.Cut(render(t, ui.SignInPage(signIn(page, p))), "<form")
	drawn, _, _ = strings.Cut(drawn, "</form>")
	if !strings.Contains(drawn, `src="/own.svg"`) || strings.Contains(drawn, "<svg") {
		t.Error(drawn)
	}
}
