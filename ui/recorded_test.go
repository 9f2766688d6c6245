package ui_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/latchkey-go/latchkey/ui"
)

// recording is a page of Auth.js as it was observed, with what it was drawn from. Two things were changed on purpose: the
// sign-in button of the error page leads to the sign-in page, and colours of buttons are no inline styles.
type recording struct {
	ID, Kind, Origin, BasePath string
	Theme                      ui.Theme
	Providers                  []ui.Provider
	Email, Error, CallbackURL  string
	Page                       map[string]any
}

func (r recording) draw() templ.Component {
	page := ui.Page{BasePath: r.BasePath, Theme: r.Theme}
	host := r.Origin[strings.Index(r.Origin, "//")+2:]
	switch r.Kind {
	case "signin":
		return ui.SignInPage(ui.SignInView{Page: page, CSRFToken: token, CallbackURL: r.CallbackURL, Email: r.Email, Error: r.Error, Providers: r.Providers})
	case "signout":
		return ui.SignOutPage(ui.SignOutView{Page: page, CSRFToken: token, CallbackURL: r.CallbackURL})
	case "error":
		return ui.ErrorPage(ui.ErrorView{Page: page, Error: r.Error, URL: r.Origin, Host: host})
	default:
		return ui.VerifyRequestPage(ui.VerifyRequestView{Page: page, URL: r.Origin, Host: host})
	}
}

func TestRecordedPages(t *testing.T) {
	data, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	var recordings []recording
	if err := json.Unmarshal(data, &recordings); err != nil || len(recordings) == 0 {
		t.Fatalf("%d recordings, %v", len(recordings), err)
	}
	// Pages with one sameTextGroup say the same, others do not.
	texts, groups := map[string]string{}, map[string]string{}
	for _, r := range recordings {
		t.Run(r.ID, func(t *testing.T) {
			got := factsOf(t, render(t, r.draw()))
			if r.Kind == "signin" {
				delete(got, "heading") // the recorded page has none, which leaves readers of the page's outline with nothing
			}
			if part, ok := map[string]string{"signin": "alert", "error": "message"}[r.Kind]; ok {
				text, _ := got[part].(string)
				want, _ := r.Page[part].(map[string]any)
				group, _ := want["sameTextGroup"].(string)
				if (text == "") != (group == "") {
					t.Errorf("%s %q, recorded group %q", part, text, group)
				}
				if texts[group] == "" && groups[text] == "" {
					texts[group], groups[text] = text, group
				}
				if texts[group] != text || groups[text] != group {
					t.Errorf("%s %q is not in its group %s", part, text, group)
				}
			}
			for _, words := range []string{"alert", "message"} { // free wording
				delete(got, words)
				delete(r.Page, words)
			}
			for _, key := range slices.Sorted(maps.Keys(r.Page)) {
				if !reflect.DeepEqual(got[key], r.Page[key]) {
					t.Errorf("%s\ngot  %s\nwant %s", key, toJSON(t, got[key]), toJSON(t, r.Page[key]))
				}
				delete(got, key)
			}
			for key, value := range got {
				t.Errorf("%s is not recorded: %s", key, toJSON(t, value))
			}
		})
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// factsOf reads from a document what was recorded of the pages, in the same form.
func factsOf(t *testing.T, document string) map[string]any {
	t.Helper()
	root, err := html.Parse(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	facts := map[string]any{"separators": 0.0}
	add := func(key string, value any) {
		list, _ := facts[key].([]any)
		facts[key] = append(list, value)
	}
	labels := map[string]string{}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "label" {
			labels[attribute(n, "for")] = text(n)
		}
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		class := attribute(n, "class")
		switch n.Data {
		case "html":
			facts["lang"] = attribute(n, "lang")
		case "title":
			facts["title"] = text(n)
		case "body":
			facts["bodyClass"] = class
		case "h1":
			facts["heading"] = text(n)
		case "hr":
			facts["separators"] = facts["separators"].(float64) + 1
		case "a":
			add("links", map[string]any{"class": class, "href": attribute(n, "href"), "text": text(n)})
		case "img":
			if class == "logo" {
				add("images", map[string]any{"src": attribute(n, "src"), "alt": attribute(n, "alt"), "class": class})
			}
		case "form":
			add("forms", formFacts(n, labels))
		case "style":
			for name, value := range themeVariables(text(n)) {
				variables, _ := facts["themeVariables"].(map[string]any)
				if variables == nil {
					variables = map[string]any{}
					facts["themeVariables"] = variables
				}
				variables[name] = value
			}
		}
		switch {
		case attribute(n.Parent, "class") == "page":
			facts["pageClass"] = class
		case attribute(n, "role") == "alert":
			facts["alert"] = text(n)
		case class == "message":
			facts["message"] = text(n)
		}
	}
	return facts
}

func formFacts(form *html.Node, labels map[string]string) map[string]any {
	facts := map[string]any{"action": attribute(form, "action"), "method": attribute(form, "method"), "hidden": []any{}, "fields": []any{}, "buttons": []any{}}
	if id := attribute(form, "id"); id != "" {
		facts["id"] = id
	}
	for n := range form.Descendants() {
		switch {
		case n.Data == "input" && attribute(n, "type") == "hidden":
			facts["hidden"] = append(facts["hidden"].([]any), map[string]any{"name": attribute(n, "name"), "value": attribute(n, "value")})
		case n.Data == "input":
			field := map[string]any{"labelText": labels[attribute(n, "id")]}
			for _, a := range n.Attr {
				field[a.Key] = a.Val
				if a.Val == "" {
					field[a.Key] = true
				}
			}
			facts["fields"] = append(facts["fields"].([]any), field)
		case n.Data == "button":
			button := map[string]any{"text": text(n), "type": attribute(n, "type")}
			if id := attribute(n, "id"); id != "" {
				button["id"] = id
			}
			facts["buttons"] = append(facts["buttons"].([]any), button)
		}
	}
	return facts
}

// themeVariables reads the variables of Auth.js from the small second style element.
func themeVariables(css string) map[string]string {
	found := map[string]string{}
	if !strings.HasPrefix(css, ":root{") {
		return found
	}
	for declaration := range strings.SplitSeq(strings.TrimPrefix(css[:strings.Index(css, "}")], ":root{"), ";") {
		name, value, _ := strings.Cut(declaration, ":")
		if name == "--brand-color" || name == "--button-text-color" {
			found[name[2:]] = value
		}
	}
	return found
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}
