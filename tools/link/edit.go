package main

import (
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// editWork returns a go.work with exactly the modules of the workspace.
func (ws *workspace) editWork(name string, old []byte) ([]byte, error) {
	f, err := modfile.ParseWork(name, old, nil)
	if err != nil {
		return nil, err
	}
	var want, have []string
	for _, m := range ws.modules {
		want = append(want, "./"+m.dir)
	}
	for _, u := range f.Use {
		have = append(have, u.Path)
	}
	if slices.Equal(want, have) {
		return old, nil
	}
	for _, dir := range have {
		if !slices.Contains(want, dir) {
			if err := f.DropUse(dir); err != nil {
				return nil, err
			}
		}
	}
	for _, dir := range want {
		if err := f.AddUse(dir, ""); err != nil { // keeps an existing line
			return nil, err
		}
	}
	f.Cleanup()
	f.SortBlocks()
	return modfile.Format(f.Syntax), nil
}

// editMod returns the go.mod of m with exactly the sibling lines that it needs. All other lines are unchanged.
func (ws *workspace) editMod(m *module, n need, version, name string, old []byte) ([]byte, error) {
	if ws.release {
		n.replace = nil
	}
	f, err := modfile.Parse(name, old, nil)
	if err != nil {
		return nil, err
	}
	requires, err := ws.editRequires(f, n, version)
	if err != nil {
		return nil, err
	}
	replaces, err := ws.editReplaces(f, m, n)
	if err != nil {
		return nil, err
	}
	if !requires && !replaces {
		return old, nil
	}
	if replaces {
		gatherReplaces(f.Syntax)
	}
	f.Cleanup()
	f.SortBlocks()
	return modfile.Format(f.Syntax), nil
}

// editRequires updates the require lines, and reports whether it changed one.
func (ws *workspace) editRequires(f *modfile.File, n need, version string) (changed bool, err error) {
	var list []*modfile.Require
	done := map[string]bool{}
	for _, r := range f.Require {
		s := ws.owner(r.Mod.Path)
		if s == nil || s.path != r.Mod.Path {
			if strings.HasPrefix(r.Mod.Path, ws.prefix) {
				changed = true // the sibling was renamed or removed
				continue
			}
			list = append(list, r)
			continue
		}
		if !n.direct[s] && !n.indirect[s] {
			changed = true
			continue
		}
		if r.Mod.Version != version || r.Indirect != n.indirect[s] {
			changed = true
			r.Mod.Version, r.Indirect = version, n.indirect[s]
		}
		done[r.Mod.Path] = true
		list = append(list, r)
	}
	for _, set := range []map[*module]bool{n.direct, n.indirect} {
		for _, s := range keys(set) {
			if done[s.path] {
				continue
			}
			changed = true
			r := &modfile.Require{Indirect: n.indirect[s]}
			r.Mod.Path, r.Mod.Version = s.path, version
			list = append(list, r)
		}
	}
	if changed {
		f.SetRequireSeparateIndirect(list)
	}
	return changed, nil
}

// editReplaces updates the replace lines, and reports whether it changed one.
func (ws *workspace) editReplaces(f *modfile.File, m *module, n need) (changed bool, err error) {
	want := map[string]string{}
	for s := range n.replace {
		if want[s.path], err = relative(m, s); err != nil {
			return false, err
		}
	}
	// A copy, because DropReplace modifies the list.
	for _, r := range slices.Clone(f.Replace) {
		path, version := r.Old.Path, r.Old.Version
		if !strings.HasPrefix(path, ws.prefix) {
			continue
		}
		if to, ok := want[path]; ok && version == "" && r.New.Path == to && r.New.Version == "" {
			delete(want, path)
			continue
		}
		changed = true
		if err := f.DropReplace(path, version); err != nil {
			return false, err
		}
	}
	for _, s := range keys(n.replace) {
		to, ok := want[s.path]
		if !ok {
			continue
		}
		changed = true
		if err := f.AddReplace(s.path, "", to, ""); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// gatherReplaces moves all replace lines into one block, because modfile adds each one as a separate statement.
func gatherReplaces(syntax *modfile.FileSyntax) {
	block := &modfile.LineBlock{Token: []string{"replace"}}
	rest := syntax.Stmt[:0:0]
	for _, stmt := range syntax.Stmt {
		switch x := stmt.(type) {
		case *modfile.Line:
			if len(x.Token) > 0 && x.Token[0] == "replace" {
				x.Token, x.InBlock = x.Token[1:], true
				block.Line = append(block.Line, x)
				continue
			}
		case *modfile.LineBlock:
			if x.Token[0] == "replace" {
				block.Before = append(block.Before, x.Before...)
				block.Line = append(block.Line, x.Line...)
				continue
			}
		}
		rest = append(rest, stmt)
	}
	syntax.Stmt = append(rest, block)
}
