package statements

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

const module = "github.com/latchkey-go/latchkey/"

// tests finds tests by name. It reads each package once.
type tests struct {
	packages   map[string]*folder
	named      map[string]map[string]bool // string literals of a test by its name
	recordings map[string]bool            // by ID; false if it deviates
	groups     map[string]bool            // the first parts of the recordings' IDs
}

// folder contains the top-level declarations of a package by name. Methods are listed by their own name.
type folder struct {
	declared map[string]*declaration
	imports  map[string]string // folders of this repository by package name
}

// declaration contains the string literals and the references of a function, method or variable.
type declaration struct {
	texts []string
	names []string    // includes names of other packages
	kits  [][2]string // folder and name, of the kits in conformance
}

// named matches the citation of a test: its folder, the function, and after a slash the subtest.
var named = regexp.MustCompile(`^([a-z0-9/_-]+) ((?:Test|Fuzz|Example)\w*)(?:/(.+))?$`)

// known is shared by the tests of this package, which run sequentially.
var known = sync.OnceValues(newTests)

// newTests reads the recordings and no package yet.
func newTests() (*tests, error) {
	all := &tests{
		packages: map[string]*folder{}, named: map[string]map[string]bool{},
		recordings: map[string]bool{}, groups: map[string]bool{},
	}
	files, err := filepath.Glob(filepath.Join(top, recordings, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(errors.New("no recordings"), err)
	}
	for _, path := range files {
		var file struct{ Scenarios []struct{ ID string } }
		if err := readJSON(path, &file); err != nil {
			return nil, err
		}
		for _, s := range file.Scenarios {
			group, _, _ := strings.Cut(s.ID, ".")
			all.recordings[s.ID], all.groups[group] = true, true
		}
	}
	var deviate map[string]json.RawMessage
	if err := readJSON(filepath.Join(top, deviations), &deviate); err != nil {
		return nil, err
	}
	for id := range deviate {
		all.recordings[id] = false
	}
	_, err = all.find(replayed)
	return all, err
}

func readJSON(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// find checks a text in backquotes, and reports whether it names a test. A recording counts as the test that replays
// it.
func (all *tests) find(name string) (ours bool, err error) {
	agrees, known := all.recordings[name]
	switch {
	case known && agrees:
		return true, nil
	case known:
		return true, fmt.Errorf("the recording %s deviates", name)
	}
	if group, _, dotted := strings.Cut(name, "."); dotted && all.groups[group] {
		return true, fmt.Errorf("%s is no recording", name)
	}
	m := named.FindStringSubmatch(name)
	if m == nil {
		return false, nil
	}
	dir, function, sub := m[1], m[2], m[3]
	p, err := all.read(dir)
	if err != nil {
		return true, err
	}
	if p.declared[function] == nil {
		return true, fmt.Errorf("%s has no %s", dir, function)
	}
	if sub == "" {
		return true, nil
	}
	if all.named[dir+" "+function] == nil {
		all.named[dir+" "+function] = all.texts(dir, function)
	}
	if !madeOf(sub, all.named[dir+" "+function]) {
		return true, fmt.Errorf("%s of %s has no subtest %q", function, dir, sub)
	}
	return true, nil
}

// read parses the files of a package, including its tests.
func (all *tests) read(dir string) (*folder, error) {
	if p := all.packages[dir]; p != nil {
		return p, nil
	}
	files, err := filepath.Glob(filepath.Join(top, dir, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("no package %s", dir), err)
	}
	p := &folder{declared: map[string]*declaration{}, imports: map[string]string{}}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.add(file)
	}
	all.packages[dir] = p
	return p, nil
}

func (p *folder) add(file *ast.File) {
	for _, spec := range file.Imports {
		if path, _ := strconv.Unquote(spec.Path.Value); strings.HasPrefix(path, module) && spec.Name == nil {
			p.imports[filepath.Base(path)] = strings.TrimPrefix(path, module)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			p.declare(d.Name.Name, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					for _, name := range values.Names {
						p.declare(name.Name, values)
					}
				}
			}
		}
	}
}

// declare records the content of a declaration. Methods of the same name are merged.
func (p *folder) declare(name string, node ast.Node) {
	d := p.declared[name]
	if d == nil {
		d = &declaration{}
		p.declared[name] = d
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				d.texts = append(d.texts, text)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && strings.HasPrefix(p.imports[x.Name], "conformance/") {
				d.kits = append(d.kits, [2]string{p.imports[x.Name], n.Sel.Name})
			}
		case *ast.Ident:
			d.names = append(d.names, n.Name)
		}
		return true
	})
}

// texts returns the string literals that can be in the names of a function's subtests: its own, and those of
// declarations that it references in its package and in the kits in conformance.
func (all *tests) texts(dir, name string) map[string]bool {
	out := map[string]bool{}
	seen := map[[2]string]bool{}
	for next := [][2]string{{dir, name}}; len(next) > 0; next = next[1:] {
		p, err := all.read(next[0][0])
		if err != nil || seen[next[0]] || p.declared[next[0][1]] == nil {
			continue
		}
		seen[next[0]] = true
		d := p.declared[next[0][1]]
		for _, text := range d.texts {
			out[text] = true
		}
		for _, other := range d.names {
			next = append(next, [2]string{next[0][0], other})
		}
		next = append(next, d.kits...)
	}
	return out
}

// wordy matches a text with a letter or a digit. Only longer ones identify a name.
var wordy = regexp.MustCompile(`[\pL\pN]`)

// madeOf reports whether a name is one of the texts or a concatenation of several, like `"database, "+row.name`.
func madeOf(name string, texts map[string]bool) bool {
	reached := make([]bool, len(name)+1)
	reached[0] = true
	for i := range name {
		if !reached[i] {
			continue
		}
		if name[i] == '/' { // a nested subtest
			reached[i+1] = true
		}
		for text := range texts {
			if text != "" && (len(text) > 2 || !wordy.MatchString(text)) && strings.HasPrefix(name[i:], text) {
				reached[i+len(text)] = true
			}
		}
	}
	return reached[len(name)]
}
