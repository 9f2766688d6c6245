package statements

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// promises is the page that says what Latchkey promises, and which tests show it.
const promises = "docs/security.md"

// TestEveryPromise holds the tests that docs/security.md names against those that there are.
func TestEveryPromise(t *testing.T) {
	tests, err := known()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(top, promises))
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for i, line := range strings.Split(string(raw), "\n") {
		for _, quoted := range code.FindAllStringSubmatch(line, -1) {
			if !strings.Contains(quoted[1], " Test") {
				continue
			}
			named++
			if ours, err := tests.find(quoted[1]); err != nil || !ours {
				t.Errorf("%s:%d: %q is no test: %v", promises, i+1, quoted[1], err)
			}
		}
	}
	if named < 20 {
		t.Errorf("%s names %d tests", promises, named)
	}
}
