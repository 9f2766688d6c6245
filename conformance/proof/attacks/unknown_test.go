package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// data are the members whose values an attacker sends. Any text is allowed in them, and each of these members was
// reviewed. All other texts in a payload are words of the test.
var data = map[string]*regexp.Regexp{
	"bodies.json":    regexp.MustCompile(`^\.(body|type|build.*)$`),
	"cookies.json":   regexp.MustCompile(`^\.(gen\.(name|value)|untouched\[\])$`),
	"csrf.json":      regexp.MustCompile(`^\.method$`),
	"emails.json":    regexp.MustCompile(`^\.(authjs_mails_to.*|build.*|raw|body\.json.*)$`),
	"headers.json":   regexp.MustCompile(`^\.value$`),
	"idtoken.json":   regexp.MustCompile(`^\.((header|claims|jwks\[\]).+|accept_as)$`),
	"jwe.json":       regexp.MustCompile(`^\.(secrets\[\]|bare_go_jose|gen\.(plaintext|text|then|first|\w+_build.*))$`),
	"paths.json":     regexp.MustCompile(`^\.method$`),
	"redirects.json": regexp.MustCompile(`^\.build.*$`),
	"upstream.json":  regexp.MustCompile(`^\.(body.+|headers.+|text|type|build.*)$`),
	"webauthn.json":  regexp.MustCompile(`^\.(patch\.(clientData\..*|id|userHandle|body\..*)|bodies\[\]|actions\[\])$`),
	"xss.json":       regexp.MustCompile(`^\.value$`),
}

// TestUnknownPayloadsFail adds an unknown member to every object of the payloads, and replaces every word by an unknown
// word, once for each kind. A runner that ignores it would test something else than the file says.
func TestUnknownPayloadsFail(t *testing.T) {
	for name := range kinds {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			var f map[string]any
			if err := json.Unmarshal(raw, &f); err != nil {
				t.Fatal(err)
			}
			x := &estranger{seen: map[string]bool{}}
			for _, p := range f["payloads"].([]any) {
				x.payload = p.(map[string]any)
				x.walk(x.payload, "", nil)
			}
			f["payloads"] = x.altered
			out := sendFile(t, name, f)
			for line := range strings.SplitSeq(out, "\n") {
				id, passed := strings.CutPrefix(line, "ok   gin ")
				if passed && (data[name] == nil || !data[name].MatchString(strings.Fields(id)[0])) {
					t.Errorf("passed over: %s", id)
				}
			}
		})
	}
}

// sendFile sends a file through one adapter and returns the report. It runs without the race detector, because these
// payloads test the runners; TestPayloads runs with it.
func sendFile(t *testing.T, name string, f map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := plain()
	if err != nil {
		t.Fatal(err)
	}
	if program == "" {
		var out bytes.Buffer
		if _, err := run(t.Context(), &out, dir, "gin", "", true); err != nil {
			t.Error(err)
		}
		return out.String()
	}
	out, err := exec.CommandContext(t.Context(), program, "-dir", dir, "-adapter", "gin", "-v").CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1 means that attacks succeeded, as expected
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}

// estranger creates payloads with one unknown name, for each place.
type estranger struct {
	seen    map[string]bool
	payload map[string]any
	altered []json.RawMessage
}

func (x *estranger) add(place string) {
	if x.seen[place] {
		return
	}
	x.seen[place] = true
	id := x.payload["id"]
	x.payload["id"] = place + " of " + id.(string)
	x.altered = append(x.altered, must(json.Marshal(x.payload)))
	x.payload["id"] = id
}

func (x *estranger) walk(v any, place string, set func(any)) {
	switch v := v.(type) {
	case map[string]any:
		v["strange"] = "strange"
		x.add(place + ".+")
		delete(v, "strange")
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if place == "" && slices.Contains([]string{"id", "why", "authjs", "oidf"}, name) {
				continue
			}
			x.walk(v[name], place+"."+name, func(other any) { v[name] = other })
		}
	case []any:
		for i := range v {
			x.walk(v[i], place+"[]", func(other any) { v[i] = other })
		}
	case string:
		set("strange {strange}")
		x.add(place)
		set(v)
	}
}

