package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	chroma "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/yuin/goldmark"
	highlighting "github.com/yuin/goldmark-highlighting/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// page is a document and its rendering.
type page struct {
	File    string // from the top of the repository
	Address string // in the site
	Title   string
	source  []byte
	tree    ast.Node
	Parts   []part
}

// part is the text under a heading, for the search.
type part struct {
	Title, Anchor, Text string
}

// markdown is the common configuration: tables and heading IDs as on GitHub, and classes for code colors.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM, highlighting.NewHighlighting(
		highlighting.WithFormatOptions(chroma.WithClasses(true)),
	)),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe()), // all documents are trusted
)

// hints matches comments for the tests of pages.
var hints = regexp.MustCompile(`(?m)^<!-- go: .* -->\n`)

func readPage(top, file string) (*page, error) {
	raw, err := os.ReadFile(filepath.Join(top, file)) //nolint:gosec // a document of the repository
	if err != nil {
		return nil, err
	}
	p := &page{File: file, Address: address(file), source: hints.ReplaceAll(raw, nil)}
	p.tree = markdown.Parser().Parse(text.NewReader(p.source),
		parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{seen: map[string]int{}}))))
	p.read()
	if p.Title == "" {
		return nil, fmt.Errorf("%s has no heading", file)
	}
	return p, nil
}

// read reads the title and the parts from the syntax tree.
func (p *page) read() {
	var words strings.Builder
	flush := func() {
		if n := len(p.Parts); n > 0 {
			p.Parts[n-1].Text = strings.Join(strings.Fields(words.String()), " ")
		}
		words.Reset()
	}
	for node := p.tree.FirstChild(); node != nil; node = node.NextSibling() {
		said := plain(node, p.source)
		heading, ok := node.(*ast.Heading)
		if !ok {
			words.WriteString(said + " ")
			continue
		}
		flush()
		id, _ := heading.AttributeString("id")
		anchor, _ := id.([]byte)
		p.Parts = append(p.Parts, part{Title: strings.TrimSpace(said), Anchor: string(anchor)})
		if p.Title == "" {
			p.Title = strings.TrimSpace(said)
		}
	}
	flush()
}

// plain returns the text of a node without markup and code blocks.
func plain(node ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // fails only if the function does
		switch n := n.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.Label(source))
			}
		default:
			if n.Type() == ast.TypeBlock && !entering {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// html renders the page, with links for the site.
func (p *page) html(known map[string]bool) (string, error) {
	p.relink(known)
	var b bytes.Buffer
	err := markdown.Renderer().Render(&b, p.source, p.tree)
	return reachable.Replace(b.String()), err
}

// reachable makes wide elements scrollable by keyboard, and removes headers of columns without a title.
var reachable = strings.NewReplacer(
	"<pre", `<pre tabindex="0"`, "<table>", `<table tabindex="0">`, "<th></th>", "<td></td>",
)

// anchors creates the IDs of headings like GitHub.
type anchors struct{ seen map[string]int }

var dropped = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`)

// Generate implements parser.IDs.
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	title := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(string(value), "$1")
	slug := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
	n := a.seen[slug]
	a.seen[slug]++
	if n > 0 {
		slug += "-" + strconv.Itoa(n)
	}
	return []byte(slug)
}

// Put implements parser.IDs.
func (a *anchors) Put(value []byte) { a.seen[string(value)]++ }
