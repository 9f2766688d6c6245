package statements

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// attackRows is the page that names the test of each attack.
const attackRows = "conformance/proof/attacks/README.md"

// attackAreas are the areas of the table with their numbers of rows, so that a missing row is detected.
var attackAreas = map[string]int{
	"redirects": 8, "hosts": 10, "cross-site": 8, "cookies": 7, "tokens": 8, "sessions": 15, "oauth": 13, "id-tokens": 7,
	"upstream": 10, "linking": 10, "e-mail": 11, "credentials": 14, "passkeys": 9, "pages": 9, "requests": 7, "logs": 4,
	"callbacks": 4, "stores": 8, "races": 6, "time": 4, "load": 6, "adapters": 6, "supply": 3,
	"recovery": 5, "limits": 6, "forwarding": 3, "freshness": 6, "codes": 3, "files": 2, "operators": 2, "routes": 3,
	"factors": 2, "webhooks": 4, "programs": 6, "organizations": 9, "administration": 6, "challenges": 5,
	"guests": 6, "accounts": 7, "prompts": 6, "sign-up": 10, "impersonation": 14, "activity": 5, "download": 1,
}

var attackRow = regexp.MustCompile(`^\| ([a-z-]+) (\d+(?:, \d+)*) \| .+ \| (.+) \|$`)

// TestEveryAttack checks the tests and payload files in the table of attacks. Each row must name one, or say why there
// is none.
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
	all := 0
	for area, rows := range attackAreas {
		all += rows
		for n := 1; n <= rows; n++ {
			if id := fmt.Sprintf("%s %d", area, n); !seen[id] {
				t.Errorf("%s has no row %s", attackRows, id)
			}
		}
	}
	if len(seen) != all {
		t.Errorf("%s has %d rows, want %d", attackRows, len(seen), all)
	}
}
