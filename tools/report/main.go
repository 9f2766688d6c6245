// Command report reads the events of go test -json and prints the output of go test without -v: a line for each
// package, and the output of failed tests. It also prints the lines in which a kit reports its number of cases.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

func main() {
	failed, err := report(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

// event is an event of go doc test2json, or of a build.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// counted matches the line in which a kit reports its cases: "    FILE:71: postgres: 43 cases".
var counted = regexp.MustCompile(`^\s*\S+_test\.go:\d+: (.+: \d+ (cases|passed, \d+ failed))\s*$`)

// pkg is a package under test.
type pkg struct {
	tests  map[string][]string // output of each test; "" is the package itself
	failed map[string]bool
	order  []string
	counts []string
}

func report(in io.Reader, out io.Writer) (failed bool, err error) {
	all := map[string]*pkg{}
	lines := bufio.NewReader(in)
	for {
		line, readErr := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				_, _ = io.WriteString(out, line) // an error of the go command, not of a test
			} else if handle(all, e, out) {
				failed = true
			}
		}
		if readErr == io.EOF {
			return failed, nil
		}
		if readErr != nil {
			return failed, readErr
		}
	}
}

// handle processes an event, and reports whether a package has failed.
func handle(all map[string]*pkg, e event, out io.Writer) bool {
	switch e.Action {
	case "build-output":
		_, _ = io.WriteString(out, e.Output)
		return false
	case "build-fail":
		return true
	}
	p := all[e.Package]
	if p == nil {
		p = &pkg{tests: map[string][]string{}, failed: map[string]bool{}}
		all[e.Package] = p
	}
	switch {
	case e.Action == "output":
		if _, there := p.tests[e.Test]; !there {
			p.order = append(p.order, e.Test)
		}
		p.tests[e.Test] = append(p.tests[e.Test], e.Output)
		if m := counted.FindStringSubmatch(e.Output); m != nil {
			p.counts = append(p.counts, m[1])
		}
	case e.Action == "fail" && e.Test != "":
		p.failed[e.Test] = true
	case (e.Action == "fail" || e.Action == "pass" || e.Action == "skip") && e.Test == "":
		p.print(e.Action == "fail", out)
		delete(all, e.Package)
		return e.Action == "fail"
	}
	return false
}

// noise matches the progress lines that go test prints only with -v.
var noise = regexp.MustCompile(`^(=== (RUN|PAUSE|CONT|NAME)|PASS$|\s*--- (PASS|SKIP))`)

// print prints the remaining output of a package.
func (p *pkg) print(failed bool, out io.Writer) {
	for _, test := range p.order {
		// A test that never ended, because another one panicked, has not failed. But its output may contain the
		// package's failure.
		if test != "" && !p.failed[test] && (!failed || len(p.failed) > 0) {
			continue
		}
		for _, line := range p.tests[test] {
			if !noise.MatchString(strings.TrimSuffix(line, "\n")) {
				_, _ = io.WriteString(out, line)
			}
		}
	}
	for _, count := range p.counts {
		_, _ = fmt.Fprintf(out, "    %s\n", count)
	}
}
