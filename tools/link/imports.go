package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// readPackage reads the imports that begin with prefix from these files of a directory. It returns nil if none is a Go
// file. It uses only the parser, because the go command fails until link has written the lines.
func readPackage(dir string, files []string, prefix string) (*pkg, error) {
	var p *pkg
	for _, name := range files {
		if !strings.HasSuffix(name, ".go") || name[0] == '_' || name[0] == '.' {
			continue
		}
		file := filepath.Join(dir, name)
		src, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		imports, err := siblingImports(file, src, prefix)
		if err != nil {
			return nil, err
		}
		if p == nil {
			p = new(pkg)
		}
		if strings.HasSuffix(name, "_test.go") {
			p.test = append(p.test, imports...)
		} else {
			p.code = append(p.code, imports...)
		}
	}
	return p, nil
}

// ignored matches the build constraint of programs that are run by file name, such as generators.
var ignored = regexp.MustCompile(`(?m)^//go:build ignore\b`)

// siblingImports returns the imports of a file that begin with prefix. Like go mod tidy, it includes files for all
// systems and build tags except "ignore".
func siblingImports(name string, src []byte, prefix string) ([]string, error) {
	if ignored.Match(src) {
		return nil, nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		if strings.HasPrefix(p, prefix) && !slices.Contains(imports, p) {
			imports = append(imports, p)
		}
	}
	return imports, nil
}
