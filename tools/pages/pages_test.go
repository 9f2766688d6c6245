// Package pages holds the documents of this repository to it: every block of Go in them compiles, every link leads to a
// page and a heading that are there, and every command names a target, a program or a file that is there.
//
// A block that begins with a package clause is a program, or a file of one: blocks of a page belong together until a
// second one has a main function. It compiles as it stands, unused names included.
//
// Any other block is a fragment. It is read as declarations, else as the statements of a function, and its imports
// are found by the names of packages. In place of "…" nothing stands, or nil where a value is wanted, and a function
// may end in a comment. The names that all pages use, such as store and ctx, are listed in names. What else a fragment
// takes for granted stands in a comment in front of it, which readers of the page do not see:
//
//	<!-- go: invoices interface{ Open(context.Context, string) (bool, error) } -->
//	<!-- go: in core.Config -->
//	<!-- go: import "html/template"; a *authgin.Adapter -->
//	<!-- go: elsewhere -->
//
// The first says the type of a name, the second that the fragment is fields of a literal, the third what a name of a
// package means. Several are joined by semicolons. The last is for code on another library, which nobody compiles.
package pages

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const top = "../.."

// page is a document, line by line.
type page struct {
	path  string // from the top of the repository
	lines []line
}

// line knows where it stands: language is that of a fenced block, "text" where it has none, "indented" in a block
// without a fence, and "" in prose.
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
