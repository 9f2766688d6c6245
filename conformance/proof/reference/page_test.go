// Package reference tests docs/reference.md and the doc comments of the options that it links to: it creates what they
// describe and compares the result. tools/checks/reference checks that each name in the code is documented.
package reference

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// cells returns the rows of the tables in docs/reference.md by their first cell, without that cell.
func cells(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for line := range strings.Lines(page(t)) {
		row := strings.Split(strings.TrimSpace(line), "|") // no cell contains this character
		if len(row) < 4 || row[0] != "" {
			continue
		}
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		all[strings.Trim(row[1], "`")] = row[2 : len(row)-1]
	}
	if len(all) < 60 {
		t.Fatalf("%d rows", len(all))
	}
	return all
}

func page(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var linkToOptions = regexp.MustCompile("\\[(?:Options|Fields) of `(\\w+)\\.(\\w+)`\\]\\(\\.\\./([^)]+)\\)")

// comments returns the doc comments of the options that the page links to, in one line each, by the name of the option:
// "Config.URL", "password.Options.Mail". A field without a comment has that of the field above it.
func comments(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, m := range linkToOptions.FindAllStringSubmatch(page(t), -1) {
		prefix := m[1] + "."
		if prefix == "core." || prefix == "ui." {
			prefix = ""
		}
		for _, file := range parsed(t, m[3]) {
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if ok && spec.Name.Name == m[2] {
					addComments(all, prefix+m[2]+".", spec.Type.(*ast.StructType))
				}
				return !ok
			})
		}
	}
	if len(all) < 200 {
		t.Fatalf("%d options", len(all))
	}
	return all
}

// parsed returns the files of a package without its tests.
func parsed(t *testing.T, folder string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../../..", folder, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(names), err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

func addComments(all map[string]string, prefix string, options *ast.StructType) {
	comment := ""
	for _, field := range options.Fields.List {
		if text := field.Doc.Text() + field.Comment.Text(); text != "" {
			comment = strings.Join(strings.Fields(text), " ")
		}
		for _, name := range field.Names {
			all[prefix+name.Name] = comment
		}
	}
}
