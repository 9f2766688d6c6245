// Package pages checks the documents of this repository: every Go block compiles, every link has an existing page and
// heading as its target, and every command names an existing target, program or file.
//
// A block that begins with a package clause is a program or a file of one, and so is a file of docs/programs if a
// paragraph is only a link to it. The blocks of a page belong together until a second block has a main function.
// Programs are compiled unchanged, and unused names are errors.
//
// Any other block is a fragment. It is parsed as declarations or, if that fails, as statements of a function. Imports
// are found by package names. "…" is removed, or replaced by nil where a value is required. A function may end with a
// comment. names lists the names that all pages use, such as store and ctx. Other undeclared names of a fragment are in
// a comment before it, which is invisible on the page:
//
//	<!-- go: invoices interface{ Open(context.Context, string) (bool, error) } -->
//	<!-- go: in core.Config -->
//	<!-- go: import "html/template"; a *authgin.Adapter -->
//	<!-- go: elsewhere -->
//
// The first declares the type of a name. The second says that the fragment consists of fields of a literal. The third
// declares a package's import path. Several are separated by semicolons. The last is for code of another library, which
// is not compiled.
package pages

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const top = "../../.."

// page is a document with its lines.
type page struct {
	path  string // from the top of the repository
	lines []line
}

// line is a line of a page. language is that of its fenced block, "text" for a block without a language, "indented" for
// an unfenced block, and "" for prose.
type line struct {
	text, language string
	fence          bool
}

// pages reads all documents of the repository.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		hidden := strings.HasPrefix(name, ".") && name != ".github" && path != top
		if d.IsDir() && (name == "node_modules" || name == "testdata" || hidden) {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".md" {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(top, path)
		all = append(all, page{filepath.ToSlash(relative), read(string(raw))})
		return err
	})
	if err != nil || len(all) < 40 {
		t.Fatalf("%d pages read: %v", len(all), err)
	}
	return all
}

var fence = regexp.MustCompile("^\\s*```+([a-z]*)")

func read(text string) []line {
	var lines []line
	language, blank := "", true
	for raw := range strings.SplitSeq(text, "\n") {
		l := line{text: raw, language: language}
		m := fence.FindStringSubmatch(raw)
		indented := strings.HasPrefix(raw, "    ") && strings.TrimSpace(raw) != ""
		switch {
		case m != nil && language == "":
			l.fence = true
			if language = m[1]; language == "" {
				language = "text"
			}
		case m != nil:
			l.fence, language = true, ""
		case language == "" && indented && blank:
			l.language = "indented"
		}
		blank = strings.TrimSpace(raw) == "" || l.language == "indented"
		lines = append(lines, l)
	}
	return lines
}

func TestRead(t *testing.T) {
	t.Parallel()
	lines := read("# A\n\n    make test\n\ntext\n    more of it\n```go\nx := 1\n```\n```\nplain\n```\nend")
	want := []string{"", "", "indented", "", "", "", "", "go", "go", "", "text", "text", ""}
	for i, l := range lines {
		if l.language != want[i] {
			t.Errorf("line %d, %q, is %q, want %q", i+1, l.text, l.language, want[i])
		}
	}
}
