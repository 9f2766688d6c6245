package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// outside is the folder of modules that are not in go.work, so that the dependencies of generators and linters do not
// change the versions in our modules.
const outside = "tools"

// workspace is the state of the files before link changes them.
type workspace struct {
	modules []*module // sorted by dir
	prefix  string    // import path prefix that all modules share, with its slash
	release bool      // write no replace lines: published modules find their siblings by version
}

// module is one module of the workspace.
type module struct {
	dir      string // relative to the root, with slashes
	path     string
	packages map[string]*pkg // by import path
}

// pkg contains the sibling packages that one package imports.
type pkg struct {
	code []string // imports of its code
	test []string // imports of its tests, including external tests
}

// readWorkspace finds the modules below root and reads the imports of their packages.
func readWorkspace(root string) (*workspace, error) {
	if _, err := os.Stat(filepath.Join(root, "go.work")); err != nil {
		return nil, err
	}
	ws := new(workspace)
	err := walk(root, func(dir string, files []string) error {
		if !slices.Contains(files, "go.mod") || dir == outside || strings.HasPrefix(dir, outside+"/") {
			return nil
		}
		name := filepath.Join(root, dir, "go.mod")
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		p := modfile.ModulePath(data)
		if p == "" {
			return fmt.Errorf("%s: no module line", name)
		}
		prefix, ok := strings.CutSuffix(p, dir)
		if !ok {
			return fmt.Errorf("%s: module path %s should end in its folder, %s", name, p, dir)
		}
		if ws.prefix == "" {
			ws.prefix = prefix
		}
		if prefix != ws.prefix {
			return fmt.Errorf("%s: module path %s should begin with %s, as those of its siblings", name, p, ws.prefix)
		}
		ws.modules = append(ws.modules, &module{dir: dir, path: p, packages: map[string]*pkg{}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(ws.modules, func(a, b *module) int { return strings.Compare(a.dir, b.dir) })
	return ws, walk(root, func(dir string, files []string) error {
		m := ws.owner(ws.prefix + dir)
		if m == nil {
			return nil
		}
		p, err := readPackage(filepath.Join(root, dir), files, ws.prefix)
		if err == nil && p != nil {
			m.packages[ws.prefix+dir] = p
		}
		return err
	})
}

// walk calls visit for each directory below root that the go command would read, with its path relative to root and the
// names of its files.
func walk(root string, visit func(dir string, files []string) error) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name != root {
			return nil // deleted in the meantime, like temporary files
		}
		if err != nil || !d.IsDir() {
			return err
		}
		base := d.Name()
		apart := base == "testdata" || base == "vendor" || base == "node_modules"
		if name != root && (apart || base[0] == '.' || base[0] == '_') {
			return fs.SkipDir
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return err
		}
		var files []string
		for _, e := range entries {
			if e.Type().IsRegular() {
				files = append(files, e.Name())
			}
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(rel), files)
	})
}

// owner returns the module that provides a package: the one with the longest matching path. It returns nil if there is
// none.
func (ws *workspace) owner(importPath string) *module {
	var best *module
	for _, m := range ws.modules {
		within := importPath == m.path || strings.HasPrefix(importPath, m.path+"/")
		if within && (best == nil || len(m.path) > len(best.path)) {
			best = m
		}
	}
	return best
}

// need are the siblings in the go.mod of a module.
type need struct {
	direct   map[*module]bool // imported by packages or tests of the module
	indirect map[*module]bool // provide packages that these imports reach
	replace  map[*module]bool // reachable through any module, tests included
}

// need returns the siblings of m.
func (ws *workspace) need(m *module) (need, error) {
	direct, err := ws.direct(m)
	if err != nil {
		return need{}, err
	}
	n := need{direct: direct, indirect: map[*module]bool{}, replace: map[*module]bool{}}

	// Modules: from each sibling to those that its go.mod will require.
	queue := keys(direct)
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s == m || n.replace[s] {
			continue
		}
		n.replace[s] = true
		next, err := ws.direct(s)
		if err != nil {
			return need{}, err
		}
		queue = append(queue, keys(next)...)
	}

	// Packages: of siblings only the code counts, because their tests are not compiled.
	seen := map[string]bool{}
	var follow func(importPath string)
	follow = func(importPath string) {
		if seen[importPath] {
			return
		}
		seen[importPath] = true
		s := ws.owner(importPath)
		if s == nil {
			return // reported for the module that imports it
		}
		if s != m && !direct[s] {
			n.indirect[s] = true
		}
		if p := s.packages[importPath]; p != nil {
			for _, i := range p.code {
				follow(i)
			}
		}
	}
	for _, p := range m.packages {
		for _, i := range slices.Concat(p.code, p.test) {
			follow(i)
		}
	}
	return n, nil
}

// direct returns the siblings that packages and tests of m import.
func (ws *workspace) direct(m *module) (map[*module]bool, error) {
	siblings := map[*module]bool{}
	for name, p := range m.packages {
		for _, i := range slices.Concat(p.code, p.test) {
			s := ws.owner(i)
			if s == nil {
				return nil, fmt.Errorf("%s imports %s, which no module of the workspace provides", name, i)
			}
			if s != m {
				siblings[s] = true
			}
		}
	}
	return siblings, nil
}

// keys returns the modules of a set, sorted by path.
func keys(set map[*module]bool) []*module {
	var list []*module
	for m := range set {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return list
}

// relative returns the path from one module's folder to another's, in the form of a replace line.
func relative(from, to *module) (string, error) {
	rel, err := filepath.Rel(filepath.FromSlash(from.dir), filepath.FromSlash(to.dir))
	if err != nil {
		return "", err
	}
	rel = filepath.ToSlash(rel)
	if !strings.HasPrefix(rel, "../") {
		rel = "./" + path.Clean(rel)
	}
	return rel, nil
}
