package release

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rendered is a package as documentation sites show it.
type rendered struct {
	*doc.Package
	examples int             // in its test files
	names    map[string]bool // "Auth", "Auth.Handle"
}

// TestRender: each link in the comments of an exported name refers to a name that exists, and each example belongs to one.
func TestRender(t *testing.T) {
	t.Parallel()
	all := map[string]*rendered{}
	for _, m := range published(t, linkProgram(t), top) {
		root := filepath.Join(top, m.dir)
		err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
			switch name := d.Name(); {
			case err != nil || !d.IsDir():
				return err
			case name == "testdata" || name == "node_modules" || dir != root && strings.HasPrefix(name, "_"):
				return filepath.SkipDir
			case dir != root:
				if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
					return filepath.SkipDir
				}
			}
			within, err := filepath.Rel(root, dir)
			if err != nil {
				return err
			}
			if p, err := render(dir, path.Join(m.path, filepath.ToSlash(within))); p != nil || err != nil {
				all[path.Join(m.path, filepath.ToSlash(within))] = p
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < 40 {
		t.Fatalf("%d packages", len(all))
	}
	for at, p := range all {
		for name, text := range p.comments() {
			for _, link := range brokenLinks(p, text, all) {
				t.Errorf("%s: the comment of %s has the link %s, which is not an exported name", at, name, link)
			}
		}
		if shown := len(p.shown()); shown != p.examples {
			t.Errorf("%s: %d of %d examples belong to no exported name", at, p.examples-shown, p.examples)
		}
	}
}

// render reads the package in a folder. It returns nil if there is none.
func render(dir, at string) (*rendered, error) {
	fset := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files, tests []*ast.File
	for _, name := range paths {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if files = append(files, f); strings.HasSuffix(name, "_test.go") {
			tests = append(tests, f)
		}
	}
	if len(files) == len(tests) {
		return nil, nil
	}
	p, err := doc.NewFromFiles(fset, files, at)
	if err != nil {
		return nil, err
	}
	r := &rendered{p, len(doc.Examples(tests...)), map[string]bool{}}
	for name := range r.comments() {
		r.names[name] = true
	}
	return r, nil
}

// comments returns the comments of the exported names. That of the package has the name "package".
func (p *rendered) comments() map[string]string {
	all := map[string]string{"package": p.Doc}
	values := func(list []*doc.Value) {
		for _, v := range list {
			for _, name := range v.Names {
				all[name] = v.Doc
			}
		}
	}
	values(p.Consts)
	values(p.Vars)
	for _, f := range p.Funcs {
		all[f.Name] = f.Doc
	}
	for _, t := range p.Types {
		all[t.Name] = t.Doc
		values(t.Consts)
		values(t.Vars)
		for _, f := range t.Funcs {
			all[f.Name] = f.Doc
		}
		for _, f := range t.Methods {
			all[t.Name+"."+f.Name] = f.Doc
		}
	}
	return all
}

// shown returns the examples that belong to the package or to an exported name.
func (p *rendered) shown() []*doc.Example {
	all := p.Examples
	for _, f := range p.Funcs {
		all = append(all, f.Examples...)
	}
	for _, t := range p.Types {
		all = append(all, t.Examples...)
		for _, f := range append(t.Funcs, t.Methods...) {
			all = append(all, f.Examples...)
		}
	}
	return all
}

// unlinked matches text that was meant as a link, and not "[]byte" or "map[string]any".
var unlinked = regexp.MustCompile(`(?:^|[^\w\]])\[\*?([A-Za-z_]\w*\.)*[A-Z]\w*\](?:$|[^\w(:])`)

// brokenLinks returns the links of a comment that refer to no name.
func brokenLinks(p *rendered, text string, all map[string]*rendered) (broken []string) {
	var walk func(list []comment.Text)
	walk = func(list []comment.Text) {
		for _, each := range list {
			switch each := each.(type) {
			case comment.Plain:
				broken = append(broken, unlinked.FindAllString(string(each), -1)...)
			case comment.Italic:
				broken = append(broken, unlinked.FindAllString(string(each), -1)...)
			case *comment.DocLink:
				name := strings.TrimPrefix(each.Recv+"."+each.Name, ".")
				if to := all[each.ImportPath]; to != nil && name != "" && !to.names[name] {
					broken = append(broken, "["+each.ImportPath+"."+name+"]")
				}
			}
		}
	}
	var blocks func(list []comment.Block)
	blocks = func(list []comment.Block) {
		for _, b := range list {
			switch b := b.(type) {
			case *comment.Paragraph:
				walk(b.Text)
			case *comment.List:
				for _, item := range b.Items {
					blocks(item.Content)
				}
			}
		}
	}
	blocks(p.Parser().Parse(text).Content)
	return broken
}
