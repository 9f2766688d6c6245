package main

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// document is a page or an email that contains a value.
type document struct {
	what, body string
	// plain is set for the plain text of an email.
	plain bool
	// refused is set if there is no document, because the configuration or the request with the value was rejected.
	refused bool
}

// token matches attribute values that differ in each rendering of a page: CSRF tokens and similar values.
var token = regexp.MustCompile(`[0-9a-f]{64}`)

// leading are the attributes that contain a URL.
var leading = map[string]bool{
	"href": true, "src": true, "action": true, "formaction": true, "poster": true, "background": true, "data": true,
	"xlink:href": true, "ping": true, "cite": true, "manifest": true, "srcset": true,
}

// executes reports whether a browser that follows the URL of an attribute would run code in it. Browsers ignore blanks
// and control characters in URLs (WHATWG URL Standard, section 4.4).
func executes(address string) bool {
	plain := strings.ToLower(strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return r
	}, address))
	scheme, _, _ := strings.Cut(plain, ":")
	switch scheme {
	case "javascript", "vbscript", "livescript", "mocha", "blob", "filesystem", "view-source", "jar":
		return true
	case "data":
		return !strings.HasPrefix(plain, "data:image/")
	}
	return false
}

// tree lists the elements and attributes of a document for comparison. The value, in any encoding, is replaced by a
// mark. It reports what our documents must not contain.
func (d document) tree(value string) (lines string, problems []string) {
	if d.plain {
		return fmt.Sprint("lines: ", strings.Count(d.body, "\n")), nil
	}
	root, err := html.Parse(strings.NewReader(d.body))
	if err != nil {
		return "", []string{err.Error()}
	}
	var out strings.Builder
	marks := newMarker(value)
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			out.WriteString("comment\n")
		}
		if n.Type != html.ElementNode {
			continue
		}
		fmt.Fprintf(&out, "%s/%s", n.Parent.Data, n.Data)
		for _, attribute := range n.Attr {
			shown, problem := shownAttribute(n, attribute, marks)
			if problem != "" {
				problems = append(problems, problem)
			}
			out.WriteString(" " + attribute.Key + "=" + shown)
		}
		if n.Data == "style" || n.Data == "script" {
			text := ""
			if n.FirstChild != nil {
				text = n.FirstChild.Data
			}
			if len(value) > 2 && strings.Contains(text, value) {
				problems = append(problems, fmt.Sprintf("the value is in a %s element", n.Data))
			}
			fmt.Fprintf(&out, " text of %d", len(text))
		}
		out.WriteByte('\n')
	}
	return out.String(), problems
}

// shownAttribute returns the text of an attribute in the tree. It omits the value of a field, and a URL on the site.
func shownAttribute(n *html.Node, attribute html.Attribute, marks marker) (shown, problem string) {
	value := attribute.Val
	switch {
	case strings.HasPrefix(attribute.Key, "on"):
		return value, "an element " + n.Data + " has the attribute " + attribute.Key
	case attribute.Key == "value" || attribute.Key == "nonce":
		return "", ""
	case leading[attribute.Key] && executes(value):
		return value, fmt.Sprintf("the %s of %s is %q", attribute.Key, n.Data, value)
	case leading[attribute.Key] && staysHome(value):
		return "(the site)", ""
	}
	if len(value) >= 64 {
		value = token.ReplaceAllString(value, "")
	}
	return marks.replace(value), ""
}

// staysHome reports whether a URL on one of our pages stays on the site.
func staysHome(address string) bool {
	if strings.HasPrefix(address, "/") {
		address = home + address
	}
	return !strings.HasPrefix(address, home+"//") && leaves(address, home) == ""
}

// marker replaces a value, in any encoding, by a mark.
type marker struct {
	spellings []string
	*strings.Replacer
}

// newMarker considers that HTML parsers replace NUL by the replacement character and a carriage return by a line feed.
func newMarker(value string) marker {
	parsed := strings.ReplaceAll(strings.ReplaceAll(value, "\r\n", "\n"), "\r", "\n")
	m := marker{spellings: []string{
		value, parsed, strings.ReplaceAll(parsed, "\x00", "\ufffd"), strings.ReplaceAll(parsed, "\x00", ""),
		strings.TrimSpace(value),
	}}
	var pairs []string
	for _, spelling := range append(m.spellings, url.PathEscape(value), url.QueryEscape(value)) {
		if spelling != "" {
			pairs = append(pairs, spelling, "*")
		}
	}
	m.Replacer = strings.NewReplacer(pairs...)
	return m
}

func (m marker) replace(text string) string {
	if meant, err := url.PathUnescape(text); err == nil && text != "" && slices.Contains(m.spellings, meant) {
		return "*"
	}
	return m.Replace(text)
}

// differingLine returns the first line that differs between two trees.
func differingLine(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		var here, there string
		if i < len(g) {
			here = g[i]
		}
		if i < len(w) {
			there = w[i]
		}
		if here != there {
			return fmt.Sprintf("%.200q, of a harmless text %.200q", here, there)
		}
	}
	return ""
}
