package main

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// repository is the base URL of links to files that are not pages.
const repository = "https://github.com/latchkey-go/latchkey/blob/main/"

// relink changes links to documents into links to pages, and links to other files into links to the repository.
func (p *page) relink(known map[string]bool) {
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // fails only if the function does
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

// from returns the relative path from this page to another file of the site.
func (p *page) from(to string) string {
	relative, err := filepath.Rel(path.Dir(p.Address), to)
	if err != nil {
		return to // both are in the site
	}
	return filepath.ToSlash(relative)
}
