package main

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// repository is where a link to a file leads that is no page.
const repository = "https://github.com/latchkey-go/latchkey/blob/main/"

// relink has links lead to pages of the site, and to the repository where they name another file of it.
func (p *page) relink(known map[string]bool) {
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // fails only where the function does
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(p.destination(string(link.Destination), known))
		}
		return ast.WalkContinue, nil
	})
}

func (p *page) destination(to string, known map[string]bool) string {
	file, anchor, anchored := strings.Cut(to, "#")
	if file == "" || strings.Contains(file, ":") {
		return to
	}
	file = path.Join(path.Dir(p.File), file)
	if !known[file] {
		return repository + file
	}
	if to = p.from(address(file)); anchored {
		to += "#" + anchor
	}
	return to
}

// from is the way from this page to another file of the site.
func (p *page) from(to string) string {
	relative, err := filepath.Rel(path.Dir(p.Address), to)
	if err != nil {
		return to // both are within the site
	}
	return filepath.ToSlash(relative)
}
