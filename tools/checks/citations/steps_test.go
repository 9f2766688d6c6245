package citations

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// step is a row of the tables in docs/code.md: a number, a file or a folder, and names of functions.
	step     = regexp.MustCompile("(?m)^\\| \\d+ \\| `([^`]+)` \\| ([^|]*)\\|")
	function = regexp.MustCompile("`(\\w+)`")
)

// TestSteps checks that the functions in the tables of docs/code.md are declared in the file of their row.
func TestSteps(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(top, "docs/code.md"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, row := range step.FindAllStringSubmatch(string(page), -1) {
		code := source(t, row[1])
		for _, name := range function.FindAllStringSubmatch(row[2], -1) {
			checked++
			if !declares(code, name[1]) {
				t.Errorf("docs/code.md: %s declares no function %s", row[1], name[1])
			}
		}
	}
	if checked < 40 {
		t.Errorf("%d functions checked", checked)
	}
	if declares("func (c *call) answers() {}", "answer") || !declares("func (c *call) answer() {}", "answer") {
		t.Error("the wrong declarations are found")
	}
}

// source returns the Go code of a file, or of the files in a folder.
func source(t *testing.T, path string) string {
	t.Helper()
	files := []string{filepath.Join(top, path)}
	if !strings.HasSuffix(path, ".go") {
		files, _ = filepath.Glob(filepath.Join(top, path, "*.go"))
	}
	var code strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("docs/code.md: %v", err)
		}
		code.Write(raw)
	}
	return code.String()
}

func declares(code, name string) bool {
	return regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + name + `[\[(]`).MatchString(code)
}
