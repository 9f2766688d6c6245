package pages

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var runMutations = flag.Bool("mutations", false, "run TestMutations, which takes about 12 minutes on two cores")

// mutation replaces code of a page, or of a file that a page shows, by code that does less.
type mutation struct{ page, code, instead string }

// shown are files whose programs the tests of other packages start, and a page whose test gets the changed page.
var shown = map[string]struct{ dir, pkg, run string }{
	"cmd/latchkey/_starters/auth.go":   {".", "./cmd/latchkey", "TestStarters/stdlib$"},
	"cmd/latchkey/_starters/stdlib.go": {".", "./cmd/latchkey", "TestStarters/stdlib$"},
	"examples/cli/signin.go":           {".", "./examples/cli", "."},
	"examples/cli/tokenfile.go":        {".", "./examples/cli", "."},
	"docs/recipes/deploy.md":           {"tools", "./checks/pages", "TestDeploy$"},
}

// mutations reads testdata/mutations.txt.
func mutations(t *testing.T) []mutation {
	t.Helper()
	raw, err := os.ReadFile("testdata/mutations.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []mutation
	page := ""
	for line := range strings.Lines(string(raw)) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n")
		code, found := strings.CutPrefix(line, "- ")
		instead, changed := strings.CutPrefix(line, "+ ")
		switch {
		case found:
			all = append(all, mutation{page: page, code: code})
		case changed:
			all[len(all)-1].instead = instead
		case strings.HasPrefix(line, "#"), line == "":
		default:
			page = line
		}
	}
	return all
}

// of returns the blocks with the mutation, and the number of places of its code.
func (m mutation) of(blocks []block) (changed []block, places int) {
	for _, b := range blocks {
		if !b.templ {
			places += strings.Count(b.text, m.code)
			b.text = strings.Replace(b.text, m.code, m.instead, 1)
		}
		changed = append(changed, b)
	}
	return changed, places
}

// file returns the text of the file.
func (m mutation) file(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(top, m.page))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// runShown runs the test of another package with the changed file.
func (m mutation) runShown(t *testing.T) (string, error) {
	t.Helper()
	changed, overlay := filepath.Join(t.TempDir(), "changed"), filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(changed, []byte(strings.Replace(m.file(t), m.code, m.instead, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	original := absolute(t, filepath.Join(top, m.page))
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err == nil {
		err = os.WriteFile(overlay, replace, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	test := shown[m.page]
	run := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-run", test.run, test.pkg)
	run.Dir, run.Env = filepath.Join(top, test.dir), append(os.Environ(), "DEPLOY_PAGE="+changed)
	if test.dir == "." {
		run.Env = append(inWorkspace(t), "GOFLAGS=-tags=nomsgpack -overlay="+overlay)
	}
	out, err := run.CombinedOutput()
	return string(out), err
}

// failed matches the line of the output that names the test that failed, or the signal that ended the tests.
var failed = regexp.MustCompile(`(?m)^\s*(--- FAIL: Test.*|panic: .*|signal: \w+)`)

// TestMutationsFit: each mutation is of one place of its page.
func TestMutationsFit(t *testing.T) {
	t.Parallel()
	byPath := map[string]page{}
	for _, p := range pages(t) {
		byPath[p.path] = p
	}
	for _, m := range mutations(t) {
		_, places := m.of(blocksOf(byPath[m.page]))
		if _, file := shown[m.page]; file {
			places = strings.Count(m.file(t), m.code)
		}
		if places != 1 {
			t.Errorf("%s contains %q %d times: testdata/mutations.txt needs code of one place", m.page, m.code, places)
		}
	}
}

// TestMutations runs the programs with each mutation. A test of the program must fail.
func TestMutations(t *testing.T) {
	if !*runMutations {
		t.Skip("it compiles a program for each mutation: go test ./checks/pages -run TestMutations -mutations -timeout 60m")
	}
	t.Parallel()
	byPath := map[string]page{}
	for _, p := range pages(t) {
		byPath[p.path] = p
	}
	running := make(chan struct{}, 2) // each one compiles
	for _, m := range mutations(t) {
		t.Run(m.page+" "+m.code, func(t *testing.T) {
			t.Parallel()
			running <- struct{}{}
			defer func() { <-running }()
			check := func(out string, err error) (killed bool) {
				by := failed.FindString(out)
				if err != nil && by == "" {
					t.Fatalf("no test ran with the mutation:\n%s", out)
				}
				if err != nil {
					t.Log(strings.TrimSpace(by))
				}
				return err != nil
			}
			killed := false
			if _, file := shown[m.page]; file {
				killed = check(m.runShown(t))
			}
			blocks, _ := m.of(blocksOf(byPath[m.page]))
			for _, c := range programs {
				if c.page == m.page && len(c.with) > 0 && !killed {
					killed = check(c.run(t, blocks))
				}
			}
			if !killed {
				t.Errorf("no test fails with %s", m.instead)
			}
		})
	}
}
