package pages

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var runMutations = flag.Bool("mutations", false, "run TestMutations, which takes about 4 minutes on two cores")

// mutation replaces code of a page by code that does less.
type mutation struct{ page, code, instead string }

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

// TestMutationsFit: each mutation is of one place of its page.
func TestMutationsFit(t *testing.T) {
	t.Parallel()
	byPath := map[string]page{}
	for _, p := range pages(t) {
		byPath[p.path] = p
	}
	for _, m := range mutations(t) {
		if _, places := m.of(blocksOf(byPath[m.page])); places != 1 {
			t.Errorf("%s contains %q %d times: testdata/mutations.txt needs code of one place", m.page, m.code, places)
		}
	}
}

// TestMutations runs the programs with each mutation. A test of the program must fail.
func TestMutations(t *testing.T) {
	if !*runMutations {
		t.Skip("it compiles a program for each mutation: go test ./checks/pages -run TestMutations -mutations -timeout 30m")
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
			blocks, _ := m.of(blocksOf(byPath[m.page]))
			for _, c := range programs {
				if c.page != m.page || len(c.with) == 0 {
					continue
				}
				out, err := c.run(t, blocks)
				switch {
				case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
					t.Fatalf("the mutation does not compile:\n%s", out)
				case err != nil:
					return
				}
			}
			t.Errorf("no test fails with %s", m.instead)
		})
	}
}