// TestUnknownPayloadFilesFail adds unknown members to a file, and an unknown file.
func TestUnknownPayloadFilesFail(t *testing.T) {
	for _, row := range []struct{ name, member, want string }{
		{"redirects.json", "strange", `FAIL redirects.json: json: unknown field "strange"`},
		{"strange.json", "", "FAIL strange.json: no runner knows a file of that name"},
	} {
		f := map[string]any{"payloads": []any{map[string]any{"id": "RD-1", "value": "/x", "want": "stay", "why": ""}}}
		if row.member != "" {
			f[row.member] = "x"
		}
		if out := sendFile(t, row.name, f); !strings.Contains(out, row.want) || !strings.Contains(out, "1 failed") {
			t.Errorf("%s: %s", row.name, out)
		}
	}
}

// TestRecipes checks the texts that recipes of several files create.
func TestRecipes(t *testing.T) {
	for _, row := range []struct{ payload, main, want string }{
		{`{"build": [["a", 3], ["b", 1]]}`, "value", `{"value":"aaab"}`},
		{`{"text": "ab", "repeat": 2}`, "value", `{"value":"abab"}`},
		{`{"hex": "c3a4"}`, "value", `{"value":"ä"}`},
		{`{"value": "{3}"}`, "value", `{"value":"aaa"}`},
		{`{"cookie": ["N={TOK}", {"build": [["x", 2]]}]}`, "cookie", `{"cookie":["N={TOK}","xx"]}`},
		{`{"headers": [["Host", {"text": "a", "repeat": 2}]]}`, "", `{"headers":[["Host","aa"]]}`},
		{`{"gen": {"text": "a", "repeat": 2}}`, "token", `{"gen": {"text": "a", "repeat": 2}}`},
		{`{"build": [["a", 3]]}`, "", `{"build": [["a", 3]]}`},
		{`{"claims": {"n": 12345678901234567890, "x": "{2}"}}`, "", `{"claims":{"n":12345678901234567890,"x":"aa"}}`},
		{`{"text": "a", "repeat": 2}`, "text", `{"text":"aa"}`},
		{`{"text": "a"}`, "text", `{"text": "a"}`},
		{`{"claims": {"x": {"hex": "ff"}}}`, "", ""},
		{`{"claims": {"x": {"build": [["a"]]}}}`, "", ""},
		{`{"hex": "ff"}`, "value", ""},
		{`{"hex": "f"}`, "value", ""},
		{`{"text": "a", "repeat": -1}`, "value", ""},
		{`{"build": [["a"]]}`, "value", ""},
	} {
		got, err := spelledOut([]byte(row.payload), row.main)
		if row.want == "" && err == nil || row.want != "" && (err != nil || string(got) != row.want) {
			t.Errorf("%s: %s, %v; want %s", row.payload, got, err, row.want)
		}
	}
}

// TestRecipesEverywhere uses a recipe for the main text of each file.
func TestRecipesEverywhere(t *testing.T) {
	want := map[string]string{"redirects.json": "stay", "emails.json": "reject", "paths.json": "refuse",
		"csrf.json": "refused", "cookies.json": "none", "jwe.json": "reject", "headers.json": "", "xss.json": "",
		"bodies.json": "4xx", "upstream.json": ""}
	for name := range mainTexts {
		raw := must(os.ReadFile(filepath.Join("testdata", name)))
		var f map[string]any
		if err := json.Unmarshal(raw, &f); err != nil {
			t.Fatal(err)
		}
		p := map[string]any{"id": "X-1", "why": "", "build": []any{[]any{"<b>x", 3}, []any{"@@", 1}}}
		if want[name] != "" {
			p["want"] = want[name]
		}
		if name == "upstream.json" {
			p["endpoint"], p["sign_in"] = "token", "no"
		}
		f["payloads"] = []any{p}
		if out := sendFile(t, name, f); !strings.HasPrefix(out, "ok   gin X-1") {
			t.Errorf("%s does not know a recipe: %s", name, out)
		}
	}
}
