package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	chroma "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/styles"
)

//go:embed theme
var theme embed.FS

// view is the data of a page's frame.
type view struct {
	Page     *page
	Sections []section
	Body     template.HTML
}

// Root returns the relative path from the page to the top of the site.
func (v view) Root() string { return strings.TrimSuffix(v.Page.from("x"), "x") }

// To returns the relative path from the page to another.
func (v view) To(p *page) string { return v.Page.from(p.Address) }

// build writes the site and returns the number of its pages.
func build(top, out string) (int, error) {
	all, err := sections(top)
	if err != nil {
		return 0, err
	}
	if err := os.RemoveAll(out); err != nil {
		return 0, err
	}
	frame, err := template.ParseFS(theme, "theme/page.html")
	if err != nil {
		return 0, err
	}
	known, pages := map[string]bool{}, []*page(nil)
	for _, s := range all {
		for _, p := range s.Pages {
			known[p.File], pages = true, append(pages, p)
		}
	}
	for _, p := range pages {
		body, err := p.html(known)
		if err != nil {
			return 0, err
		}
		var b bytes.Buffer
		v := view{p, all, template.HTML(body)} //nolint:gosec // all documents are trusted
		if err := frame.Execute(&b, v); err != nil {
			return 0, err
		}
		if err := write(out, p.Address, b.Bytes()); err != nil {
			return 0, err
		}
	}
	return len(pages), assets(top, out, pages)
}

// assets writes the files that pages load: stylesheet, script, search index, pictures.
func assets(top, out string, pages []*page) error {
	sheet, err := stylesheet()
	if err != nil {
		return err
	}
	script, err := theme.ReadFile("theme/search.js")
	if err != nil {
		return err
	}
	index, err := json.Marshal(entries(pages))
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"style.css": sheet, "search.js": script, "search-index.js": slices.Concat([]byte("searchIndex="), index),
	}
	drawn, err := filepath.Glob(filepath.Join(top, "docs/*/*.svg"))
	if err != nil {
		return err
	}
	taken, err := filepath.Glob(filepath.Join(top, "docs/pictures/*"))
	if err != nil {
		return err
	}
	for _, path := range slices.Concat(drawn, taken) {
		relative, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		if files[relative], err = os.ReadFile(path); err != nil { //nolint:gosec // a picture of the repository
			return err
		}
	}
	for name, content := range files {
		if err := write(out, name, content); err != nil {
			return err
		}
	}
	return nil
}

func write(out, name string, content []byte) error {
	path := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // all users may read the site
		return err
	}
	return os.WriteFile(path, content, 0o644) //nolint:gosec // all users may read the site
}

// stylesheet returns our stylesheet, and the colors of code for light and dark pages.
func stylesheet() ([]byte, error) {
	ours, err := theme.ReadFile("theme/style.css")
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(ours)
	format := chroma.New(chroma.WithClasses(true))
	for _, c := range []struct{ scheme, style string }{{"light", "github"}, {"dark", "github-dark"}} {
		b.WriteString("@media (prefers-color-scheme: " + c.scheme + ") {\n")
		if err := format.WriteCSS(b, styles.Get(c.style)); err != nil {
			return nil, err
		}
		b.WriteString("}\n")
	}
	b.WriteString("pre.chroma { background: var(--code) }\n.chroma .err { background: none; color: inherit }\n")
	return b.Bytes(), nil
}

// entry is a section of a page in the search index: t is the page, h the heading, u the URL, and x the text.
type entry struct {
	Page    string `json:"t"`
	Heading string `json:"h"`
	URL     string `json:"u"`
	Text    string `json:"x"`
}

func entries(pages []*page) []entry {
	var all []entry
	for _, p := range pages {
		for _, part := range p.Parts {
			all = append(all, entry{p.Title, part.Title, p.Address + "#" + part.Anchor, part.Text})
		}
	}
	return all
}
