// Package citations checks the citations in comments and documents: every named document must exist, and so must every
// cited section of docs/protocol.md.
package citations

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	top      = "../../.."
	protocol = "docs/protocol.md"
)

var (
	// heading is a numbered heading of the protocol. section is a citation of one.
	heading = regexp.MustCompile(`(?m)^#{2,3} §(\d+(?:\.\d+)?) \S`)
	section = regexp.MustCompile(`§\s?(\d+(?:\.\d+)?)`)
	// document matches a file name, with or without a path, but not patterns such as "*_test.go". address matches a
	// URL.
	document = regexp.MustCompile(`[A-Za-z0-9_./-]*[A-Za-z0-9_-]\.(?:md|go)\b`)
	address  = regexp.MustCompile(`https?://\S+`)
	// unpublished matches internal notes, which are not in this repository.
	unpublished = regexp.MustCompile(`\b(SPEC|WIRE|ATTACKS|BETTER|HOUSE|DEPTH|STYLE|DESIGN|TESTBED)\b`)
	row         = regexp.MustCompile(`\b(RD|HO|CS|CK|JW|SE|OA|UP|LK|EM|CR|WA|PG|RQ|LG|UC|ST|RC|TM|AD|SC)\d{1,2}\b`)
)

// written are the kinds of files with text for readers. "" is Makefile and similar files.
var written = []string{"", ".go", ".md", ".templ", ".json", ".yaml", ".yml", ".sh", ".js", ".css", ".mod"}

// text is a file: its path from the top of the repository, and its lines.
type text struct {
	path  string
	lines []string
}

// texts reads the repository without generated, installed and hidden files.
func texts(t *testing.T) []text {
	t.Helper()
	var all []text
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && path != top && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir() || !entry.Type().IsRegular() || name == "package-lock.json" || strings.HasPrefix(name, "."):
			return nil
		case !slices.Contains(written, filepath.Ext(name)):
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(top, path)
		all = append(all, text{filepath.ToSlash(relative), strings.Split(string(raw), "\n")})
		return err
	})
	if err != nil || len(all) < 100 {
		t.Fatalf("%d files read: %v", len(all), err)
	}
	return all
}

// sections returns the numbers of the protocol's headings, and checks that they are unique.
func sections(t *testing.T) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(top, protocol))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(string(raw), -1) {
		if known[m[1]] {
			t.Errorf("%s has two sections §%s", protocol, m[1])
		}
		known[m[1]] = true
	}
	if len(known) < 40 {
		t.Fatalf("%s has %d numbered sections: %v", protocol, len(known), slices.Sorted(maps.Keys(known)))
	}
	return known
}

// findings lists the invalid citations of a line. comment is the part of the line that is a comment.
func findings(path, line, comment string, known map[string]bool, exists func(from, name string) bool) []string {
	var out []string
	for _, m := range section.FindAllStringSubmatch(line, -1) {
		if !known[m[1]] {
			out = append(out, "§"+m[1]+" is no section of "+protocol)
		}
	}
	for _, name := range document.FindAllString(address.ReplaceAllString(comment, ""), -1) {
		if !strings.HasPrefix(name, "_") && !exists(path, name) {
			out = append(out, name+" is no file of this repository")
		}
	}
	for _, pattern := range []*regexp.Regexp{unpublished, row} {
		if name := pattern.FindString(comment); name != "" {
			out = append(out, name+" names what readers do not have: cite a section of "+protocol+" or of an RFC, or say it")
		}
	}
	return out
}

// commentOf returns the comment in a line: in Go the text after "//", in data files nothing.
func commentOf(path, line string) string {
	switch filepath.Ext(path) {
	case ".go", ".templ", ".js":
		_, comment, _ := strings.Cut(address.ReplaceAllString(line, ""), "//")
		return comment
	case ".json", ".mod", ".css":
		return ""
	}
	return line
}

// created are the files that "latchkey new" creates. docs/start.md and its folder describe them.
var created = []string{
	"auth.go", "develop.go", "main.go", "main_test.go", "page.go", "production.go", "site.go",
}

// existing reports whether a document exists, from the top of the repository or in the folder of the citing file.
func existing(from, name string) bool {
	if (from == "docs/start.md" || strings.HasPrefix(from, "cmd/latchkey/")) && slices.Contains(created, name) {
		return true
	}
	for _, path := range []string{filepath.Join(top, name), filepath.Join(top, filepath.Dir(from), name)} {
		_, err := os.Stat(path)
		if err == nil {
			return true
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return false
}

func TestEveryCitationResolves(t *testing.T) {
	t.Parallel()
	known := sections(t)
	for _, file := range texts(t) {
		if file.path == "tools/checks/citations/citations_test.go" {
			continue
		}
		for i, line := range file.lines {
			for _, wrong := range findings(file.path, line, commentOf(file.path, line), known, existing) {
				t.Errorf("%s:%d: %s", file.path, i+1, wrong)
			}
		}
	}
}

func TestWrongCitationsAreFound(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"6": true, "6.2": true}
	there := func(_, name string) bool { return name == "docs/accounts.md" }
	for _, c := range []struct {
		name, line string
		wrong      int
	}{
		{"a section", "// docs/accounts.md, and §6.2", 0},
		{"a whole part", "// see §6", 0},
		{"a document", "x := 1 // docs/accounts.md has the table", 0},
		{"a pattern of file names", "// tests are in *_test.go", 0},
		{"a document on the web", "// https://example.com/WIRE.md", 0},
		{"code that looks like a note", `x := "SPEC"`, 0},

		{"a section that is not there", "// see §6.3", 1},
		{"two of them", "// §7 and §8.1", 2},
		{"a section in a text of the program", `x := "see §9"`, 1},
		{"a document that is not there", "// docs/other.md", 1},
		{"a source file that is not there", "// see exchange.go", 1},
		{"a note", "// sets the cookie (WIRE 6)", 1},
		{"a note as a file", "// sets the cookie (WIRE.md section 6)", 2},
		{"a row of a note", "// TestPlanted signs in (SE1)", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := findings("core/x.go", c.line, commentOf("core/x.go", c.line), known, there); len(got) != c.wrong {
				t.Errorf("%s: %d findings, want %d: %v", c.line, len(got), c.wrong, got)
			}
		})
	}
}
