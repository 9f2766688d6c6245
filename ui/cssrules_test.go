package ui_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// cssRule is a selector of a rule, its condition and its declarations.
type cssRule struct {
	condition, text, body string
	selector
}

func (r cssRule) String() string { return r.condition + "{" + r.text + "{" + r.body + "}}" }

// selector describes an element, in any state.
type selector struct {
	language string     // of the page; if empty, any
	inside   *selector  // the required content, or nil
	steps    [][]string // the path to the element: names, classes and attributes, and the combinators between them
}

var (
	cssBlock = regexp.MustCompile(
		`(@media|@supports|@keyframes)([^{]*)\{((?:[^{}]*\{[^{}]*\})*)\}|([^{}]+)\{([^{}]*)\}`)
	cssLanguage = regexp.MustCompile(`:lang\((\w+)\)`)
	cssHas      = regexp.MustCompile(`:has\(([^)]*)\)`)
	cssPseudo   = regexp.MustCompile(`::?[a-z-]+(\([^()]*(\([^()]*\))?[^()]*\))?`)
	cssSimple   = regexp.MustCompile(`[.\[]?[\w-]+(="?[\w-]+"?)?\]?|[>+]`)
)

// rulesOf returns the rules of a minified stylesheet, including those within conditions.
func rulesOf(css string) (rules []cssRule) {
	for _, found := range cssBlock.FindAllStringSubmatch(css, -1) {
		switch found[1] {
		case "@keyframes":
		case "":
			for _, text := range selectorsOf(found[4]) {
				rules = append(rules, cssRule{text: text, body: found[5], selector: selectorOf(text)})
			}
		default:
			for _, rule := range rulesOf(found[3]) {
				rule.condition = found[1] + found[2]
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// selectorsOf splits a list of selectors at the commas outside of parentheses.
func selectorsOf(list string) []string {
	depth := 0
	return strings.FieldsFunc(list, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ',' && depth == 0
	})
}

func selectorOf(text string) (s selector) {
	if language := cssLanguage.FindStringSubmatch(text); language != nil {
		s.language = language[1]
	}
	if found := cssHas.FindStringSubmatch(text); found != nil {
		inside := selectorOf(found[1])
		s.inside = &inside
	}
	text = strings.ReplaceAll(text, "::placeholder", "[placeholder]")
	for step := range strings.FieldsSeq(cssPseudo.ReplaceAllString(text, "*")) {
		s.steps = append(s.steps, cssSimple.FindAllString(step, -1))
	}
	return s
}

// matches reports whether the document contains such an element.
func (s selector) matches(root *html.Node) bool {
	if s.inside != nil && !s.inside.matches(root) {
		return false
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "html" && s.language != "" {
			if lang := attribute(n, "lang"); lang == nil || !strings.HasPrefix(*lang, s.language) {
				return false
			}
		}
		if reaches(n, s.steps) {
			return true
		}
	}
	return false
}

// reaches reports whether an element matches the last of the steps.
func reaches(n *html.Node, steps [][]string) bool {
	last := len(steps) - 1
	if n == nil || n.Type != html.ElementNode || !has(n, steps[last]...) {
		return false
	}
	if last == 0 {
		return true
	}
	switch before := steps[:last]; strings.Join(steps[last-1], "") {
	case ">":
		return reaches(n.Parent, before[:last-1])
	case "+":
		sibling := n.PrevSibling
		for sibling != nil && sibling.Type != html.ElementNode {
			sibling = sibling.PrevSibling
		}
		return reaches(sibling, before[:last-1])
	default:
		for n := range n.Ancestors() {
			if reaches(n, before) {
				return true
			}
		}
		return false
	}
}

// has reports whether an element has a name, classes and attributes.
func has(n *html.Node, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		switch name[0] {
		case '.':
			class := attribute(n, "class")
			return class == nil || !slices.Contains(strings.Fields(*class), name[1:])
		case '[':
			key, value, valued := strings.Cut(strings.Trim(name, "[]"), "=")
			got := attribute(n, key)
			return got == nil || valued && *got != strings.Trim(value, `"`)
		}
		return n.Data != name
	})
}

func attribute(n *html.Node, key string) *string {
	for _, a := range n.Attr {
		if a.Key == key {
			return &a.Val
		}
	}
	return nil
}

// scripted returns a page with the elements that its scripts add.
func scripted(t *testing.T, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	add := func(to *html.Node, markup string) {
		nodes, err := html.ParseFragment(strings.NewReader(markup), to)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range nodes {
			to.AppendChild(n)
		}
	}
	for _, n := range slices.Collect(root.Descendants()) {
		switch {
		case n.Data == "input" && has(n, `[type="hidden"]`): // invisible
			n.Parent.RemoveChild(n)
		case attribute(n, "data-sent") != nil:
			add(n, `<strong></strong> <a class="site"></a>`)
		case n.Data == "div" && has(n, ".meter"):
			for _, level := range []string{"1", "2", "3", "4"} { // the bar in each state, with its text
				bar := `<div class="meter" data-level="` + level + `"><span></span></div><p class="status">9</p>`
				add(n.Parent, bar)
			}
		case n.Data == "div" && has(n, ".secret"):
			add(n, `<button class="show" aria-pressed="false"><svg><path class="off"/></svg></button>`)
		case n.Data == "button":
			n.Attr = append(n.Attr, html.Attribute{Key: "aria-busy"})
			if strings.Contains(page, "data-last=") {
				add(n, `<span class="last edge"></span>`)
			}
		}
	}
	return root
}
