package ui_test

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/ui"
)

func TestThemeValidate(t *testing.T) {
	tests := []struct {
		name     string
		theme    ui.Theme
		problems int
	}{
		{"zero", ui.Theme{}, 0},
		{"everything", ui.Theme{ColorScheme: "dark", BrandColor: "#0f766e", ButtonText: "White", Logo: "/logo.png"}, 0},
		{"all wrong", ui.Theme{ColorScheme: "sepia", BrandColor: "nice", ButtonText: "#12", Logo: "logo.png"}, 4},

		{"scheme in capitals", ui.Theme{ColorScheme: "Dark"}, 1},

		{"short hexadecimal", ui.Theme{BrandColor: "#0af"}, 0},
		{"hexadecimal with alpha", ui.Theme{BrandColor: "#00AAFFcc"}, 0},
		{"five digits", ui.Theme{BrandColor: "#00aaf"}, 1},
		{"color name", ui.Theme{BrandColor: "RebeccaPurple"}, 0},
		{"first name", ui.Theme{BrandColor: "aliceblue"}, 0},
		{"last name", ui.Theme{BrandColor: "yellowgreen"}, 0},
		{"rgb", ui.Theme{BrandColor: "rgb(10, 20, 30)"}, 0},
		{"hsl with alpha", ui.Theme{BrandColor: "hsl(210 50% 40% / 0.9)"}, 0},
		{"oklch", ui.Theme{BrandColor: "oklch(0.6 0.15 250)"}, 0},
		{"url", ui.Theme{BrandColor: "url(//evil.example)"}, 1},
		{"variable", ui.Theme{BrandColor: "var(--x)"}, 1},
		{"nested function", ui.Theme{BrandColor: "rgb(calc(1), 2, 3)"}, 1},
		{"comment", ui.Theme{BrandColor: "red/*"}, 1},
		{"escape", ui.Theme{BrandColor: `r\65d`}, 1},
		{"line break after a color", ui.Theme{BrandColor: "#fff\n"}, 1},
		{"blank in front", ui.Theme{BrandColor: " red"}, 1},
		{"second declaration", ui.Theme{ButtonText: "red;display:none"}, 1},
		{"end of the rule", ui.Theme{ButtonText: "#fff}body{display:none"}, 1},
		{"too long", ui.Theme{ButtonText: "rgb(" + strings.Repeat("1", 100) + ")"}, 1},

		{"logo elsewhere", ui.Theme{Logo: "https://img.test/logo.svg?v=2"}, 0},
		{"logo in the page", ui.Theme{Logo: "data:image/png;base64,iVBORw0KGgo="}, 0},
		{"SVG in the page", ui.Theme{Logo: "data:image/svg+xml;utf8,%3Csvg%2F%3E"}, 0},
		{"data of another kind", ui.Theme{Logo: "data:text/html;base64,PHA+"}, 1},
		{"script", ui.Theme{Logo: "javascript:alert(1)"}, 1},
		{"scheme-relative", ui.Theme{Logo: "//evil.example/l.png"}, 1},
		{"scheme-relative by backslash", ui.Theme{Logo: `/\evil.example/l.png`}, 1},
		{"scheme-relative by tab", ui.Theme{Logo: "/\t/evil.example/l.png"}, 1},
		{"no host", ui.Theme{Logo: "https:///l.png"}, 1},
		{"email logo", ui.Theme{EmailLogo: "https://img.test/logo.png"}, 0},
		{"email logo without TLS", ui.Theme{EmailLogo: "http://img.test/logo.png"}, 1},
		{"email logo as a path", ui.Theme{EmailLogo: "/logo.png"}, 1},
		{"email logo by script", ui.Theme{EmailLogo: "javascript:alert(1)"}, 1},
		{"everything else", ui.Theme{
			Name: "Acme & Söhne", DarkLogo: "/d.svg", Radius: "0", Font: "Inter, Source Sans 3, sans-serif",
			Terms: "/terms", Privacy: "https://app.test/privacy",
		}, 0},
		{"radius in rem", ui.Theme{Radius: "0.5rem"}, 0},
		{"radius that is large", ui.Theme{Radius: "33px"}, 1},
		{"radius in per cent", ui.Theme{Radius: "50%"}, 1},
		{"radius that ends the rule", ui.Theme{Radius: "1px;}"}, 1},
		{"radius of no number", ui.Theme{Radius: "..px"}, 1},
		{"font in quotes", ui.Theme{Font: `"Inter"`}, 1},
		{"font that ends the rule", ui.Theme{Font: "Inter;}"}, 1},
		{"font of nothing", ui.Theme{Font: "Inter,,serif"}, 1},
		{"terms by script", ui.Theme{Terms: "javascript:alert(1)"}, 1},
		{"privacy without a slash", ui.Theme{Privacy: "privacy.html"}, 1},
		{"dark logo by script", ui.Theme{DarkLogo: "javascript:alert(1)"}, 1},
		{"password in it", ui.Theme{Logo: "https://me:secret@img.test/l.png"}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.theme.Validate(); len(got) != test.problems {
				t.Errorf("problems %q, want %d", got, test.problems)
			}
			// Rejected values are not rendered either.
			drawn := render(t, ui.SignInPage(signIn(ui.Page{BasePath: "/auth", Theme: test.theme, StylesheetURL: "/s.css"})))
			refused := test.theme.BrandColor + test.theme.ButtonText + test.theme.Logo + test.theme.DarkLogo +
				test.theme.EmailLogo + test.theme.Radius + test.theme.Font + test.theme.Terms + test.theme.Privacy
			if test.problems == 1 && test.theme.ColorScheme == "" && strings.Contains(drawn, refused) {
				t.Errorf("rendered nevertheless: %s", drawn)
			}
		})
	}
}

