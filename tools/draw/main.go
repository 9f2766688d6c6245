// Command draw makes pictures of what goes between browser, application and provider: an SVG beside each .seq file that
// it is given. With -check it writes nothing and fails where a picture is not current.
//
// A file has a line for each step:
//
//	title: A sign-in at a provider
//	Browser -> Application: POST /auth/signin/github
//	Application --> Browser: 302 to the provider
//	Application: makes state and code verifier
//
// The first line is for those who do not see the picture. "->" is a request, "-->" an answer, and a line without an
// arrow is what somebody does alone. Actors stand in the order in which they come.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail where a picture is not current")
	flag.Parse()
	if err := draw(flag.Args(), *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func draw(files []string, check bool) error {
	for _, path := range files {
		raw, err := os.ReadFile(path) //nolint:gosec // whoever calls names the files
		if err != nil {
			return err
		}
		p, err := parse(string(raw))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		to, svg := strings.TrimSuffix(path, ".seq")+".svg", p.svg()
		if !check {
			if err := os.WriteFile(to, []byte(svg), 0o644); err != nil { //nolint:gosec // a picture for everybody
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

// picture is a title, actors and what they do, from top to bottom.
type picture struct {
	title  string
	actors []string
	steps  []step
}

// step goes from one actor to another, or happens at one: from and to are the same then.
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

// actor is the place of one, from the left.
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
