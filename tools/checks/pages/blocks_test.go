package pages

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// block is a code block, or a program that a page links to.
type block struct {
	page   string
	file   string // with the code: the page, or a file of the programs
	line   int    // of its first line, from 1
	text   string
	given  string // from the comment before the block
	strict bool   // a program, in which unused names are errors
	templ  bool   // the Go that templ generates is compiled
}

func (b block) at() string { return b.file + ":" + strconv.Itoa(b.line) }

// name returns the package name of a strict block.
func (b block) name() string { return clause.FindStringSubmatch(b.text)[1] }

var (
	directive = regexp.MustCompile(`^<!-- go: (.*) -->$`)
	clause    = regexp.MustCompile(`(?m)^package ([a-z_]+)$`)
	entry     = regexp.MustCompile(`(?m)^func main\(\)`)
	opening   = regexp.MustCompile("^\\s*```(go|templ)")
	// linked matches a paragraph that is only a link to a program. The site shows the program instead.
	linked = regexp.MustCompile(`^\[[^\]]+\]\(([^)]*(?:programs|examples)/[^)]+\.go)\)$`)
)

// blocksOf returns the Go and templ blocks of a page, and its programs. The text of a missing program is empty.
func blocksOf(p page) []block {
	var out []block
	var now *block
	given := ""
	for i, l := range p.lines {
		m := directive.FindStringSubmatch(l.text)
		switch {
		case l.language == "" && m != nil:
			given = m[1]
		case l.fence && l.language == "" && opening.MatchString(l.text):
			now = &block{page: p.path, file: p.path, line: i + 2, given: given, templ: strings.Contains(l.text, "templ")}
		case l.fence && now != nil:
			now.strict = clause.MatchString(now.text)
			out = append(out, *now)
			now, given = nil, ""
		case now != nil:
			now.text += l.text + "\n"
		case l.language == "" && linked.MatchString(l.text):
			file := path.Join(path.Dir(p.path), linked.FindStringSubmatch(l.text)[1])
			text, _ := os.ReadFile(filepath.Join(top, file)) // TestLinks reports a missing file
			out = append(out, block{page: p.path, file: file, line: 1, text: string(text), strict: clause.Match(text)})
			given = ""
		case l.text != "":
			given = ""
		}
	}
	return out
}

// unit is a set of files that are compiled together.
type unit []block

// units groups consecutive blocks of the same package into programs. Each fragment is a separate unit.
func units(blocks []block) []unit {
	var out []unit
	program := -1 // index of the current program, which may get more files
	mains, name := false, ""
	for _, b := range blocks {
		begins := entry.MatchString(b.text)
		switch {
		case b.strict && (program < 0 || begins && mains || b.name() != name):
			out = append(out, unit{b})
			program, mains, name = len(out)-1, begins, b.name()
		case b.strict:
			out[program] = append(out[program], b)
			mains = mains || begins
		default:
			out = append(out, unit{b})
		}
	}
	return out
}

// elided maps the places of "…" in code to replacements that compile.
var elided = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?m)^\s*(//[^\n]*)?…$`), ""},
	{regexp.MustCompile(`:\s*…`), ": nil"},
	{regexp.MustCompile(`,?\s*…\s*([})])`), "$1"},
}

// source converts a fragment to a file. Imports are added later.
func (b block) source() (head, body, imports string) {
	text := b.text
	for _, e := range elided {
		text = e.pattern.ReplaceAllString(text, e.instead)
	}
	for _, m := range regexp.MustCompile(`(?m)^import .*$`).FindAllString(text, -1) {
		imports += m + "\n"
		text = strings.Replace(text, m, "", 1)
	}
	types, literal := map[string]string{}, ""
	add := func(items []string) {
		for _, item := range items {
			name, rest, _ := strings.Cut(item, " ")
			switch name {
			case "":
			case "in":
				literal = rest
			case "import":
				imports += item + "\n"
			default:
				types[name] = rest
			}
		}
	}
	add(strings.Split(names, "\n"))
	add(split(b.given))
	for name, kind := range types {
		head += "var " + name + " " + kind + "\n"
	}
	_, asFile := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, 0)
	switch {
	case literal != "":
		text = "var _ = " + literal + "{\n" + strings.TrimRight(text, " \n,") + ",\n}"
	case asFile != nil:
		text = "func _() error {\n" + text + "\npanic(0)\n}"
	}
	return head, text, imports
}

