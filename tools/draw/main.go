// Command draw creates sequence diagrams and curves: an SVG next to each given .seq and .curve file. With -check it
// writes nothing and fails if a picture is out of date. With -bench it first updates the .curve files from benchmark
// results.
//
// A .seq file has a line for each step:
//
//	title: A sign-in at a provider
//	Browser -> Application: POST /auth/signin/github
//	Application --> Browser: 302 to the provider
//	Application: makes state and code verifier
//
// The title is the text alternative of the picture. "->" is a request and "-->" a response. A line without an arrow is
// an action of one actor. The actors are drawn in the order of their first step.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail if a picture is out of date")
	bench := flag.String("bench", "", "benchmark output from which the .curve files are updated")
	flag.Parse()
	if err := fill(flag.Args(), *bench); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := draw(flag.Args(), *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func draw(files []string, check bool) error {
	for _, path := range files {
		raw, err := os.ReadFile(path) //nolint:gosec // the caller names the files
		if err != nil {
			return err
		}
		svg, err := pictured(path, string(raw))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		to := strings.TrimSuffix(path, filepath.Ext(path)) + ".svg"
		if !check {
			if err := os.WriteFile(to, []byte(svg), 0o644); err != nil { //nolint:gosec // all users may read the picture
				return err
			}
			continue
		}
		there, err := os.ReadFile(to) //nolint:gosec // as above
		if err != nil || string(there) != svg {
			return fmt.Errorf("%s is not current: run make pictures", to)
		}
	}
	return nil
}

// pictured returns the picture of a file.
func pictured(path, text string) (string, error) {
	if filepath.Ext(path) == ".curve" {
		c, err := parseCurves(text)
		if err != nil {
			return "", err
		}
		return c.svg(), nil
	}
	p, err := parse(text)
	if err != nil {
		return "", err
	}
	return p.svg(), nil
}

// fill updates .curve files from benchmark results.
func fill(files []string, bench string) error {
	if bench == "" {
		return nil
	}
	figures, err := os.ReadFile(bench) //nolint:gosec // the caller names the file
	if err != nil {
		return err
	}
	for _, path := range files {
		raw, err := os.ReadFile(path) //nolint:gosec // as above
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".curve")
		text := filled(string(raw), name, string(figures))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // all users may read the numbers
			return err
		}
	}
	return nil
}

// picture has a title, actors and steps from top to bottom.
type picture struct {
	title  string
	actors []string
	steps  []step
}

// step is a message between two actors, or an action of one actor if from equals to.
type step struct {
	from, to int
	answer   bool
	text     string
}

func parse(text string) (*picture, error) {
	p := &picture{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		who, what, found := strings.Cut(line, ": ")
		if !found || strings.TrimSpace(what) == "" {
			return nil, fmt.Errorf("line %d has no text: %q", i+1, line)
		}
		if who == "title" {
			p.title = what
			continue
		}
		s := step{text: what}
		from, to, arrow := strings.Cut(who, " --> ")
		if s.answer = arrow; !arrow {
			from, to, arrow = strings.Cut(who, " -> ")
		}
		if s.from = p.actor(from); arrow {
			s.to = p.actor(to)
		} else {
			s.to = s.from
		}
		if arrow && s.from == s.to {
			return nil, fmt.Errorf("line %d leads from %s to themselves", i+1, from)
		}
		p.steps = append(p.steps, s)
	}
	if p.title == "" || len(p.steps) == 0 {
		return nil, fmt.Errorf("no title, or nothing happens")
	}
	return p, nil
}

// actor returns the position of an actor from the left.
func (p *picture) actor(name string) int {
	name = strings.TrimSpace(name)
	for i, known := range p.actors {
		if known == name {
			return i
		}
	}
	p.actors = append(p.actors, name)
	return len(p.actors) - 1
}
