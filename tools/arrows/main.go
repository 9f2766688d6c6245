// Command arrows checks that imports point in one direction only:
//
//	ui <- core <- providers, storage, adapters <- examples
//
// The table in table.go says what each module may import. The program asks
// go list about all packages of the workspace and prints every import that
// the table does not know, with the package that has it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	pkgs, err := list()
	if err != nil {
		fmt.Fprintln(os.Stderr, "arrows:", err)
		os.Exit(1)
	}
	problems := check(table, pkgs)
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, "arrows:", p)
	}
	if len(problems) > 0 {
		fmt.Fprintln(os.Stderr, "arrows: an import that is meant goes into tools/arrows/table.go, with its reason")
		os.Exit(1)
	}
}

// pkg is the part of go list's answer that matters here.
type pkg struct {
	ImportPath   string
	Standard     bool
	Module       *struct{ Path string }
	Imports      []string          // of the code
	TestImports  []string          // of tests in the package
	XTestImports []string          // of tests beside the package
	ImportMap    map[string]string // from what the source says to ImportPath
}

// list returns every package of the workspace and all that they import.
func list() (map[string]*pkg, error) {
	// Tests of siblings and of other people do not matter, and those of a
	// package itself are named in it: no -test.
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Module,Imports,TestImports,XTestImports,ImportMap", "work")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return decode(strings.NewReader(string(out)))
}

// decode reads the concatenated JSON objects that go list prints.
func decode(r io.Reader) (map[string]*pkg, error) {
	pkgs := map[string]*pkg{}
	for dec := json.NewDecoder(r); ; {
		p := new(pkg)
		switch err := dec.Decode(p); {
		case errors.Is(err, io.EOF):
			return pkgs, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		pkgs[p.ImportPath] = p
	}
}

// check compares every package of ours with the rule of its module.
func check(rules []rule, pkgs map[string]*pkg) []string {
	var problems []string
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, p := range pkgs {
		m, ours := sibling(p.module())
		if !ours {
			continue
		}
		r := find(rules, m)
		if r == nil {
			report("module %s has no rule", m)
			continue
		}
		for _, i := range p.Imports {
			path := p.resolve(i)
			switch to, ours := sibling(pkgs[path].module()); {
			case ours && to != m && !match(r.code, to):
				report("%s imports %s: module %s may not import %s", p.ImportPath, path, m, to)
			case !ours && pkgs[path].module() != "" && r.thirdParty != nil && !slices.Contains(r.thirdParty, pkgs[path].module()):
				report("%s imports %s: module %s may not import that module", p.ImportPath, path, m)
			}
		}
		for _, i := range slices.Concat(p.TestImports, p.XTestImports) {
			to, ours := siblingPackage(i, pkgs)
			if ours && to != m && !match(r.code, to) && !match(r.tests, to) {
				report("tests of %s import %s: tests of module %s may not import %s", p.ImportPath, i, m, to)
			}
			if slices.Contains(r.never, i) {
				report("tests of %s import %s, which module %s may not use", p.ImportPath, i, m)
			}
		}
		if !r.wholeTree && len(r.never) == 0 {
			continue
		}
		for path, via := range closure(p, pkgs) {
			switch to := pkgs[path].module(); {
			case slices.Contains(r.never, path):
				report("%s reaches %s through %s, which module %s may not use", p.ImportPath, path, via, m)
			case via == p.ImportPath: // said above
			case r.wholeTree && to != "" && !isSibling(to) && !slices.Contains(r.thirdParty, to):
				report("%s reaches %s through %s: the tree of module %s may not hold %s", p.ImportPath, path, via, m, to)
			}
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

// closure returns every package that p reaches, with one that imports it.
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

// module returns the path of the module that provides p, or "" for the
// standard library and for what go list did not name.
func (p *pkg) module() string {
	if p == nil || p.Standard || p.Module == nil {
		return ""
	}
	return p.Module.Path
}

// resolve returns the package that an import of p means.
func (p *pkg) resolve(path string) string {
	if to, ok := p.ImportMap[path]; ok {
		return to
	}
	return path
}

// isSibling reports whether a module path is one of ours.
func isSibling(module string) bool {
	_, ok := sibling(module)
	return ok
}

// sibling returns the folder of a module of ours.
func sibling(module string) (dir string, ours bool) {
	return strings.CutPrefix(module, root+"/")
}

// siblingPackage returns the folder of the module of a package of ours. All
// packages of the workspace are in pkgs, so any other is none of ours.
func siblingPackage(path string, pkgs map[string]*pkg) (dir string, ours bool) {
	return sibling(pkgs[path].module())
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

// match reports whether one of the patterns names the module.
func match(patterns []string, module string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, module) })
}

// matches reports whether a pattern names a module. "a/..." names a and all
// below it, "a/*" all below it, "..." every module, and all else itself.
func matches(pattern, module string) bool {
	if pattern == "..." {
		return true
	}
	if dir, ok := strings.CutSuffix(pattern, "/..."); ok {
		return module == dir || strings.HasPrefix(module, dir+"/")
	}
	if dir, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(module, dir+"/")
	}
	return pattern == module
}
