// Package statements checks docs/statements.md: the tests and link targets that it names exist, and its numbers add up.
// It does not run these tests.
package statements

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const (
	top  = "../../.."
	page = "docs/statements.md"
	// replayed is the test that replays every recording. deviations lists the recordings with another result.
	replayed   = "conformance/proof/replay TestAllAgree"
	deviations = "conformance/proof/replay/deviations.json"
	recordings = "core/testdata/recordings"
)

var (
	section = regexp.MustCompile(`^## (\d+(?:\.\d+)?) \S`)
	cells   = regexp.MustCompile(`^\| (\d+)(?:–(\d+))? \| (.+?) \| (.+?) \| (.+) \|$`)
	code    = regexp.MustCompile("`([^`]+)`")
	place   = regexp.MustCompile(`\]\(([^)#]*)#([^)]+)\)`)
	totals  = regexp.MustCompile(`\*\*(\d+) statements: (\d+) work, (\d+) differ\.\*\*`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
)

// row is a row of the page: a range of a section's statements.
type row struct {
	line        int
	section     string
	first, last int
	text        string
	state       string
	shown       string
}

func (r row) count() int { return r.last - r.first + 1 }

// rows reads the tables of the page. The numbers of a section begin with 1 and have no gaps.
func rows(text string) (all []row, wrong []string) {
	in, next := "", 1
	for i, line := range strings.Split(text, "\n") {
		if m := section.FindStringSubmatch(line); m != nil {
			in, next = m[1], 1
			continue
		}
		if !regexp.MustCompile(`^\| *\d`).MatchString(line) {
			continue
		}
		m := cells.FindStringSubmatch(line)
		if m == nil {
			wrong = append(wrong, fmt.Sprintf("line %d is no row: number, statement, works or differs, test or place", i+1))
			continue
		}
		r := row{line: i + 1, section: in, text: m[3], state: m[4], shown: m[5]}
		r.first, _ = strconv.Atoi(m[1])
		if r.last = r.first; m[2] != "" {
			r.last, _ = strconv.Atoi(m[2])
		}
		if r.first != next || r.last < r.first {
			wrong = append(wrong, fmt.Sprintf("line %d is number %d of section %s, want %d", i+1, r.first, in, next))
		}
		next = r.last + 1
		all = append(all, r)
	}
	return all, wrong
}

// findings returns the problems of a row.
func (r row) findings(tests *tests, exists func(document, anchor string) bool) (wrong []string) {
	shown := 0
	for _, m := range code.FindAllStringSubmatch(r.shown, -1) {
		ours, err := tests.find(m[1])
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		if ours {
			shown++
		}
	}
	places := place.FindAllStringSubmatch(r.shown, -1)
	for _, m := range places {
		if !exists(m[1], m[2]) {
			wrong = append(wrong, fmt.Sprintf("%s#%s is not there", m[1], m[2]))
		}
	}
	switch r.state {
	case "works":
		if shown == 0 {
			wrong = append(wrong, "it works, and no test is named")
		}
	case "differs":
		if len(places) == 0 {
			wrong = append(wrong, "it differs, and no place says so")
		}
	default:
		wrong = append(wrong, fmt.Sprintf("it is neither works nor differs: %s", r.state))
	}
	return wrong
}

// anchored reports whether a document in the page's folder has a heading with this anchor.
func anchored(t *testing.T) func(document, anchor string) bool {
	known := map[string]map[string]bool{}
	return func(document, anchor string) bool {
		path := filepath.Join(top, "docs", document)
		if document == "" {
			path = filepath.Join(top, page)
		}
		if known[path] == nil {
			known[path] = map[string]bool{}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			for _, m := range heading.FindAllStringSubmatch(string(raw), -1) {
				known[path][slug(m[1])] = true
			}
		}
		return known[path][anchor]
	}
}

// slug returns the anchor of a heading: letters, digits and hyphens in lower case, and hyphens instead of blanks.
func slug(title string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ' || c == '-':
			return '-'
		case c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z':
			return c
		}
		return -1
	}, strings.ToLower(title))
}

