package ui_test

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/latchkey-go/latchkey/ui"
)

// harmless is the value that each payload is compared with.
const harmless = "zzz"

// places are all places where a value gets into markup.
var places = []struct {
	name string
	draw func(value string) templ.Component
}{
	{"sign-in error", inSignIn(func(v *ui.SignInView, s string) { v.Error = s })},
	{"sign-in e-mail", inSignIn(func(v *ui.SignInView, s string) { v.Email = s })},
	{"sign-in callback URL", inSignIn(func(v *ui.SignInView, s string) { v.CallbackURL = s })},
	{"sign-in CSRF token", inSignIn(func(v *ui.SignInView, s string) { v.CSRFToken = s })},
	{"sign-in base path", inSignIn(func(v *ui.SignInView, s string) { v.BasePath = s })},
	{"sign-in title", inSignIn(func(v *ui.SignInView, s string) { v.Title = s })},
	{"sign-in nonce", inSignIn(func(v *ui.SignInView, s string) { v.Nonce = s })},
	{"sign-in stylesheet address", inSignIn(func(v *ui.SignInView, s string) { v.StylesheetURL = s })},
	{"sign-in script address", inSignIn(func(v *ui.SignInView, s string) { v.ScriptURL = s })},
	{"theme color scheme", inSignIn(func(v *ui.SignInView, s string) { v.Theme.ColorScheme = s })},
	{"theme brand color", inSignIn(func(v *ui.SignInView, s string) { v.Theme.BrandColor = s })},
	{"theme button text", inSignIn(func(v *ui.SignInView, s string) { v.Theme.ButtonText = s })},
	{"theme dark logo", inSignIn(func(v *ui.SignInView, s string) { v.Theme.DarkLogo = s })},
	{"theme name", inSignIn(func(v *ui.SignInView, s string) { v.Theme.Name = s })},
	{"theme radius", inSignIn(func(v *ui.SignInView, s string) { v.Theme.Radius = s })},
	{"theme terms", inSignIn(func(v *ui.SignInView, s string) { v.Theme.Terms = s })},
	{"theme privacy", inSignIn(func(v *ui.SignInView, s string) { v.Theme.Privacy = s })},
	{"theme logo", inSignIn(func(v *ui.SignInView, s string) { v.Theme.Logo = s })},

	{"provider id", inProviders(func(p *ui.Provider, s string) { p.ID = s })},
	{"provider name", inProviders(func(p *ui.Provider, s string) { p.Name = s })},
	{"provider type", inProviders(func(p *ui.Provider, s string) { p.Type = s })},
	{"provider sign-in address", inProviders(func(p *ui.Provider, s string) { p.SignInURL = s })},
	{"provider callback address", inProviders(func(p *ui.Provider, s string) { p.CallbackURL = s })},
	{"provider style background", inProviders(func(p *ui.Provider, s string) { p.Style.Background = s })},
	{"provider style text", inProviders(func(p *ui.Provider, s string) { p.Style.Text = s })},
	{"provider style logo", inProviders(func(p *ui.Provider, s string) { p.Style.Logo = s })},
	{"field name", inFields(func(f *ui.Field, s string) { f.Name = s })},
	{"field label", inFields(func(f *ui.Field, s string) { f.Label = s })},
	{"field type", inFields(func(f *ui.Field, s string) { f.Type = s })},
	{"field placeholder", inFields(func(f *ui.Field, s string) { f.Placeholder = s })},
	{"field value", inFields(func(f *ui.Field, s string) { f.Value = s })},
	{"field autocomplete", inFields(func(f *ui.Field, s string) { f.Autocomplete = s })},
	{"field attribute name", inFields(func(f *ui.Field, s string) {
		f.Attributes = []ui.Attribute{{Name: s, Value: "x"}}
	})},
	{"field attribute name after data-", inFields(func(f *ui.Field, s string) {
		f.Attributes = []ui.Attribute{{Name: "data-" + s + "\"", Value: "x"}}
	})},
	{"field attribute value", inFields(func(f *ui.Field, s string) {
		f.Attributes = []ui.Attribute{{Name: "pattern", Value: s}}
	})},

	{"sign-out callback URL", func(s string) templ.Component {
		return ui.SignOutPage(ui.SignOutView{Page: page, CSRFToken: token, CallbackURL: s})
	}},
	{"sign-out address of the application", func(s string) templ.Component {
		return ui.SignOutPage(ui.SignOutView{Page: page, URL: s})
	}},
	{"sign-out action", func(s string) templ.Component { return ui.SignOutPage(ui.SignOutView{Page: page, Action: s}) }},
	{"error name", func(s string) templ.Component { return ui.ErrorPage(ui.ErrorView{Page: page, Error: s}) }},
	{"sign-in reference", func(s string) templ.Component {
		return ui.SignInPage(ui.SignInView{Page: page, Error: "Configuration", Reference: s})
	}},
	{"error reference", func(s string) templ.Component { return ui.ErrorPage(ui.ErrorView{Page: page, Reference: s}) }},
	{"error sign-in address", func(s string) templ.Component {
		return ui.ErrorPage(ui.ErrorView{Page: page, Error: "AccessDenied", SignInURL: s})
	}},
	{"error site", func(s string) templ.Component { return ui.ErrorPage(ui.ErrorView{Page: page, URL: s, Host: s}) }},
	{"error host", func(s string) templ.Component {
		return ui.ErrorPage(ui.ErrorView{Page: page, URL: "https://app.test", Host: s})
	}},
	{"verify-request host", func(s string) templ.Component {
		return ui.VerifyRequestPage(ui.VerifyRequestView{Page: page, URL: "https://app.test", Host: s})
	}},

	{"sheet", func(s string) templ.Component { return sheet(page, s) }},
	{"component label", inState(func(_ *ui.State, s string) templ.Component {
		return ui.SignInWith(ui.SignInOptions{Provider: "mock", Label: s})
	})},
	{"component class", inState(func(_ *ui.State, s string) templ.Component {
		return ui.SignOutWith(ui.SignOutOptions{Class: s})
	})},
	{"component redirect", inState(func(_ *ui.State, s string) templ.Component {
		return ui.SignInWith(ui.SignInOptions{Provider: "mock", RedirectTo: s})
	})},
	{"component link redirect", inState(func(_ *ui.State, s string) templ.Component {
		return ui.SignInWith(ui.SignInOptions{RedirectTo: s})
	})},
	{"component CSRF token", inState(func(st *ui.State, s string) templ.Component {
		st.CSRFToken = s
		return ui.SignOut()
	})},
	{"component sign-in page", inState(func(st *ui.State, s string) templ.Component {
		st.SignInPath = s
		return ui.SignIn("")
	})},
	{"component provider name", inState(func(st *ui.State, s string) templ.Component {
		st.Providers[0].Name = s
		return ui.SignIn("mock")
	})},
	{"visitor name", inState(func(st *ui.State, s string) templ.Component {
		st.Visitor = visitor(ui.Visitor{Name: s, Image: "https://img.test/a.png"})
		return ui.Avatar()
	})},
	{"visitor picture", inState(func(st *ui.State, s string) templ.Component {
		st.Visitor = visitor(ui.Visitor{Image: s})
		return ui.Avatar()
	})},
}

