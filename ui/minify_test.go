package ui

import (
	"strings"
	"testing"
)

func TestMinified(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, got, want string }{
		{"script", minifyScript("// words\n(() => {\n  \"use strict\";\n\n  a(); // more\n})();\n"),
			"(() => {\n\"use strict\";\na(); // more\n})();\n"},
		{"script with an address", minifyScript("  f('//a');\n"), "f('//a');\n"},
		{"style", minifyStyle("/* words */\n\na,\nb {\n  color: red; /* more */\n  margin: 0\n    auto;\n}\n"),
			"a,b{color:red;margin:0 auto}"},
		{"style with fractions", minifyStyle("a {\n  margin: 0.5rem 0.25em;\n  width: min(0.5px, 0.1rem, 10.5em);\n}\n"),
			"a{margin:.5rem .25em;width:min(.5px,.1rem,10.5em)}"},
		{"style with a negative fraction", minifyStyle("a {\n  top: -0.5em;\n}\n"), "a{top:-.5em}"},
		{"style with a comment inside", minifyStyle("a /* one\ntwo */ b {\n}"), "a b{}"},
	} {
		if row.got != row.want {
			t.Errorf("%s: %q, want %q", row.name, row.got, row.want)
		}
	}
}

// TestSourcesCanBeMinified rejects sources that minification would break: strings over several lines, and comments that
// are not whole lines.
func TestSourcesCanBeMinified(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"reveal.js": revealFile, "facts.js": factsFile, "typed.js": typedFile, "passkey.js": passkeyFile,
		"busy.js": busyFile, "dialog.js": dialogFile, "strength.js": strengthFile,
	} {
		for line := range strings.Lines(source) {
			if strings.Count(line, "`")%2 != 0 || strings.HasSuffix(strings.TrimSpace(line), "\\") ||
				strings.Contains(line, "/*") {
				t.Errorf("%s: a string or comment spans lines: %s", name, line)
			}
		}
	}
	sources := map[string]string{"sheet.css": sheetFile}
	for _, name := range styleNames {
		source, err := styleFiles.ReadFile("assets/style/" + name + ".css")
		if err != nil {
			t.Fatal(err)
		}
		sources[name] = string(source)
	}
	for name, source := range sources {
		if strings.Count(source, "/*") != strings.Count(source, "*/") || strings.Contains(source, "\\\n") ||
			strings.ContainsAny(source, "`") || quotedOverLines(source) {
			t.Errorf("%s: a string spans lines or contains a comment", name)
		}
	}
}

// quotedOverLines reports whether a line opens a string without closing it, or contains the start of a comment in a
// string.
func quotedOverLines(style string) bool {
	for line := range strings.Lines(style) {
		if strings.Contains(line, "/*") {
			continue
		}
		if strings.Count(line, `"`)%2 != 0 {
			return true
		}
	}
	return false
}

// TestPagesAreSmall checks the minified sizes.
func TestPagesAreSmall(t *testing.T) {
	t.Parallel()
	if len(script) > 16<<10 || len(stylesheet) > 12<<10 {
		t.Errorf("the script has %d bytes and the stylesheet %d: more than a first visit should fetch",
			len(script), len(stylesheet))
	}
}
