package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// A package is compiled once with all its changes. Each changed function is added next to the original. The original's
// first statement selects a function. A change outside of functions is compiled separately.

// errOutside is returned for a change outside of functions.
var errOutside = fmt.Errorf("the change is in no function")

// function is a function of a file, with its changed versions.
type function struct {
	decl   *ast.FuncDecl
	ids    []int
	copies []string
}

// weave returns a file with all changes. outside are the changes outside of functions.
func weave(text string, changes map[int]guardText) (woven string, outside []int, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return "", nil, err
	}
	base := files.File(file.Pos()).Base()
	at := func(p token.Pos) int { return int(p) - base }
	found := map[int]*function{} // by the index of the declaration
	for _, id := range sorted(changes) {
		change := changes[id]
		n := slices.IndexFunc(file.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && f.Body != nil && at(f.Pos()) <= change.from && change.to <= at(f.End())
		})
		changed := ""
		if n >= 0 {
			changed, err = changedFunction(change.text, n, id)
		}
		if n < 0 || err != nil {
			outside = append(outside, id)
			continue
		}
		if found[n] == nil {
			found[n] = &function{decl: file.Decls[n].(*ast.FuncDecl)}
		}
		found[n].ids, found[n].copies = append(found[n].ids, id), append(found[n].copies, changed)
	}
	var out strings.Builder
	last := 0
	for _, n := range sorted(found) {
		f := found[n]
		body := at(f.decl.Body.Lbrace) + 1
		start := at(f.decl.Type.Pos())
		out.WriteString(text[last:start])
		out.WriteString(f.head(text[start:body], func(p token.Pos) int { return at(p) - start }))
		last = body
	}
	out.WriteString(text[last:] + "\n")
	for _, n := range sorted(found) {
		for _, c := range found[n].copies {
			out.WriteString(c)
		}
	}
	return out.String(), outside, nil
}

// changedFunction returns the n-th declaration of a changed file, with the change's number in its name, so that
// compiler errors name the change.
func changedFunction(text string, n, id int) (string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	if n >= len(file.Decls) {
		return "", errOutside
	}
	f, ok := file.Decls[n].(*ast.FuncDecl)
	if !ok {
		return "", errOutside
	}
	at := func(p token.Pos) int { return int(p) - files.File(file.Pos()).Base() }
	return fmt.Sprintf("\n//line mutant%d%s:1\n%s%s%s\n", id, ".go", text[at(f.Type.Pos()):at(f.Name.Pos())],
		changedName(f.Name.Name, id), text[at(f.Name.End()):at(f.End())]), nil
}

// changedName returns an unexported name, because an exported method of a type that a store embeds would become a
// method of the store.
func changedName(name string, id int) string { return fmt.Sprintf("mutant%dOf%s", id, name) }

// head returns the beginning of a function up to its body, with the statement that selects a change. Unnamed parameters
// get names.
func (f *function) head(text string, at func(token.Pos) int) string {
	type edit struct {
		from, to int
		text     string
	}
	var edits []edit
	named := 0
	names := func(list *ast.FieldList) (all []string) {
		if list == nil {
			return nil
		}
		for _, field := range list.List {
			dots := ""
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				dots = "..."
			}
			if len(field.Names) == 0 {
				named++
				name := fmt.Sprintf("mutant%d", named)
				edits = append(edits, edit{at(field.Type.Pos()), at(field.Type.Pos()), name + " "})
				all = append(all, name+dots)
			}
			for _, ident := range field.Names {
				name := ident.Name
				if name == "_" {
					named++
					name = fmt.Sprintf("mutant%d", named)
					edits = append(edits, edit{at(ident.Pos()), at(ident.End()), name})
				}
				all = append(all, name+dots)
			}
		}
		return all
	}
	receiver := names(f.decl.Recv)
	arguments := strings.Join(names(f.decl.Type.Params), ", ")
	var out bytes.Buffer
	last := 0
	for _, e := range edits {
		out.WriteString(text[last:e.from] + e.text)
		last = e.to
	}
	out.WriteString(text[last:])
	fmt.Fprintf(&out, " switch mutantAt(%s) {", strings.Trim(strings.ReplaceAll(fmt.Sprint(f.ids), " ", ", "), "[]"))
	for _, id := range f.ids {
		call := changedName(f.decl.Name.Name, id)
		if len(receiver) > 0 {
			call = receiver[0] + "." + call
		}
		call += f.typeArguments() + "(" + arguments + ")"
		if f.decl.Type.Results != nil {
			fmt.Fprintf(&out, " case %d: return %s;", id, call)
		} else {
			fmt.Fprintf(&out, " case %d: %s; return;", id, call)
		}
	}
	out.WriteString(" };")
	return out.String()
}

// typeArguments returns the function's type parameters as arguments.
func (f *function) typeArguments() string {
	if f.decl.Type.TypeParams == nil {
		return ""
	}
	var all []string
	for _, field := range f.decl.Type.TypeParams.List {
		for _, name := range field.Names {
			all = append(all, name.Name)
		}
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// switchboard is a file that reads the selected change from LATCHKEY_MUTANT. If that is -1, no change is selected, and
// the changes of called functions are written to the file LATCHKEY_MUTANTS_REACHED.
const switchboard = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

var mutantWanted, _ = strconv.Atoi(os.Getenv("LATCHKEY_MUTANT"))

var mutantsReached struct {
	sync.Mutex
	ids map[int]bool
}

func mutantAt(ids ...int) int {
	if mutantWanted >= 0 {
		return mutantWanted
	}
	mutantsReached.Lock()
	defer mutantsReached.Unlock()
	for _, id := range ids {
		if mutantsReached.ids[id] {
			continue
		}
		if mutantsReached.ids == nil {
			mutantsReached.ids = map[int]bool{}
		}
		mutantsReached.ids[id] = true
		file := os.Getenv("LATCHKEY_MUTANTS_REACHED")
		if f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(f, id)
			f.Close()
		}
	}
	return mutantWanted
}
`
