package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// pageFacts returns the facts of a page that the recordings contain. Markup and wording may differ.
func pageFacts(body []byte) (object, error) {
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	labels := map[string]string{}
	each(doc, func(n *html.Node) {
		if n.Data == "label" {
			labels[attribute(n, "for")] = innerText(n)
		}
	})
	facts, separators := object{"doctype": doc.FirstChild.Type == html.DoctypeNode}, 0
	add := func(name string, v any) {
		list, _ := facts[name].([]any)
		facts[name] = append(list, v)
	}
	each(doc, func(n *html.Node) {
		class := attribute(n, "class")
		switch n.Data {
		case "html":
			facts["lang"] = attribute(n, "lang")
		case "title":
			facts["title"] = innerText(n)
		case "body":
			facts["bodyClass"] = class
		case "h1":
			facts["heading"] = innerText(n)
		case "hr":
			separators++
		case "a":
			if class == "back" { // a link where Auth.js has none
				return
			}
			add("links", object{"class": class, "href": attribute(n, "href"), "text": innerText(n)})
		case "img":
			if class == "logo" {
				add("images", object{"src": attribute(n, "src"), "alt": attribute(n, "alt"), "class": class})
			}
		case "form":
			add("forms", form(n, labels))
		case "style":
			if variables := themeVariables(innerText(n)); len(variables) > 0 {
				facts["themeVariables"] = variables
			}
		}
		switch {
		case attribute(n.Parent, "class") == "page":
			facts["pageClass"] = class
		case attribute(n, "role") == "alert", class == "prompt": // a request to sign in is no error
			facts["alert"] = innerText(n)
		case class == "message":
			facts["message"] = innerText(n)
		}
	})
	facts["separators"] = json.Number(strconv.Itoa(separators))
	return facts, nil
}

// themeVariables returns the theme's colors from the style element that contains them.
func themeVariables(css string) object {
	found := object{}
	rest, ok := strings.CutPrefix(css, ":root{")
	rest, _, _ = strings.Cut(rest, "}")
	for declaration := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		if ok && (name == "--brand-color" || name == "--button-text-color") {
			found[name[2:]] = value
		}
	}
	return found
}

// page compares the facts of a page. Texts may differ, but must exist, and texts that are equal in the recording must
// be equal (sameTextGroup).
func (w comparison) page(want object, body []byte) {
	b := w.binder
	got, err := pageFacts(body)
	if err != nil {
		b.differ("page", "%v", err)
		return
	}
	if w.whole && got["pageClass"] == "signin" {
		want = withPasswordForm(b, want, got)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch name {
		case "forms":
			forms, _ := got["forms"].([]any)
			b.value("page forms", any(freeFocus(nil, bareForms(want["forms"]))), freeFocus(b, append([]any{}, forms...)))
		case "alert", "message":
			text, _ := got[name].(string)
			group, _ := want[name].(object)["sameTextGroup"].(string)
			w.texts.compare(b, "page "+name, group, text)
		case "scripts": // our script is part of the page, Auth.js loads one from another site
		case "links":
			b.value("page links", linksTo(want["links"]), got["links"])
		default:
			b.value("page "+name, want[name], got[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		_, recorded := want[name]
		// An outline without a heading is useless.
		free := name == "message" || name == "heading" && want["pageClass"] == "signin"
		if !recorded && !free {
			b.differ("page "+name, "unexpected %s", show(got[name]))
		}
	}
}

var signInOnErrorPage = regexp.MustCompile(`/error(\?[^/]*)?/signin$`)

// linksTo corrects the recorded links. The sign-in button on Latchkey's error page links to the sign-in page. Auth.js's
// links to the error page with "/signin" after its query.
func linksTo(recorded any) any {
	list, _ := recorded.([]any)
	out := []any{}
	for _, l := range list {
		link := maps.Clone(l.(object))
		link["href"] = signInOnErrorPage.ReplaceAllString(link["href"].(string), "/signin")
		out = append(out, link)
	}
	return out
}

// textGroups records the text of each group of equal texts, over all scenarios of a run.
type textGroups struct {
	mu              sync.Mutex
	textOf, groupOf map[string]string
}

func (g *textGroups) compare(b *binder, path, group, text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.textOf == nil {
		g.textOf, g.groupOf = map[string]string{}, map[string]string{}
	}
	if g.textOf[group] == "" && g.groupOf[text] == "" {
		g.textOf[group], g.groupOf[text] = text, group
	}
	if text == "" || g.textOf[group] != text || g.groupOf[text] != group {
		b.differ(path, "%q is not the text of group %s", text, group)
	}
}

func form(n *html.Node, labels map[string]string) object {
	hidden, fields, buttons := []any{}, []any{}, []any{}
	each(n, func(c *html.Node) {
		switch {
		case c.Data == "input" && attribute(c, "type") == "hidden":
			hidden = append(hidden, object{"name": attribute(c, "name"), "value": attribute(c, "value")})
		case c.Data == "input":
			field := object{}
			for _, a := range c.Attr {
				field[a.Key] = a.Val
				if a.Val == "" {
					field[a.Key] = true
				}
			}
			if text, ok := labels[attribute(c, "id")]; ok {
				field["labelText"] = text
			}
			fields = append(fields, field)
		case c.Data == "button":
			button := object{"text": innerText(c), "type": attribute(c, "type")}
			if id := attribute(c, "id"); id != "" {
				button["id"] = id
			}
			buttons = append(buttons, button)
		}
	})
	out := object{
		"action": attribute(n, "action"), "method": strings.ToUpper(attribute(n, "method")),
		"hidden": hidden, "fields": fields, "buttons": buttons,
	}
	if id := attribute(n, "id"); id != "" {
		out["id"] = id
	}
	return out
}

func each(n *html.Node, visit func(*html.Node)) {
	if n.Type == html.ElementNode {
		visit(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		each(c, visit)
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func innerText(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

// bareForms removes styling from recorded forms: styles and images of buttons, and attributes that may differ.
func bareForms(recorded any) []any {
	list, _ := recorded.([]any)
	out := []any{}
	for _, f := range list {
		out = append(out, bareForm(f.(object)))
	}
	return out
}

func bareForm(recorded object) object {
	form := maps.Clone(recorded)
	maps.DeleteFunc(form, func(name string, _ any) bool {
		return !slices.Contains([]string{"action", "method", "hidden", "fields", "buttons", "id"}, name)
	})
	if buttons, ok := form["buttons"].([]any); ok {
		form["buttons"] = bareButtons(buttons)
	}
	for _, name := range []string{"hidden", "fields", "buttons"} {
		if form[name] == nil {
			form[name] = []any{}
		}
	}
	return form
}

func bareButtons(recorded []any) []any {
	bare := []any{}
	for _, b := range recorded {
		kept := object{}
		for _, name := range []string{"text", "type", "id"} {
			if v, there := b.(object)[name]; there {
				kept[name] = v
			}
		}
		bare = append(bare, kept)
	}
	return bare
}
