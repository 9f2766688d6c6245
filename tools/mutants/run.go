package main

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// verdict is the result of a change.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "SURVIVED" // no test failed
	unseen   verdict = "unseen"   // no test failed, and the list has the reason
	seen     verdict = "NOTICED"  // a test failed although the list says that none can
	broken   verdict = "BROKEN"   // it does not compile
)

// outcome is a verdict and the test that failed.
type outcome struct {
	verdict
	by string
}

// runner runs tests of the repository.
type runner struct {
	top, dir string
	timeout  time.Duration
	// compile is set if the changes are only compiled and no tests run.
	compile bool
}

// quick is the number of tests that run before all others. The first ones detect most changes.
const quick = 20

// group is a set of guards that are compiled together.
type group struct{ folder, tests, pattern string }

// binaries returns the test binaries of all guards. Each guard has a number.
func (r *runner) binaries(guards []guard) (all []*binary) {
	groups := map[group]*binary{}
	for i, g := range guards {
		key := group{path.Dir(g.file), g.tests, g.pattern}
		if groups[key] == nil {
			b := &binary{
				top: r.top, dir: filepath.Join(r.dir, strconv.Itoa(len(groups))), folder: key.folder, tests: g.tests,
				pattern: g.pattern, guards: map[int]guard{},
			}
			groups[key] = b
			all = append(all, b)
		}
		groups[key].guards[i+1] = g
	}
	return all
}

// prepare compiles, and finds the tests for each change.
func (r *runner) prepare(ctx context.Context, b *binary) error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	if err := b.build(ctx); err != nil || r.compile {
		return err
	}
	return b.record(ctx, r.timeout)
}

// try tests a guard.
func (r *runner) try(ctx context.Context, b *binary, id int) outcome {
	g := b.guards[id]
	if why := b.broken[id]; why != "" {
		return outcome{broken, ": " + why}
	}
	program := b.path()
	if slices.Contains(b.outside, id) {
		program = filepath.Join(b.dir, "alone"+strconv.Itoa(id))
		if said, err := r.alone(ctx, b, id, program); err != nil {
			return outcome{broken, ": " + said}
		}
	}
	if r.compile {
		return outcome{killed, ""}
	}
	failed := ""
	for tests := range slices.Chunk(b.reached[id], quick) {
		if failed = b.run(ctx, program, id, tests, r.timeout); failed != "" {
			break
		}
	}
	switch {
	case failed != "" && g.unseen:
		return outcome{seen, " by " + failed}
	case failed != "":
		return outcome{killed, " by " + failed}
	case g.unseen:
		return outcome{unseen, ""}
	case len(b.reached[id]) == 0:
		return outcome{survived, ", where no test comes"}
	}
	return outcome{survived, ""}
}

// alone compiles the tests with one change only.
func (r *runner) alone(ctx context.Context, b *binary, id int, program string) (said string, err error) {
	g := b.guards[id]
	change, err := g.change(r.top)
	if err != nil {
		return err.Error(), err
	}
	full, err := filepath.Abs(filepath.Join(r.top, g.file))
	if err != nil {
		return err.Error(), err
	}
	if err := os.WriteFile(program+".go", []byte(change.text), 0o600); err != nil {
		return err.Error(), err
	}
	return b.compile(ctx, map[string]string{full: program + ".go"}, program)
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// sortedBy returns the tests, the fastest ones first.
func sortedBy(took map[string]time.Duration) []string {
	tests := sorted(took)
	slices.SortStableFunc(tests, func(x, y string) int { return cmp.Compare(took[x], took[y]) })
	return tests
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
