package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Words that recipes of several files share. Any other text is an error.

// amount matches a size in braces: {64k}, {8m}, {300}. k is 1,000 and m is 1,000,000, so that {1m} and the rest of a
// request are just below the limit of 1 MiB.
var amount = regexp.MustCompile(`^\{(\d+) ?(k|m|kb|mb|)\}$`)

// filler returns a text of the given size.
func filler(word string) (string, bool) {
	m := amount.FindStringSubmatch(strings.ToLower(word))
	if m == nil {
		return "", false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return "", false
	}
	for _, unit := range strings.TrimSuffix(m[2], "b") {
		n *= map[rune]int{'k': 1e3, 'm': 1e6}[unit]
	}
	return strings.Repeat("a", n), true
}

// part is a text and its number of repetitions.
type part struct {
	text  string
	times int
}

// UnmarshalJSON reads ["text", times].
func (p *part) UnmarshalJSON(raw []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("%s is no text with a count", raw)
	}
	if err := json.Unmarshal(pair[0], &p.text); err != nil {
		return err
	}
	return json.Unmarshal(pair[1], &p.times)
}

// built joins the parts of a recipe.
func built(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(strings.Repeat(p.text, p.times))
	}
	return b.String()
}

// rawMember matches a number that encoding/json would write differently or reject.
var rawMember = regexp.MustCompile(`^\{raw (.*)\}$`)

// marshal encodes members. Values of the form {raw …} are written literally.
func marshal(members map[string]any) []byte {
	raws := []string{}
	body := string(must(json.Marshal(marked(members, &raws))))
	for i, raw := range raws {
		body = strings.Replace(body, fmt.Sprintf(`"\u0001raw%d"`, i), raw, 1)
	}
	return []byte(body)
}

func marked(v any, raws *[]string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			out[name] = marked(member, raws)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = marked(v[i], raws)
		}
		return out
	case string:
		if m := rawMember.FindStringSubmatch(v); m != nil {
			*raws = append(*raws, m[1])
			return fmt.Sprintf("\u0001raw%d", len(*raws)-1)
		}
	}
	return v
}

// others returns the invalid value of a duplicate member.
func others(name string, a *attack, now int64) any {
	switch name {
	case "exp":
		return now - 3600
	case "iat", "nbf", "auth_time":
		return now + 3600
	case "iss", "issuer":
		return "https://evil.example"
	case "aud", "azp", "client_id":
		return "client-2"
	case "sub", "id":
		return "u2"
	case "email":
		return "u2@op.example"
	case "email_verified":
		return false
	case "access_token":
		return "at-u2"
	case "events":
		return map[string]any{"x": map[string]any{}}
	case "keys":
		return []any{jwk("evil")}
	}
	if strings.HasSuffix(name, "_endpoint") || strings.HasSuffix(name, "_uri") {
		return collector + "/" + name
	}
	if strings.HasSuffix(name, "_supported") {
		return []any{"none"}
	}
	return "other"
}

// edits are ways to write JSON that no encoder uses.
var edits = []struct {
	pattern *regexp.Regexp
	do      func(a *attack, text string, now int64, m []string) string
}{
	// Of two members the second is the valid one, or the first if reversed.
	{regexp.MustCompile(`^duplicate[- ]([\w.]+?)((?:-|, | )?(?:reversed|good one first|good first))?$`),
		func(a *attack, text string, now int64, m []string) string {
			second := string(must(json.Marshal(m[1]))) + ":" + string(must(json.Marshal(others(m[1], a, now))))
			if m[2] != "" {
				return strings.TrimSuffix(text, "}") + "," + second + "}"
			}
			return "{" + second + "," + strings.TrimPrefix(text, "{")
		}},
	{regexp.MustCompile(`^append:(?s:(.*))$`),
		func(_ *attack, text string, _ int64, m []string) string { return text + m[1] }},
	{regexp.MustCompile(`^prepend:(?s:(.*))$`),
		func(_ *attack, text string, _ int64, m []string) string { return m[1] + text }},
	{regexp.MustCompile(`^bom$`), func(_ *attack, text string, _ int64, _ []string) string { return "\ufeff" + text }},
	{regexp.MustCompile(`^empty$`), func(*attack, string, int64, []string) string { return "" }},
	{regexp.MustCompile(`^cut$`), func(_ *attack, text string, _ int64, _ []string) string { return text[:len(text)/2] }},
	{regexp.MustCompile(`^array$`), func(_ *attack, text string, _ int64, _ []string) string { return "[" + text + "]" }},
	{regexp.MustCompile(`^string$`),
		func(_ *attack, text string, _ int64, _ []string) string { return string(must(json.Marshal(text))) }},
	{regexp.MustCompile(`^twice$`), func(_ *attack, text string, _ int64, _ []string) string { return text + text }},
	{regexp.MustCompile(`^invalid-utf-?8$`), func(_ *attack, text string, _ int64, _ []string) string {
		return strings.TrimSuffix(text, "}") + ",\"x\":\"\xff\"}"
	}},
	{regexp.MustCompile(`^(null|true|\d+|\[.*\]|\{.*\}|".*")$`),
		func(_ *attack, _ string, _ int64, m []string) string { return m[1] }},
	// The member's text, written literally.
	{regexp.MustCompile(`^([\w.]+)=(?s:(.*))$`), func(a *attack, text string, _ int64, m []string) string {
		var members map[string]any
		a.must(json.Unmarshal([]byte(text), &members))
		members[m[1]] = "{raw " + m[2] + "}"
		return string(marshal(members))
	}},
}