// split splits a text at semicolons outside of braces.
func split(list string) []string {
	var out []string
	depth, begin := 0, 0
	for i, c := range list + ";" {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ';' && depth == 0:
			out = append(out, strings.TrimSpace(list[begin:i]))
			begin = i + 1
		}
	}
	return out
}

// located adds a line directive, so that errors name the page and its line.
func located(b block, text string, before int) string {
	return fmt.Sprintf("//line %s:%d\n%s", b.file, b.line-before, text)
}

// parse parses a unit. It finds the imports of a fragment by package names.
func parse(fset *token.FileSet, u unit, known map[string]string) ([]*ast.File, error) {
	var files []*ast.File
	for _, b := range u {
		if b.templ {
			f, err := b.generated(fset, known)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
			continue
		}
		if b.strict {
			f, err := parser.ParseFile(fset, "", located(b, b.text, 0), parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
			continue
		}
		head, body, imports := b.source()
		wrapped := 0
		if strings.HasPrefix(body, "func _()") || strings.HasPrefix(body, "var _ =") {
			wrapped = 1
		}
		first, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+head+located(b, body, wrapped), 0)
		if err != nil {
			return nil, err
		}
		imports = importsOf(first, imports, known)
		whole := "package p\n" + imports + head + located(b, body, wrapped)
		f, err := parser.ParseFile(fset, "", whole, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		useValues(f)
		files = append(files, f)
	}
	return files, nil
}

// importsOf adds the packages whose names a fragment uses and does not declare.
func importsOf(f *ast.File, imports string, known map[string]string) string {
	found := map[string]string{}
	for _, name := range f.Unresolved {
		path := cmp.Or(meant[name.Name], known[name.Name])
		given := strings.Contains(imports, "import "+name.Name+" ") || strings.Contains(imports, "/"+name.Name+`"`)
		if path != "" && !given {
			found[name.Name] = path
		}
	}
	for name, path := range found {
		imports += "import " + name + " " + strconv.Quote(path) + "\n"
	}
	return imports
}

// useValues makes unused values in a list compile.
func useValues(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		body, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		for i, statement := range body.List {
			alone, ok := statement.(*ast.ExprStmt)
			if !ok {
				continue
			}
			if _, call := alone.X.(*ast.CallExpr); !call {
				body.List[i] = &ast.AssignStmt{
					Lhs: []ast.Expr{&ast.Ident{Name: "_", NamePos: alone.Pos()}}, TokPos: alone.Pos(), Tok: token.ASSIGN,
					Rhs: []ast.Expr{alone.X},
				}
			}
		}
		return true
	})
}

// foreign reports whether the block is code of another library, which is not compiled.
func (b block) foreign() bool { return b.given == "elsewhere" }

// check type-checks a unit and returns the errors.
func check(u unit, w *workspace) []string {
	if u[0].foreign() {
		return nil
	}
	var out []string
	complain := func(err error) {
		var e types.Error
		if errors.As(err, &e) && !u[0].strict && (e.Soft || e.Msg == "missing return") {
			return
		}
		out = append(out, err.Error())
	}
	files, err := parse(w.fset, u, w.names)
	if err != nil {
		var list scanner.ErrorList
		if errors.As(err, &list) {
			err = list[0]
		}
		return []string{err.Error()}
	}
	config := types.Config{Importer: w.importer, Error: complain}
	_, _ = config.Check("p", w.fset, files, nil) // complain gets the errors
	return out
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	var all []unit
	for _, p := range pages(t) {
		all = append(all, units(blocksOf(p))...)
	}
	if len(all) < 50 {
		t.Fatalf("only %d programs and fragments were found", len(all))
	}
	w := open(t, all)
	for _, u := range all {
		for _, wrong := range check(u, w) {
			t.Errorf("the block at %s: %s", u[0].at(), wrong)
		}
	}
}
