package ui

import (
	"bytes"
	"strings"
)

// Lean returns a page of this package without those rules of [Stylesheet] for which there is nothing on it: most
// sign-in pages have neither two columns nor a message. It looks the same. A page that does not hold the stylesheet is
// returned as it is. It costs as much as drawing the page: for pages that are kept.
func Lean(page []byte) []byte {
	before, after, found := bytes.Cut(page, []byte(stylesheet))
	if !found {
		return page
	}
	on := words(string(before) + string(after))
	if strings.Contains(string(on), "<script src=") {
		on += words(script)
	}
	return bytes.Join([][]byte{before, []byte(on.rulesOf(stylesheet)), after}, nil)
}

// words are all that a page says beside its stylesheet: elements, classes and attributes, and those that its scripts
// add. What stands in none of them a rule cannot match; what does may have another meaning there, and its rules stay.
type words string

// rulesOf keeps the rules of a squeezed stylesheet that can match.
func (w words) rulesOf(css string) string {
	var kept strings.Builder
	for css != "" {
		var rule, body string
		rule, body, css = cutRule(css)
		switch {
		case strings.HasPrefix(rule, "@media"), strings.HasPrefix(rule, "@supports"):
			body = w.rulesOf(body)
		case strings.HasPrefix(rule, "@"): // without selectors
		default:
			rule = w.selectorsOf(rule)
		}
		if rule != "" && body != "" {
			kept.WriteString(rule + "{" + body + "}")
		}
	}
	return kept.String()
}

// cutRule cuts the first rule off a stylesheet: what stands before its braces and what is in them.
func cutRule(css string) (rule, body, rest string) {
	rule, css, _ = strings.Cut(css, "{")
	depth := 1
	for i := range len(css) {
		switch css[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return rule, css[:i], css[i+1:]
		}
	}
	return rule, css, ""
}

// selectorsOf keeps the selectors of a rule that can match.
func (w words) selectorsOf(rule string) string {
	var kept []string
	depth, begin := 0, 0
	for i := range len(rule) + 1 {
		switch {
		case i == len(rule) || rule[i] == ',' && depth == 0:
			if selector := rule[begin:i]; w.has(selector) {
				kept = append(kept, selector)
			}
			begin = i + 1
		case rule[i] == '(':
			depth++
		case rule[i] == ')':
			depth--
		}
	}
	return strings.Join(kept, ",")
}

// has reports whether there is every element, class and attribute that a selector names. Values are not looked at, nor
// what stands in parentheses, which may be a negation.
func (w words) has(selector string) bool {
	depth, value, pseudo := 0, false, false
	before := byte(' ')
	for selector != "" {
		n := len(selector) - len(strings.TrimLeft(selector, nameLetters))
		if n > 0 {
			if depth == 0 && !value && !pseudo && !w.say(before, selector[:n]) {
				return false
			}
			selector, pseudo = selector[n:], false
			continue
		}
		switch selector[0] {
		case '(':
			depth++
		case ')':
			depth--
		case '=':
			value = true
		case ']':
			value = false
		}
		before = selector[0]
		pseudo = before == ':'
		selector = selector[1:]
	}
	return true
}

// say reports whether there is the name in a selector that stands behind a character, as a word of its own: onerror is
// no error. An element is not found in what people are called, which is escaped; scripts make theirs by its name in
// quotes.
func (w words) say(behind byte, name string) bool {
	begins := func(before byte) bool { return before == '<' || before == '"' }
	if strings.IndexByte(".#[", behind) >= 0 {
		begins = func(before byte) bool { return strings.IndexByte(nameLetters, before) < 0 || before == '-' }
		name = strings.TrimPrefix(name, "data-") // scripts write it without
	}
	for text := string(w); ; {
		at := strings.Index(text, name)
		if at < 0 {
			return false
		}
		end := at + len(name)
		if at > 0 && begins(text[at-1]) && (end == len(text) || strings.IndexByte(nameLetters, text[end]) < 0) {
			return true
		}
		text = text[end:]
	}
}

const nameLetters = propertyLetters + "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
