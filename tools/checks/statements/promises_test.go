package statements

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// promises is the page with Latchkey's security promises and their tests.
const promises = "docs/assurance.md"

// TestEveryPromise: the tests in docs/assurance.md exist.
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

// requirement is a row of the ASVS tables: number, text, state, evidence.
var requirement = regexp.MustCompile(`^\| (\d+)\.(\d+)\.(\d+) \| (.+?) \| (.+?) \| (.+) \|$`)

// requirements are the numbers of requirements in the sections of ASVS 5.0, chapters 6, 7 and 10.
var requirements = map[int][]int{6: {3, 12, 8, 6, 8, 4, 2, 4}, 7: {3, 4, 2, 5, 3, 2}, 10: {2, 3, 5, 16, 5, 2, 3}}

// TestEveryRequirement: each requirement of the standard is in the tables once and in order. A requirement that is met
// names a test, the others state the reason. TestEveryPromise checks that the tests exist.
func TestEveryRequirement(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(top, promises))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, chapter := range []int{6, 7, 10} {
		for section, n := range requirements[chapter] {
			for i := range n {
				want = append(want, fmt.Sprintf("%d.%d.%d", chapter, section+1, i+1))
			}
		}
	}
	for i, line := range strings.Split(string(raw), "\n") {
		m := requirement.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		got = append(got, strings.Join(m[1:4], "."))
		state, shown := m[5], m[6]
		tested := strings.Contains(shown, " Test")
		switch {
		case !slices.Contains([]string{"met", "yours", "open", "none"}, state):
			t.Errorf("%s:%d: the state is %q", promises, i+1, state)
		case state == "met" && !tested:
			t.Errorf("%s:%d: it is met, and no test is named", promises, i+1)
		case len(shown) < 15:
			t.Errorf("%s:%d: it does not say why", promises, i+1)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s has the requirements %v, want %v", promises, got, want)
	}
}
