package main

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// pageForms reads the forms of a page the way the recordings describe them: action, method, hidden inputs, fields, buttons.
func pageForms(body []byte) ([]any, error) {
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
	var forms []any
	each(doc, func(n *html.Node) {
		if n.Data == "form" {
			forms = append(forms, form(n, labels))
		}
	})
	return forms, nil
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
	return object{"action": attribute(n, "action"), "method": strings.ToUpper(attribute(n, "method")), "hidden": hidden, "fields": fields, "buttons": buttons}
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

// bareForms drops what is a matter of looks from recorded forms: styles and pictures of buttons, attributes free by the rules.
func bareForms(recorded any) []any {
	list, _ := recorded.([]any)
	out := []any{}
	for _, f := range list {
		form := object{}
		for name, v := range f.(object) {
			form[name] = v
		}
		if buttons, ok := form["buttons"].([]any); ok {
			bare := []any{}
			for _, b := range buttons {
				kept := object{}
				for name, v := range b.(object) {
					if name == "text" || name == "type" || name == "id" {
						kept[name] = v
					}
				}
				bare = append(bare, kept)
			}
			form["buttons"] = bare
		}
		for _, name := range []string{"hidden", "fields", "buttons"} {
			if form[name] == nil {
				form[name] = []any{}
			}
		}
		for name := range form {
			switch name {
			case "action", "method", "hidden", "fields", "buttons":
			default:
				delete(form, name)
			}
		}
		out = append(out, form)
	}
	return out
}
