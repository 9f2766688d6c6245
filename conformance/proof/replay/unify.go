package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// binder unifies recorded patterns with actual values. A placeholder is bound at its first occurrence and must have the
// same value afterwards. Relations such as sha256(csrf:1+secret) are checked as soon as their base is bound.
type binder struct {
	uuid    string // the pattern of a UUID
	values  map[string]string
	secrets []string
	email   string // the email provider's secret
	now     time.Time
	waiting []relation
	diffs   []string
}

type relation struct{ path, expression, got string }

func newBinder() *binder { return &binder{values: map[string]string{}} }

func (b *binder) differ(path, format string, args ...any) {
	b.diffs = append(b.diffs, path+": "+fmt.Sprintf(format, args...))
}

var placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// forms are the patterns of placeholders.
var forms = map[string]string{
	"csrf": `[0-9a-f]{64}`, "hex64": `[0-9a-f]{64}`, "mailtoken": `[!-~]+`,
	"uuid":         `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
	"jwe":          `[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`,
	"state":        `[A-Za-z0-9]{22}|[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`,
	"challengejwe": `[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`,
	"verifier":     `[A-Za-z0-9_-]{43}`, "nonce": `[A-Za-z0-9_-]{43}`, "random": `[A-Za-z0-9_-]{43}`,
	"challenge": `[A-Za-z0-9_-]+`, "userhandle": `[A-Za-z0-9_-]+`, "cosekey": `[A-Za-z0-9+/=]+`, "jti": `[A-Za-z0-9_-]+`,
	"idtoken": `[A-Za-z0-9_.-]+`, "jws": `[A-Za-z0-9_.-]+`, "chunk": `[A-Za-z0-9_.-]+`, "altered": `.+`,
}

// substitute replaces the placeholders in a request by their values.
func (b *binder) substitute(s string) (string, error) {
	var failed error
	out := placeholder.ReplaceAllStringFunc(s, func(m string) string {
		name := m[2 : len(m)-2]
		if v, ok := b.known(name); ok {
			return v
		}
		failed = fmt.Errorf("%s is not bound yet", m)
		return m
	})
	return out, failed
}

func (b *binder) known(name string) (string, bool) {
	if v, ok := b.values[name]; ok {
		return v, true
	}
	kind, rest, _ := strings.Cut(name, ":")
	switch kind {
	case "repeat":
		c, n, _ := strings.Cut(rest, ":")
		count, err := strconv.Atoi(n)
		return strings.Repeat(c, count), err == nil
	case "unix", "in", "iso", "date":
		n, err := strconv.Atoi(rest)
		at := b.now.Add(time.Duration(n) * time.Second)
		switch kind {
		case "unix":
			return strconv.FormatInt(at.Unix(), 10), err == nil
		case "in":
			return at.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), err == nil
		default:
			return at.UTC().Format("2006-01-02T15:04:05.000Z"), err == nil
		}
	}
	return b.computed(name)
}

var hashExpression = regexp.MustCompile(`^(sha256|s256)\(([^()+]+)(?:\+([^()]+))?\)$`)

// computed returns sha256(x+secret) or s256(x) if x is bound.
func (b *binder) computed(name string) (string, bool) {
	m := hashExpression.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	base, ok := b.values[m[2]]
	if !ok {
		return "", false
	}
	if m[1] == "s256" {
		sum := sha256.Sum256([]byte(base))
		return base64.RawURLEncoding.EncodeToString(sum[:]), true
	}
	secret := ""
	switch m[3] {
	case "secret":
		secret = b.secrets[0]
	case "secrets-joined-by-comma": // Latchkey hashes with the first secret (docs/protocol.md §4.2)
		secret = b.secrets[0]
	case "provider-secret":
		secret = b.email
	default:
		return "", false
	}
	sum := sha256.Sum256([]byte(base + secret))
	return hex.EncodeToString(sum[:]), true
}

// text unifies a recorded text with the actual one.
func (b *binder) text(path, want, got string) {
	switch want {
	case "{{prose}}":
		if strings.TrimSpace(got) == "" {
			b.differ(path, "want a sentence, got %q", got)
		}
		return
	case "{{library}}", "{{error}}", "{{request}}", "{{function}}", "{{thumbprint}}":
		return
	}
	if strings.HasPrefix(want, "http") && strings.Contains(want, "?") {
		b.address(path, want, got)
		return
	}
	b.pattern(path, want, got)
}

// address unifies URLs by parts. The order of query parameters may differ.
func (b *binder) address(path, want, got string) {
	wantBase, wantQuery, wantFragment := splitURL(want)
	gotBase, gotQuery, gotFragment := splitURL(got)
	b.pattern(path, strings.TrimSuffix(wantBase, "/"), strings.TrimSuffix(gotBase, "/"))
	b.pattern(path+" fragment", wantFragment, gotFragment)
	for _, name := range slices.Sorted(maps.Keys(wantQuery)) {
		values, there := gotQuery[name]
		if !there {
			b.differ(path+" query "+name, "want %q, it is missing", wantQuery[name])
			continue
		}
		b.text(path+" query "+name, strings.Join(wantQuery[name], "\x00"), strings.Join(values, "\x00"))
	}
	for name := range gotQuery {
		if _, there := wantQuery[name]; !there {
			b.differ(path+" query "+name, "unexpected %q", gotQuery[name])
		}
	}
}

// splitURL splits a URL. Placeholders contain no delimiters.
func splitURL(s string) (base string, query url.Values, fragment string) {
	s, fragment, _ = strings.Cut(s, "#")
	base, raw, _ := strings.Cut(s, "?")
	query, _ = url.ParseQuery(strings.ReplaceAll(raw, "{{sha256(", "{{sha256("))
	return base, query, fragment
}

// pattern unifies a text that contains placeholders.
func (b *binder) pattern(path, want, got string) {
	if !strings.Contains(want, "{{") {
		if want != got {
			b.differ(path, "want %q, got %q", want, got)
		}
		return
	}
	var pattern strings.Builder
	var names []string
	at := 0
	pattern.WriteString("(?s)^")
	for _, m := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		pattern.WriteString(regexp.QuoteMeta(want[at:m[0]]))
		name := want[m[2]:m[3]]
		at = m[1]
		if v, ok := b.known(name); ok {
			pattern.WriteString(regexp.QuoteMeta(v))
			continue
		}
		kind, _, _ := strings.Cut(name, ":")
		form := forms[kind]
		if kind == "uuid" && b.uuid != "" {
			form = b.uuid
		}
		switch {
		case strings.HasPrefix(name, "sha256("):
			form = `[0-9a-f]{64}`
		case strings.HasPrefix(name, "s256("):
			form = `[A-Za-z0-9_-]{43}`
		case form == "":
			b.differ(path, "unknown placeholder {{%s}}", name)
			return
		}
		names = append(names, name)
		pattern.WriteString("(" + form + ")")
	}
	pattern.WriteString(regexp.QuoteMeta(want[at:]) + "$")
	found := regexp.MustCompile(pattern.String()).FindStringSubmatch(got)
	if found == nil {
		b.differ(path, "want %q, got %q", want, got)
		return
	}
	for i, name := range names {
		b.bind(path, name, found[i+1])
	}
}

func (b *binder) bind(path, name, value string) {
	if hashExpression.MatchString(name) {
		b.waiting = append(b.waiting, relation{path, name, value})
		return
	}
	if old, ok := b.values[name]; ok && old != value {
		b.differ(path, "{{%s}} was %q and is %q now", name, old, value)
		return
	}
	b.values[name] = value
}

// settle checks the relations with a bound base. If last is set, an open relation is a difference.
func (b *binder) settle(last bool) {
	var open []relation
	for _, r := range b.waiting {
		want, ok := b.computed(r.expression)
		switch {
		case ok && want != r.got:
			b.differ(r.path, "{{%s}} is %q, got %q", r.expression, want, r.got)
		case !ok && last:
			b.differ(r.path, "{{%s}}: its base never came", r.expression)
		case !ok:
			open = append(open, r)
		}
	}
	b.waiting = open
}

// value unifies any JSON value.
func (b *binder) value(path string, want, got any) {
	switch w := want.(type) {
	case nil:
		if got != nil {
			b.differ(path, "want null, got %s", show(got))
		}
	case string:
		b.textValue(path, w, got)
	case json.Number:
		if g, ok := got.(string); ok && strings.HasSuffix(path, "providerAccountId") && g == w.String() {
			return // account IDs are texts, because numbers lose their last digits (docs/protocol.md §8.7)
		}
		if g, ok := got.(json.Number); !ok || g.String() != w.String() {
			b.differ(path, "want %s, got %s", w, show(got))
		}
	case bool:
		if got != w {
			b.differ(path, "want %v, got %s", w, show(got))
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			b.differ(path, "want a list of %d, got %s", len(w), show(got))
			return
		}
		for i := range w {
			b.value(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])
		}
	case object:
		b.members(path, w, got)
	default:
		b.differ(path, "unknown pattern %T", want)
	}
}

func (b *binder) textValue(path, want string, got any) {
	g, isText := got.(string)
	switch {
	case strings.HasPrefix(want, "{{unix:"):
		v, _ := b.known(strings.Trim(want, "{}"))
		if n, ok := got.(json.Number); !ok || n.String() != v {
			b.differ(path, "want the number %s, got %s", v, show(got))
		}
	case want == "{{undefined}}" && got == nil:
	case isText:
		b.text(path, want, g)
	default:
		b.differ(path, "want %q, got %s", want, show(got))
	}
}

// members unifies an object member by member.
func (b *binder) members(path string, want object, got any) {
	g, ok := got.(object)
	if !ok {
		b.differ(path, "want an object, got %s", show(got))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		v, there := g[name]
		if !there && want[name] != "{{undefined}}" {
			b.differ(path+"."+name, "want %s, it is missing", show(want[name]))
			continue
		}
		b.value(path+"."+name, want[name], v)
	}
	for _, name := range slices.Sorted(maps.Keys(g)) {
		if _, there := want[name]; !there {
			b.differ(path+"."+name, "unexpected %s", show(g[name]))
		}
	}
}

// record unifies records of a store or an event. A missing member equals null.
func (b *binder) record(path string, want, got any) { b.value(path, dropNulls(want), dropNulls(got)) }

func dropNulls(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, member := range v {
			if member = dropNulls(member); member != nil {
				out[name] = member
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = dropNulls(v[i])
		}
		return out
	}
	return v
}

func show(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(raw) > 300 {
		raw = append(raw[:300], "…"...)
	}
	return string(raw)
}