func TestProviderValidate(t *testing.T) {
	field := func(f ui.Field) ui.Provider { return ui.Provider{ID: "p", Type: "credentials", Fields: []ui.Field{f}} }
	tests := []struct {
		name     string
		provider ui.Provider
		want     string // a part of the only error; if empty, there is none
	}{
		{"plain", mock, ""},
		{"credentials", credentials, ""},
		{"passkey", passkey, ""},
		{"color", ui.Provider{ID: "p", Style: ui.Style{Background: "x"}}, `provider "p": style background`},
		{"text color", ui.Provider{ID: "p", Style: ui.Style{Text: "x"}}, `style text`},
		{"logo", ui.Provider{ID: "p", Style: ui.Style{Logo: "x"}}, `style logo`},
		{"field without a name", field(ui.Field{}), "no name"},
		{"name of the token field", field(ui.Field{Name: "csrfToken"}), "csrfToken"},
		{"unknown field type", field(ui.Field{Name: "n", Type: "image"}), `type "image"`},
		{"attributes", field(ui.Field{Name: "n", Attributes: []ui.Attribute{
			{Name: "autofocus"}, {Name: "data-x-1"}, {Name: "aria-label", Value: "N"},
		}}), ""},
		{"event handler", field(ui.Field{Name: "n", Attributes: []ui.Attribute{
			{Name: "onfocus", Value: "x()"},
		}}), `"onfocus"`},
		{"form attribute", field(ui.Field{Name: "n", Attributes: []ui.Attribute{
			{Name: "formaction", Value: "/x"},
		}}), `"formaction"`},
		{"attribute that breaks out", field(ui.Field{Name: "n", Attributes: []ui.Attribute{
			{Name: "data-x onfocus"},
		}}), `"data-x onfocus"`},
		{"autofill without its field", ui.Provider{ID: "p", Type: "webauthn", ConditionalUI: true}, "username webauthn"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			problems := test.provider.Validate()
			if test.want == "" && len(problems) == 0 {
				return
			}
			if len(problems) != 1 || test.want == "" || !strings.Contains(problems[0], test.want) {
				t.Errorf("problems %q, want one with %q", problems, test.want)
			}
		})
	}
}

