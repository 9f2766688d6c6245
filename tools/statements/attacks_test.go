package statements

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// attackRows is the page that names the test of each attack.
const attackRows = "conformance/proof/attacks/README.md"

var attackRow = regexp.MustCompile(`^\| ([a-z-]+) (\d+(?:, \d+)*) \| .+ \| (.+) \|$`)

// TestEveryAttack holds the table of attacks against the tests and the files of payloads that it names. A row names
// one of them, or says why there is none.
func TestEveryAttack(t *testing.T) {
	tests, err := known()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(top, attackRows))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, line := range strings.Split(string(raw), "\n") {
		m := attackRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for number := range strings.SplitSeq(m[2], ", ") {
			id := m[1] + " " + number
			if seen[id] {
				t.Errorf("%s:%d: %s is there twice", attackRows, i+1, id)
			}
			seen[id] = true
		}
		shown := strings.Contains(m[3], "not ") || strings.Contains(m[3], "all files")
		for _, quoted := range code.FindAllStringSubmatch(m[3], -1) {
			ours, err := tests.find(quoted[1])
			if strings.HasSuffix(quoted[1], ".json") {
				ours = true
				_, err = os.Stat(filepath.Join(top, filepath.Dir(attackRows), "testdata", quoted[1]))
			}
			if err != nil {
				t.Errorf("%s:%d: %s %s: %v", attackRows, i+1, m[1], m[2], err)
			}
			shown = shown || ours
		}
		if !shown {
			t.Errorf("%s:%d: %s %s: no test is named, and no reason why there is none", attackRows, i+1, m[1], m[2])
		}
	}
	if len(seen) < 100 {
		t.Errorf("%s has %d rows", attackRows, len(seen))
	}
}
