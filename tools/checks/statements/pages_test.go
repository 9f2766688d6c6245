package statements

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesNameTests: tests that pages name as evidence exist.
func TestPagesNameTests(t *testing.T) {
	tests, err := known()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range code.FindAllStringSubmatch(string(raw), -1) {
				if !strings.Contains(m[1], " Test") || !named.MatchString(m[1]) {
					continue
				}
				found++
				if _, err := tests.find(m[1]); err != nil {
					t.Errorf("%s: %v", strings.TrimPrefix(path, top+"/"), err)
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d tests are named", found)
	}
}