// edited applies an edit to the text of a JSON object.
func (a *attack) edited(text, edit string, now int64) string {
	for _, e := range edits {
		if m := e.pattern.FindStringSubmatch(edit); m != nil {
			return e.do(a, text, now, m)
		}
	}
	a.failf("the edit %q of a JSON text is not known", edit)
	return text
}

var (
	borrowed = regexp.MustCompile(`^([\w-]+) as ([\w-]+)$`)
	manyKeys = regexp.MustCompile(`^([\d ]+) keys, (ours last|ours first|none ours)$`)
	rsaKey   = regexp.MustCompile(`^rsa (\d+)(?: e=(\d+))?$`)
)

// keyList returns a list of this number of keys with the valid one at the given position. It returns nil if number is
// not a number.
func keyList(number, where string) any {
	n, err := strconv.Atoi(strings.ReplaceAll(number, " ", ""))
	if err != nil || n < 1 {
		return nil
	}
	keys := make([]any, n)
	for i := range keys {
		key := jwk("rs2")
		key["kid"] = fmt.Sprintf("k%d", i)
		keys[i] = key
	}
	switch where {
	case "ours last":
		keys[n-1] = jwk("rs1")
	case "ours first":
		keys[0] = jwk("rs1")
	}
	return keys
}

// keyed returns the public key, or the list of keys, that a word names: rs1, evil as rs1 (with another key's kid), rsa
// 1048576 (a modulus of this number of bits), 10000 keys, ours last, unknown kty, and others. It returns nil for an
// unknown word.
func keyed(word string) any {
	if signers()[word] != nil {
		return jwk(word)
	}
	if m := borrowed.FindStringSubmatch(word); m != nil && signers()[m[1]] != nil {
		key := jwk(m[1])
		key["kid"] = m[2]
		return key
	}
	if m := rsaKey.FindStringSubmatch(word); m != nil {
		key := jwk("rs1")
		if n, err := strconv.Atoi(m[1]); err == nil {
			key["n"] = strings.Repeat("_", (n/8+2)/3*4)
		}
		if m[2] != "" {
			e, err := strconv.ParseUint(m[2], 10, 63)
			if err != nil {
				return nil
			}
			key["e"] = bigEndian(e)
		}
		return key
	}
	if m := manyKeys.FindStringSubmatch(word); m != nil {
		return keyList(m[1], m[2])
	}
	switch word {
	case "unknown kty":
		return map[string]any{"kty": "XYZ", "kid": "rs1", "use": "sig"}
	case "no kty":
		key := jwk("rs1")
		delete(key, "kty")
		return key
	case "oct", "client_secret":
		return map[string]any{"kty": "oct", "kid": "rs1", "k": encoded([]byte(clientSecret))}
	case "point off the curve", "off the curve":
		key := jwk("es1")
		key["y"] = key["x"]
		return key
	case "small-order":
		return map[string]any{
			"kty": "OKP", "crv": "Ed25519", "kid": "ed0", "x": encoded(append([]byte{1}, make([]byte, 31)...)),
		}
	}
	return nil
}
