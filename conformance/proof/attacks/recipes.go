package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Recipes stand for texts that are too long or too odd to be written down. They work in every file: an object that is
// one stands in the place of any text, and its members at the top of a payload stand for the text that the file is
// about.
//
//	{"build": [["a", 3], ["b", 1]]}   texts and how often each comes: aaab
//	{"text": "a", "repeat": 3}        one text, several times
//	{"hex": "c3a4"}                   the text of these bytes; those that are no UTF-8 have words of their own
//	"{64k}"                           so many bytes

// mainTexts are the members that files are about. Those that are not here have words of their own for it.
var mainTexts = map[string]string{
	"redirects.json": "value", "emails.json": "value", "headers.json": "value", "xss.json": "value",
	"paths.json": "target", "csrf.json": "body", "cookies.json": "cookie", "jwe.json": "token",
	"bodies.json": "body", "upstream.json": "text",
}

// ownRecipes are members that files read in their own way.
var ownRecipes = []string{"gen"}

// spelledOut is a payload whose recipes are the texts that they stand for. main is the member that recipes at the top
// are for; empty: there is none, and they are the file's own.
func spelledOut(raw []byte, main string) ([]byte, error) {
	var payload map[string]any
	if err := decode(raw, &payload); err != nil {
		return nil, err
	}
	changed := false
	_, repeats := payload["repeat"] // then "text" is a part of the recipe
	if main != "" && (payload[main] == nil || main == "text" && repeats) {
		text, used, err := recipe(payload)
		if err != nil {
			return nil, err
		}
		if len(used) > 0 {
			changed = true
			for _, name := range used {
				delete(payload, name)
			}
			payload[main] = text
		}
	}
	if err := fillTexts(payload, &changed); err != nil || !changed {
		return raw, err
	}
	return json.Marshal(payload)
}

// recipe is the text that members stand for, and which of them.
func recipe(members map[string]any) (text string, used []string, err error) {
	of := func(names ...string) ([]byte, bool) {
		picked := map[string]any{}
		for _, name := range names {
			value, there := members[name]
			if !there {
				return nil, false
			}
			picked[name] = value
		}
		used = names
		return must(json.Marshal(picked)), true
	}
	var read struct {
		Build  []part
		Text   string
		Repeat int
		Hex    string
	}
	if raw, there := of("build"); there {
		err = decode(raw, &read)
		return built(read.Build), used, err
	}
	if raw, there := of("text", "repeat"); there {
		if err = decode(raw, &read); err == nil && read.Repeat < 0 {
			err = fmt.Errorf("a text cannot come %d times", read.Repeat)
		}
		return strings.Repeat(read.Text, max(read.Repeat, 0)), used, err
	}
	if raw, there := of("hex"); there {
		if err = decode(raw, &read); err != nil {
			return "", used, err
		}
		bytes, err := hex.DecodeString(read.Hex)
		if err == nil && !utf8.Valid(bytes) {
			err = fmt.Errorf("hex %s is no UTF-8: body_hex, text_hex and raw take such bytes", read.Hex)
		}
		return string(bytes), used, err
	}
	return "", nil, nil
}

// textsFor puts texts in the place of the recipes within a value.
func textsFor(v any, changed *bool) (any, error) {
	switch v := v.(type) {
	case string:
		if text, ok := filler(v); ok {
			*changed = true
			return text, nil
		}
	case []any:
		for i := range v {
			var err error
			if v[i], err = textsFor(v[i], changed); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if text, used, err := recipe(v); len(used) > 0 && len(used) == len(v) {
			*changed = true
			return text, err
		}
		return v, fillTexts(v, changed)
	}
	return v, nil
}

func fillTexts(members map[string]any, changed *bool) (err error) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(ownRecipes, name) {
			continue
		}
		if members[name], err = textsFor(members[name], changed); err != nil {
			return err
		}
	}
	return nil
}

// oneOf fails for a word of a member that is none of those known.
func (a *attack) oneOf(member, word string, known ...string) {
	if !slices.Contains(known, word) {
		a.failf("%s %q is not known: %s", member, word, strings.Join(known, ", "))
	}
}

// linkedTo are who an account may be linked to at the end of a story.
var linkedTo = []string{"nobody", "nobody or u1, never u2"}

// placeholder is a word that stands for something of the visitor's.
var placeholder = regexp.MustCompile(`\{[A-Za-z][A-Za-z0-9_:-]*\}`)

// fill returns a function that puts values in the places of placeholders, and fails for those that are not known.
func (a *attack) fill(pairs ...string) func(string) string {
	replace := strings.NewReplacer(pairs...).Replace
	known := map[string]bool{}
	for i := 0; i < len(pairs); i += 2 {
		known[pairs[i]] = true
	}
	return func(s string) string {
		for _, word := range placeholder.FindAllString(s, -1) {
			if !known[word] {
				a.failf("the word %s is not known", word)
			}
		}
		return replace(s)
	}
}