func TestImageSource(t *testing.T) {
	tests := []struct{ name, logo, want string }{
		{"none", "", ""},
		{"path", "/logo.png", "'self'"},
		{"elsewhere", "https://img.test:8443/logo.png?x=1", "https://img.test:8443"},
		{"in the page", "data:image/png;base64,AAAA", "data:"},
		{"not shown", "javascript:alert(1)", ""},
		{"breaks the policy", "https://img.test;script-src/x", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := ui.ImageSource(test.logo); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAssets(t *testing.T) {
	for name, asset := range map[string][]byte{"stylesheet": ui.Stylesheet(), "script": ui.Script()} {
		text := string(asset)
		for _, forbidden := range []string{"</", "<!--", "@import", "url(", "http:", "https:", "eval("} {
			if strings.Contains(text, forbidden) {
				t.Errorf("the %s contains %q", name, forbidden)
			}
		}
	}
	// A hash source requires that the element contains exactly the hashed bytes.
	drawn := render(t, ui.SignInPage(signIn(ui.Page{BasePath: "/auth"}, passkey)))
	style, script := "<style>"+string(ui.Stylesheet())+"</style>", "<script>"+string(ui.Script())+"</script>"
	if !strings.Contains(drawn, style) || !strings.Contains(drawn, script) {
		t.Error("the page does not hold the assets byte for byte")
	}
	sources := strings.HasPrefix(ui.StylesheetHash(), "sha256-") && strings.HasPrefix(ui.ScriptHash(), "sha256-")
	if !sources || ui.ScriptHash() == ui.StylesheetHash() {
		t.Error("hashes are not in the form of a CSP source")
	}
}

// TestPagesFindTheirAssets: a page contains style and script, or their URLs, in both cases with the nonce. Error pages
// have no script.
func TestPagesFindTheirAssets(t *testing.T) {
	carried := ui.Page{BasePath: "/auth", Nonce: "bm9uY2U"}
	linked := carried
	linked.StylesheetURL, linked.ScriptURL = "/auth/page.style?v=1", "/auth/page.script?v=1"
	const (
		style  = `<link rel="stylesheet" href="/auth/page.style?v=1" nonce="bm9uY2U">`
		script = `<script src="/auth/page.script?v=1" nonce="bm9uY2U" defer></script>`
	)
	for name, draw := range map[string]func(ui.Page) templ.Component{
		"sign-in":        func(p ui.Page) templ.Component { return ui.SignInPage(signIn(p, credentials, passkey)) },
		"sign-out":       func(p ui.Page) templ.Component { return ui.SignOutPage(ui.SignOutView{Page: p}) },
		"verify-request": func(p ui.Page) templ.Component { return ui.VerifyRequestPage(ui.VerifyRequestView{Page: p}) },
		"confirm":        func(p ui.Page) templ.Component { return ui.ConfirmPage(ui.ConfirmView{Page: p}) },
		"of a part":      func(p ui.Page) templ.Component { return ui.Shell(p, "Part") },
		"sheet":          func(p ui.Page) templ.Component { return ui.Sheet(ui.SheetView{Page: p, Heading: "Part"}) },
		"error":          func(p ui.Page) templ.Component { return ui.ErrorPage(ui.ErrorView{Page: p}) },
	} {
		scripts := 1
		if name == "error" {
			scripts = 0
		}
		for _, row := range []struct {
			page  ui.Page
			parts map[string]int
		}{
			{carried, map[string]int{
				`<style nonce="bm9uY2U">` + string(ui.Stylesheet()) + "</style>": 1, `<link rel="stylesheet"`: 0,
				`<script nonce="bm9uY2U">` + string(ui.Script()) + "</script>": scripts, "<script": scripts,
			}},
			{linked, map[string]int{
				style: 1, `<link rel="stylesheet"`: 1, string(ui.Stylesheet()): 0, script: scripts, "<script": scripts,
			}},
		} {
			drawn := render(t, draw(row.page))
			for part, want := range row.parts {
				if n := strings.Count(drawn, part); n != want {
					t.Errorf("%s: %.60s is there %d times, want %d", name, part, n, want)
				}
			}
		}
	}
}
