// Command size compares measurements of the code with their limits in limits.txt:
//
//	exported   exported names of a package
//	lines      lines of a package without tests and generated files, rounded up to hundreds
//	scattered  percent of its unexported functions that are called once, from another file
//	prose      sentences of a folder that violate the rules in styles/Plain
//	words      words of README.md and of the pages of a folder, without code blocks and the pages under "Evidence"
//
// It fails if a measurement is above its limit. If a limit is above its measurement, size lowers the limit in
// limits.txt: commit that. Raise a limit only for a feature, with the reason in the commit message. The limit of words
// is the budget of all guides together: it is lowered by hand and never raised.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	root := flag.String("C", ".", "folder of the repository")
	vale := flag.String("vale", "vale", "path of the program vale")
	flag.Parse()
	objections, err := compare(*root, filepath.Join(*root, "tools/size/limits.txt"), *vale)
	if err != nil {
		objections = append(objections, err.Error())
	}
	for _, o := range objections {
		fmt.Fprintln(os.Stderr, "size:", o)
	}
	if len(objections) > 0 {
		os.Exit(1)
	}
}

// compare returns the measurements above their limits, and lowers the limits that are above their measurements. A line
// of the limits file has the name of a measurement, a package or folder, and a number. A line that begins with "#" is a
// comment.
func compare(root, limits, vale string) (objections []string, err error) {
	old, err := os.ReadFile(limits)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(old), "\n"), "\n")
	for i, line := range lines {
		if line == "" || line[0] == '#' {
			continue
		}
		var name, dir string
		var limit int
		if _, err := fmt.Sscan(line, &name, &dir, &limit); err != nil {
			return nil, fmt.Errorf("%s:%d: %q is no figure, folder and number", limits, i+1, line)
		}
		figure, err := measure(name, filepath.Join(root, dir), vale, filepath.Dir(limits))
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", name, dir, err)
		}
		switch {
		case figure > limit:
			objections = append(objections,
				fmt.Sprintf("%s of %s: %d, at most %d is allowed", name, dir, figure, limit))
		case figure < limit && name != "words":
			lines[i] = strings.TrimSuffix(line, strconv.Itoa(limit)) + strconv.Itoa(figure)
		}
	}
	lowered := []byte(strings.Join(lines, "\n") + "\n")
	if bytes.Equal(lowered, old) {
		return objections, nil
	}
	fmt.Println("size: limits were lowered: commit", limits)
	return objections, os.WriteFile(limits, lowered, 0o644)
}

func measure(name, dir, vale, config string) (int, error) {
	switch name {
	case "prose":
		return prose(dir, vale, config)
	case "words":
		return words(dir)
	}
	p, err := read(dir)
	if err != nil {
		return 0, err
	}
	switch name {
	case "exported":
		return p.exported(), nil
	case "lines":
		return (p.lines + 99) / 100 * 100, nil
	case "scattered":
		return p.scattered(), nil
	}
	return 0, fmt.Errorf("there is no figure %q", name)
}

// prose returns the number of vale's alerts for the comments and pages of a folder.
func prose(dir, vale, config string) (n int, err error) {
	cmd := exec.Command(vale, "--config", filepath.Join(config, "vale.ini"), "--output", "JSON", "--no-exit", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	alerts := map[string][]any{}
	if err := json.Unmarshal(out, &alerts); err != nil {
		return 0, err
	}
	for _, of := range alerts {
		n += len(of)
	}
	return n, nil
}

// pkg is a package without its tests, its generated files and the packages that it imports.
type pkg struct {
	fset  *token.FileSet
	types *types.Package
	info  *types.Info
	lines int
}

// stubs imports every package as an empty one: names of the package itself resolve without the others.
type stubs struct{}

func (stubs) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}

func read(dir string) (*pkg, error) {
	p := &pkg{fset: token.NewFileSet(), info: &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
	}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") {
			continue
		}
		f, err := parser.ParseFile(p.fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(f) {
			continue
		}
		files = append(files, f)
		p.lines += p.fset.File(f.Pos()).LineCount()
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no Go files (%v)", err)
	}
	// Other packages are empty stubs, so their members are unknown.
	conf := types.Config{Importer: stubs{}, Error: func(error) {}}
	p.types, _ = conf.Check(dir, p.fset, files, p.info)
	return p, nil
}

func (p *pkg) exported() (n int) {
	for _, name := range p.types.Scope().Names() {
		if token.IsExported(name) {
			n++
		}
	}
	return n
}

func (p *pkg) scattered() int {
	uses := map[*types.Func][]string{} // the file of each use
	for _, o := range p.info.Defs {
		if f, ok := o.(*types.Func); ok && !f.Exported() {
			uses[f] = nil
		}
	}
	for id, o := range p.info.Uses {
		f, ok := o.(*types.Func)
		if !ok {
			continue
		}
		if _, own := uses[f.Origin()]; own {
			uses[f.Origin()] = append(uses[f.Origin()], p.file(id.Pos()))
		}
	}
	elsewhere := 0
	for f, in := range uses {
		if len(in) == 1 && in[0] != p.file(f.Pos()) {
			elsewhere++
		}
	}
	return (100*elsewhere + len(uses) - 1) / max(1, len(uses))
}

func (p *pkg) file(at token.Pos) string { return p.fset.File(at).Name() }
