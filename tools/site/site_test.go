package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const top = "../.."

// built builds the site and returns its files by name.
func built(t *testing.T) map[string]string {
	t.Helper()
	out := t.TempDir()
	if _, err := build(top, out); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err := filepath.WalkDir(out, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(out, name)
		files[filepath.ToSlash(relative)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	foreign   = regexp.MustCompile(`<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"`)
	id        = regexp.MustCompile(`\bid="([^"]*)"`)
)

// TestSite: all pages exist, every link has an existing file and heading as its target or is a web address, and no page
// loads anything from another site.
func TestSite(t *testing.T) {
	files := built(t)
	ids := map[string]bool{}
	for name, content := range files {
		for _, m := range id.FindAllStringSubmatch(content, -1) {
			ids[name+"#"+m[1]] = true
		}
	}
	pages, links := 0, 0
	for name, content := range files {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		pages++
		for _, m := range reference.FindAllStringSubmatch(content, -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if _, there := files[to]; !there || anchor != "" && !ids[to+"#"+anchor] {
				t.Errorf("%s leads to %s, which is not there", name, m[1])
			}
		}
		for _, m := range foreign.FindAllStringSubmatch(content, -1) {
			t.Errorf("%s loads %s", name, m[1])
		}
		if strings.Contains(content, "<!-- go:") {
			t.Errorf("%s shows a comment for the tests", name)
		}
	}
	if pages < 50 || links < 2000 {
		t.Errorf("%d pages, %d links", pages, links)
	}
}

// TestIndex: the search index contains a page's text under the right heading.
func TestIndex(t *testing.T) {
	files := built(t)
	raw, found := strings.CutPrefix(files["search-index.js"], "searchIndex=")
	var all []entry
	if err := json.Unmarshal([]byte(raw), &all); !found || err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ word, url string }{
		{"TrustedProxies", "docs/reference.html#configuration"},
		{"bcrypt", "docs/moving/authboss.html#the-people-you-have"},
		{"Replace the secret", "docs/recipes/rotation.html#replace-the-secret"},
	} {
		ok := false
		for _, e := range all {
			ok = ok || e.URL == c.url && strings.Contains(e.Heading+" "+e.Text, c.word)
		}
		if !ok {
			t.Errorf("%s is not found at %s", c.word, c.url)
		}
	}
}

func TestDestination(t *testing.T) {
	t.Parallel()
	p := &page{File: "docs/recipes/a.md", Address: "docs/recipes/a.html"}
	known := map[string]bool{"docs/b.md": true, "README.md": true}
	for to, want := range map[string]string{
		"../b.md":              "../b.html",
		"../b.md#part":         "../b.html#part",
		"../../README.md#part": "../../index.html#part",
		"#part":                "#part",
		"https://a.example/b":  "https://a.example/b",
		"../../core/doc.go":    repository + "core/doc.go",
	} {
		if got := p.destination(to, known); got != want {
			t.Errorf("%s becomes %s, want %s", to, got, want)
		}
	}
}
