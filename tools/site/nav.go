package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// section is a group in the list of pages.
type section struct {
	Title string
	Pages []*page
}

// order lists the sections and their pages. For an index, the pages that it links to follow in its order. Pages of docs
// that are not listed are last.
var order = []struct {
	title string
	files []string
	index string
}{
	{"Start", []string{
		"README.md", "docs/README.md", "docs/start-stdlib.md", "docs/start-gin.md", "docs/start-echo.md",
		"docs/start-fiber.md", "docs/configure.md", "docs/demo.md",
	}, ""},
	{"Recipes", nil, "docs/recipes/README.md"},
	{"Moving", []string{"docs/authjs.md"}, "docs/moving/README.md"},
	{"Evidence", nil, "docs/evidence.md"},
	{"Reference", []string{
		"docs/reference.md", "docs/providers.md", "docs/accounts.md", "docs/sessions.md", "docs/passwords.md",
		"docs/account.md", "docs/second-factors.md", "docs/browser.md", "docs/languages.md", "docs/deployment.md", "docs/doctor.md",
		"docs/observe.md",
		"docs/security.md", "CHANGELOG.md",
	}, ""},
}

var linked = regexp.MustCompile(`\]\(([a-z0-9-]+\.md)\)`)

// sections reads all pages, each once. A page in docs that is in no section is an error, because readers could not find
// it.
func sections(top string) ([]section, error) {
	var all []section
	listed := map[string]bool{}
	for _, o := range order {
		files := o.files
		if o.index != "" {
			raw, err := os.ReadFile(filepath.Join(top, o.index)) //nolint:gosec // a document of the repository
			if err != nil {
				return nil, err
			}
			files = slices.Concat([]string{o.index}, files)
			for _, m := range linked.FindAllStringSubmatch(string(raw), -1) {
				files = append(files, path.Join(path.Dir(o.index), m[1]))
			}
		}
		s := section{Title: o.title}
		for _, file := range files {
			if listed[file] {
				continue
			}
			listed[file] = true
			p, err := readPage(top, file)
			if err != nil {
				return nil, err
			}
			s.Pages = append(s.Pages, p)
		}
		all = append(all, s)
	}
	rest, err := unlisted(top, listed)
	last := &all[len(all)-1]
	last.Pages = append(last.Pages, rest...)
	return all, err
}

// unlisted reads the pages of docs that are in no section. If such a page is in a subfolder, it is an error: the
// folder's index must link to it.
func unlisted(top string, listed map[string]bool) ([]*page, error) {
	var rest []*page
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			relative, err := filepath.Rel(top, path)
			if err != nil {
				return nil, err
			}
			file := filepath.ToSlash(relative)
			if listed[file] {
				continue
			}
			if strings.Count(file, "/") > 1 {
				return nil, fmt.Errorf("%s is in no section: link to it from the README of its folder", file)
			}
			p, err := readPage(top, file)
			if err != nil {
				return nil, err
			}
			rest = append(rest, p)
		}
	}
	return rest, nil
}

// address returns the path of a document in the site.
func address(file string) string {
	if path.Base(file) == "README.md" {
		return path.Join(path.Dir(file), "index.html")
	}
	return strings.TrimSuffix(file, ".md") + ".html"
}
