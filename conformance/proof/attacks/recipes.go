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

// Recipes describe texts that are too long or too unusual to write down. They work in every file. An object that is a
// recipe replaces any text. Members of a recipe at the top of a payload replace the text that the file is about.
//
//	{"build": [["a", 3], ["b", 1]]}   texts with numbers of repetitions: aaab
//	{"text": "a", "repeat": 3}        one text, repeated
//	{"hex": "c3a4"}                   the UTF-8 text of these bytes; invalid UTF-8 has other members
//	"{64k}"                           a text of this length

// mainTexts are the members that files are about. Files that are not listed have their own members for recipes.
var mainTexts = map[string]string{
	"redirects.json": "value", "emails.json": "value", "headers.json": "value", "xss.json": "value",
	"paths.json": "target", "csrf.json": "body", "cookies.json": "cookie", "jwe.json": "token",
	"bodies.json": "body", "upstream.json": "text",
}

// ownRecipes are members that files handle themselves.
var ownRecipes = []string{"gen"}

// spelledOut replaces the recipes in a payload by their texts. main is the member that a recipe at the top replaces. If
// it is empty, the file handles recipes at the top itself.
func spelledOut(raw []byte, main string) ([]byte, error) {
	var payload map[string]any
	if err := decode(raw, &payload); err != nil {
		return nil, err
	}
	changed := false
	_, repeats := payload["repeat"] // then "text" belongs to the recipe
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

// recipe returns the text of a recipe and the members that it used.
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

// textsFor replaces the recipes within a value by their texts.
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

// oneOf ends the attack if a member's word is not one of known.
func (a *attack) oneOf(member, word string, known ...string) {
	if !slices.Contains(known, word) {
		a.failf("%s %q is not known: %s", member, word, strings.Join(known, ", "))
	}
}

// linkedTo are the expected users of an account at the end of a story.
var linkedTo = []string{"nobody", "nobody or u1, never u2"}

// placeholder matches a word that is replaced by a value of the user.
var placeholder = regexp.MustCompile(`\{[A-Za-z][A-Za-z0-9_:-]*\}`)

// fill returns a function that replaces placeholders. An unknown placeholder is an error.
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