func inSignIn(set func(*ui.SignInView, string)) func(string) templ.Component {
	return func(value string) templ.Component {
		v := signIn(page, mock, email, credentials, passkey)
		set(&v, value)
		return ui.SignInPage(v)
	}
}

func inProviders(set func(*ui.Provider, string)) func(string) templ.Component {
	return inSignIn(func(v *ui.SignInView, value string) {
		for i := range v.Providers {
			set(&v.Providers[i], value)
		}
	})
}

func inFields(set func(*ui.Field, string)) func(string) templ.Component {
	return inProviders(func(p *ui.Provider, value string) {
		p.Fields = slices.Clone(p.Fields)
		for i := range p.Fields {
			set(&p.Fields[i], value)
		}
	})
}

func inState(draw func(*ui.State, string) templ.Component) func(string) templ.Component {
	return func(value string) templ.Component {
		s := state()
		component := draw(s, value)
		return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
			return component.Render(ui.WithState(ctx, s), w)
		})
	}
}

// A payload must result in the same elements and attributes as harmless text.
func TestMarkupStaysText(t *testing.T) {
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			want := tree(t, render(t, place.draw(harmless)), harmless)
			for _, payload := range payloads {
				if got := tree(t, render(t, place.draw(payload.value)), payload.value); got != want {
					t.Errorf("%s: %q changes the page:\n%s", payload.name, payload.value, firstDifference(got, want))
				}
			}
		})
	}
}

// tree returns the elements and attributes of a document as text. It replaces value and its URL encodings by a mark,
// and rejects elements and attributes that no page may contain.
func tree(t *testing.T, document, value string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	// The parser turns NUL into the replacement character, and a carriage return into a line feed.
	seen := strings.ReplaceAll(value, "\x00", "\ufffd")
	marks := strings.NewReplacer(value, "*", seen, "*", url.PathEscape(value), "*", url.QueryEscape(value), "*")
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		fmt.Fprintf(&out, "%s/%s", n.Parent.Data, n.Data)
		for _, a := range n.Attr {
			leads := a.Key == "href" || a.Key == "src" || a.Key == "action"
			known := strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "about:invalid") ||
				strings.HasPrefix(a.Val, "/auth/") || a.Val == "#methods" ||
				n.Data == "link" && strings.HasPrefix(a.Val, "data:image/svg+xml,%3Csvg%20")
			if leads && !known {
				t.Errorf("%s links to %q", a.Key, a.Val)
			}
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("attribute %s", a.Key)
			}
			fmt.Fprintf(&out, " %s=%s", a.Key, marks.Replace(a.Val))
		}
		out.WriteByte('\n')
		if (n.Data == "style" || n.Data == "script") && n.FirstChild != nil && strings.Contains(n.FirstChild.Data, value) {
			t.Errorf("%q stands in a %s element", value, n.Data)
		}
	}
	return out.String()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + strings.Join(w[i:min(i+1, len(w))], "")
		}
	}
	return "elements are missing"
}

// Names from the query string select a text. Unknown names get one general text, and no name is shown.
func TestUnknownErrorNames(t *testing.T) {
	draw := map[string]func(name string) templ.Component{
		"sign-in": inSignIn(func(v *ui.SignInView, s string) { v.Error = s }),
		"error":   func(s string) templ.Component { return ui.ErrorPage(ui.ErrorView{Page: page, Error: s}) },
	}
	for kind, draw := range draw {
		want := render(t, draw("SomethingElse"))
		for _, name := range []string{
			"constructor", "__proto__", "toString", "accessdenied", "Configuration ", strings.Repeat("x", 10_000),
		} {
			if got := render(t, draw(name)); got != want {
				t.Errorf("%s page: error %.20q is not rendered like an unknown one", kind, name)
			}
		}
	}
}
