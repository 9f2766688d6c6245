// Package arrows checks that imports have only one direction:
//
//	ui <- core <- providers, storage, adapters <- examples
//
// The table in table_test.go lists the allowed imports of each module.
package arrows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImports checks all packages of the workspace.
func TestImports(t *testing.T) {
	// Without -test: the tests of siblings and of other projects are irrelevant, and the package itself lists its own
	// tests' imports.
	const fields = "-json=ImportPath,Standard,Module,Imports,TestImports,XTestImports,ImportMap"
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", fields, "work")
	list.Dir, list.Stderr = "../../..", os.Stderr
	list.Env = append(os.Environ(), "GOWORK=") // the one of that folder
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	pkgs := map[string]*pkg{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		p := new(pkg)
		if err := decoder.Decode(p); err != nil {
			t.Fatal(err)
		}
		pkgs[p.ImportPath] = p
	}
	for _, problem := range check(table, pkgs) {
		t.Errorf("%s (add a necessary import to the table, with its reason)", problem)
	}
	for _, dir := range withoutCore {
		p := pkgs[full(dir)]
		if p == nil {
			t.Errorf("there is no package %s", dir)
			continue
		}
		for path, via := range closure(p, pkgs) {
			module := pkgs[path].module()
			to, ours := sibling(module)
			if path == full("core") || to == "ui" || module != "" && !ours {
				t.Errorf("%s reaches %s through %s: it must compile without core and without other projects", dir, path, via)
			}
		}
	}
}

// pkg contains the needed members of go list's output.
type pkg struct {
	ImportPath   string
	Standard     bool
	Module       *struct{ Path string }
	Imports      []string          // of the code
	TestImports  []string          // of tests in the package
	XTestImports []string          // of external tests
	ImportMap    map[string]string // from the import path in the source to ImportPath
}

// check compares every package of the workspace with its module's rule.
func check(rules []rule, pkgs map[string]*pkg) []string {
	c := checker{pkgs: pkgs}
	for _, p := range pkgs {
		module, ours := sibling(p.module())
		if !ours {
			continue
		}
		r := find(rules, module)
		if r == nil {
			c.report("module %s has no rule", module)
			continue
		}
		c.code(p, module, r)
		c.tests(p, module, r)
		if r.wholeTree || len(r.never) > 0 {
			c.tree(p, module, r)
		}
	}
	slices.Sort(c.problems)
	return slices.Compact(c.problems)
}

// checker collects the problems.
type checker struct {
	pkgs     map[string]*pkg
	problems []string
}

func (c *checker) report(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// code checks the direct imports of a package's code.
func (c *checker) code(p *pkg, module string, r *rule) {
	for _, i := range p.Imports {
		path := p.resolve(i)
		c.shunned(p, path)
		from := c.pkgs[path].module()
		switch to, ours := sibling(from); {
		case ours && to != module && !match(r.code, to) && !slices.Contains(r.code, folder(path)):
			c.report("%s imports %s: module %s may not import %s", p.ImportPath, path, module, folder(path))
		case !ours && from != "" && r.thirdParty != nil && !slices.Contains(r.thirdParty, from):
			c.report("%s imports %s: module %s may not import that module", p.ImportPath, path, module)
		case r.apart && to == module && part(module, path) != part(module, p.ImportPath) &&
			!slices.Contains(r.joins, folder(p.ImportPath)):
			c.report("%s imports %s: the parts of module %s may not import each other", p.ImportPath, path, module)
		case match(r.not, path):
			c.report("%s imports %s: module %s may not import that package", p.ImportPath, path, module)
		}
	}
}

// tests checks the direct imports of a package's tests.
func (c *checker) tests(p *pkg, module string, r *rule) {
	for _, i := range slices.Concat(p.TestImports, p.XTestImports) {
		c.shunned(p, i)
		// pkgs contains all packages of the workspace. Any other package belongs to another project.
		to, ours := sibling(c.pkgs[i].module())
		allowed := slices.Concat(r.code, r.tests)
		if ours && to != module && !match(allowed, to) && !slices.Contains(allowed, folder(i)) {
			c.report("tests of %s import %s: tests of module %s may not import %s", p.ImportPath, i, module, folder(i))
		}
		if slices.Contains(r.never, i) {
			c.report("tests of %s import %s, which module %s may not use", p.ImportPath, i, module)
		}
	}
}

// tree checks all packages that a package reaches.
func (c *checker) tree(p *pkg, module string, r *rule) {
	for path, via := range closure(p, c.pkgs) {
		to := c.pkgs[path].module()
		_, ours := sibling(to)
		switch {
		case slices.Contains(r.never, path):
			c.report("%s reaches %s through %s, which module %s may not use", p.ImportPath, path, via, module)
		case via == p.ImportPath: // reported by code
		case r.wholeTree && to != "" && !ours && !slices.Contains(r.thirdParty, to):
			c.report("%s reaches %s through %s: the tree of module %s may not hold %s", p.ImportPath, path, via, module, to)
		}
	}
}

// shunned reports an import that is forbidden for all modules.
func (c *checker) shunned(p *pkg, path string) {
	if instead, ok := shunned[path]; ok {
		c.report("%s imports %s: %s", p.ImportPath, path, instead)
	}
}

// closure returns every package that p reaches, with one package that imports it.
func closure(p *pkg, pkgs map[string]*pkg) map[string]string {
	via := map[string]string{}
	queue := []*pkg{p}
	for len(queue) > 0 {
		q := queue[0]
		queue = queue[1:]
		if q == nil || q.Standard {
			continue
		}
		for _, i := range q.Imports {
			path := q.resolve(i)
			if _, seen := via[path]; !seen {
				via[path] = q.ImportPath
				queue = append(queue, pkgs[path])
			}
		}
	}
	return via
}

// module returns the path of the module that provides p. It returns "" for the standard library, and for packages that
// go list did not print.
func (p *pkg) module() string {
	if p == nil || p.Standard || p.Module == nil {
		return ""
	}
	return p.Module.Path
}

// resolve returns the package of an import path in p.
func (p *pkg) resolve(path string) string {
	if to, ok := p.ImportMap[path]; ok {
		return to
	}
	return path
}

// sibling returns the folder of a module of this repository.
func sibling(module string) (dir string, ours bool) {
	return strings.CutPrefix(module, root+"/")
}

// part returns the first folder of a package's path in its module.
func part(module, path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(folder(path), module+"/"), "/")
	return first
}

// find returns the first rule that names a module.
func find(rules []rule, module string) *rule {
	for i := range rules {
		if matches(rules[i].module, module) {
			return &rules[i]
		}
	}
	return nil
}

// match reports whether one of the patterns matches path.
func match(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, path) })
}

// matches reports whether a pattern matches a module or package. "a/..." matches a and everything below it, "a/*"
// everything below it, "..." everything, and any other pattern only itself.
func matches(pattern, path string) bool {
	if pattern == "..." {
		return true
	}
	if dir, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == dir || strings.HasPrefix(path, dir+"/")
	}
	if dir, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(path, dir+"/")
	}
	return pattern == path
}

// folder returns the folder of a package of this repository.
func folder(path string) string { return strings.TrimPrefix(path, root+"/") }
