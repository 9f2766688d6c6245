package pages

import (
	"bytes"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"regexp"
	"strconv"

	"github.com/a-h/templ/generator"
	"github.com/a-h/templ/parser/v2"
)

var (
	component = regexp.MustCompile(`(?m)^templ `)
	qualifier = regexp.MustCompile(`\b([a-z]+)\.[A-Z]`)
)

// generated returns the Go code that templ generates from a block. Elements outside of a component are wrapped in one.
func (b block) generated(fset *token.FileSet, known map[string]string) (*ast.File, error) {
	text := b.text
	if !component.MatchString(text) {
		text = "templ page() {\n" + text + "}\n"
	}
	if b.given != "" {
		text = "var (\n" + b.given + "\n)\n\n" + text
	}
	head := "package p\n\n"
	for name := range namesIn(text) {
		if path := known[name]; path != "" {
			head += "import " + name + " " + strconv.Quote(path) + "\n"
		}
	}
	file, err := parser.ParseString(head + "\n" + text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if _, err := generator.Generate(file, &out); err != nil {
		return nil, err
	}
	return goparser.ParseFile(fset, b.at(), out.Bytes(), goparser.SkipObjectResolution)
}

// namesIn returns the names before a dot and an upper-case letter.
func namesIn(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range qualifier.FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	return names
}