func TestEveryStatement(t *testing.T) {
	tests, err := known()
	if err != nil {
		t.Fatal(err)
	}
	exists := anchored(t)
	raw, err := os.ReadFile(filepath.Join(top, page))
	if err != nil {
		t.Fatal(err)
	}
	all, wrong := rows(string(raw))
	for _, text := range wrong {
		t.Errorf("%s: %s", page, text)
	}
	count, said := map[string]int{}, map[string]int{}
	for _, r := range all {
		count[r.state] += r.count()
		for _, text := range r.findings(tests, exists) {
			t.Errorf("%s:%d: %s.%d: %s", page, r.line, r.section, r.first, text)
		}
		if before := said[r.section+r.text]; before != 0 {
			t.Errorf("%s:%d says what line %d says", page, r.line, before)
		}
		said[r.section+r.text] = r.line
	}
	m := totals.FindStringSubmatch(string(raw))
	got := fmt.Sprint(count["works"]+count["differs"], count["works"], count["differs"])
	if m == nil || strings.Join(m[1:], " ") != got {
		t.Errorf("%s says %v, and has %s", page, m, got)
	}
}

// TestWrongRowsAreFound checks a row with an error of each kind, so that the check above cannot pass by doing nothing.
func TestWrongRowsAreFound(t *testing.T) {
	tests, err := known()
	if err != nil {
		t.Fatal(err)
	}
	exists := anchored(t)
	for _, c := range []struct {
		name, line string
		wrong      string // part of the finding, or empty if there is none
	}{
		{"a test", "| 1 | a | works | `core TestRotation` |", ""},
		{"a subtest by its row's name", "| 1 | a | works | `core TestRotation/a new one in front` |", ""},
		{"a subtest of two parts", "| 1 | a | works | `core TestPlantedSession/database, unknown` |", ""},
		{"a case of a kit", "| 1 | a | works | `storage/memory TestContract/token/used once, exactly` |", ""},
		{"a case of a kit that has methods", "| 1 | a | works | `adapters/stdlib TestAdapter/form actions` |", ""},
		{"a recording", "| 1–9 | a | works | recording `session.db.fresh` |", ""},
		{"a place", "| 1 | a | differs | [there](protocol.md#73-reading-database) |", ""},
		{"words in code", "| 1 | a | works | `core TestRotation` for `Config.Secrets` |", ""},

		{"a test that is gone", "| 1 | a | works | `core TestGone` |", "TestGone"},
		{"a package that is gone", "| 1 | a | works | `core/gone TestRotation` |", "core/gone"},
		{"a subtest that is gone", "| 1 | a | works | `core TestRotation/a gone one` |", "a gone one"},
		{"a subtest of another test", "| 1 | a | works | `core TestRotation/within the tolerance for clocks` |", "tolerance"},
		{"a case of a kit that is gone", "| 1 | a | works | `storage/memory TestContract/token/never` |", "token/never"},
		{"a recording that is gone", "| 1 | a | works | recording `session.db.gone` |", "session.db.gone"},
		{"a recording that deviates", "| 1 | a | works | recording `session.jwt.callback-throws` |", "deviates"},
		{"no test", "| 1 | a | works | see the code |", "no test"},
		{"no place", "| 1 | a | differs | `core TestRotation` |", "no place"},
		{"a heading that is gone", "| 1 | a | differs | [there](protocol.md#gone) |", "protocol.md#gone"},
		{"a third state", "| 1 | a | partly | `core TestRotation` |", "neither"},
		{"a number left out", "| 2 | a | works | `core TestRotation` |", "want 1"},
		{"a cell too few", "| 1 | a | works |", "no row"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, wrong := rows("## 1 Section\n\n" + c.line)
			for _, r := range all {
				wrong = append(wrong, r.findings(tests, exists)...)
			}
			if text := strings.Join(wrong, "; "); len(wrong) > 1 || (text == "") != (c.wrong == "") ||
				!strings.Contains(text, c.wrong) {
				t.Errorf("findings %q, want %q", wrong, c.wrong)
			}
		})
	}
}
