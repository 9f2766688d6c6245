package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// guard is code that stops an attacker, and its replacement.
type guard struct {
	// row is the attack that the guard stops: a row of conformance/proof/attacks/README.md.
	row, why string
	// unseen is set if no test can detect that the guard is missing, as for a constant-time comparison.
	unseen   bool
	file     string
	old, new []string
	// tests is the package whose tests must fail, and pattern selects the tests.
	tests, pattern string
	// list and line are the entry's position, for error messages.
	list string
	line int
}

// load reads the lists and finds each guard in its file.
//
// A list has a section for each file. Each guard has an attack row, a description, the existing lines and their
// replacement:
//
//	file core/csrf.go
//	tests core TestPosts      (if the tests are in another package, or if few of them suffice)
//
//	# cross-site 1: a hash of another length does not verify
//	- if len(hash) != 2*sha256.Size {
//	+ if false {
//
// Indentation is ignored. A guard that moved to another file of its package is found there. A row that begins with
// "unseen" is a guard whose absence no test can detect.
func load(lists fs.FS, top string) (all []guard, err error) {
	names, err := fs.Glob(lists, "guards/*.txt")
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, name := range names {
		guards, err := parse(lists, name)
		if err != nil {
			return nil, err
		}
		for i := range guards {
			if err := guards[i].find(top); err != nil {
				faults = append(faults, err)
			}
		}
		all = append(all, guards...)
	}
	return all, errors.Join(faults...)
}

var heading = regexp.MustCompile(`^# (unseen )?([a-z-]+ \d+): (.+)$`)

func parse(lists fs.FS, name string) (all []guard, err error) {
	file, err := lists.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var at guard
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.TrimSpace(line) == "":
		case word == "file":
			at = guard{list: name, file: rest, tests: path.Dir(rest)}
		case word == "tests":
			at.tests, at.pattern, _ = strings.Cut(rest, " ")
		case heading.MatchString(line):
			m := heading.FindStringSubmatch(line)
			g := at
			g.unseen, g.row, g.why, g.line = m[1] != "", m[2], m[3], n
			all = append(all, g)
		case word == "-" && len(all) > 0:
			last := &all[len(all)-1]
			last.old = append(last.old, strings.TrimSpace(rest))
		case word == "+" && len(all) > 0:
			last := &all[len(all)-1]
			last.new = append(last.new, strings.TrimSpace(rest))
		default:
			return nil, fmt.Errorf("%s:%d: not understood: %s", name, n, line)
		}
	}
	return all, lines.Err()
}

// find finds a guard in its file or, if it was moved, in another file of the package.
func (g *guard) find(top string) error {
	_, missing := g.change(top)
	if !errors.Is(missing, errAbsent) && !errors.Is(missing, fs.ErrNotExist) {
		return missing
	}
	others, err := filepath.Glob(filepath.Join(top, path.Dir(g.file), "*.go"))
	if err != nil {
		return err
	}
	var found []string
	for _, other := range others {
		moved := *g
		moved.file = path.Join(path.Dir(g.file), filepath.Base(other))
		if _, err := moved.change(top); err == nil && !strings.HasSuffix(other, "_test.go") {
			found = append(found, moved.file)
		}
	}
	if len(found) != 1 {
		return missing
	}
	g.file = found[0]
	return nil
}

var errAbsent = errors.New("does not have")

// guardText is a file without a guard, and the guard's position.
type guardText struct {
	text     string
	from, to int
}

// change returns the guard's file with the guard replaced.
func (g *guard) change(top string) (out guardText, err error) {
	raw, err := os.ReadFile(filepath.Join(top, g.file))
	if err != nil {
		return out, fmt.Errorf("%s:%d: %w", g.list, g.line, err)
	}
	if len(g.old) == 0 {
		return out, fmt.Errorf("%s:%d: it does not say what is changed", g.list, g.line)
	}
	quoted := make([]string, len(g.old))
	for i, line := range g.old {
		quoted[i] = regexp.QuoteMeta(line)
	}
	found := regexp.MustCompile(strings.Join(quoted, `\n\t*`)).FindAllStringIndex(string(raw), -1)
	if len(found) == 0 {
		return out, fmt.Errorf("%s:%d: %s %w %q", g.list, g.line, g.file, errAbsent, strings.Join(g.old, " "))
	}
	if len(found) > 1 {
		return out, fmt.Errorf("%s:%d: %s has %q %d times", g.list, g.line, g.file, strings.Join(g.old, " "), len(found))
	}
	out.from, out.to = found[0][0], found[0][1]
	out.text = string(raw[:out.from]) + strings.Join(g.new, "\n") + string(raw[out.to:])
	return out, nil
}
