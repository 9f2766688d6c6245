package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// module is a module with compiled packages.
type module struct {
	path, version string
	sum           string          // from go.sum, h1:…; empty for a sibling
	imports       map[string]bool // module paths
}

// found are the components of a module of the workspace.
type found struct {
	path, goVersion string
	modules         map[string]*module // by path, including itself
}

// workspace returns the folders of go.work.
func workspace(root string) ([]string, error) {
	path := filepath.Join(root, "go.work")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	work, err := modfile.ParseWork(path, text, nil)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, use := range work.Use {
		dirs = append(dirs, use.Path)
	}
	return dirs, nil
}

// listed is a package in the output of go list -json.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Module     *struct {
		Path, Version, Sum string
		Main               bool
		Replace            *struct{ Path, Version, Sum string }
	}
}

// examine lists a module's packages and their direct and indirect imports.
func examine(dir string) (*found, error) {
	goVersion, err := output(dir, "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	text, err := output(dir, "list", "-deps", "-json=ImportPath,Standard,Imports,Module", "./...")
	if err != nil {
		return nil, err
	}
	path, err := output(dir, "list", "-m")
	if err != nil {
		return nil, err
	}
	about := &found{string(bytes.TrimSpace(path)), string(bytes.TrimSpace(goVersion)), map[string]*module{}}
	about.modules[about.path] = &module{path: about.path, imports: map[string]bool{}}
	return about, about.read(text)
}

// read collects the modules of packages.
func (f *found) read(text []byte) error {
	owner := map[string]string{} // by package
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if p.Module == nil { // of the standard library
			continue
		}
		packages = append(packages, p)
		owner[p.ImportPath] = p.Module.Path
		if f.modules[p.Module.Path] == nil {
			m := &module{path: p.Module.Path, version: p.Module.Version, sum: p.Module.Sum, imports: map[string]bool{}}
			if r := p.Module.Replace; r != nil && r.Version != "" { // replaced by another module, not by a folder
				m.version, m.sum = r.Version, r.Sum
			}
			f.modules[p.Module.Path] = m
		}
	}
	for _, p := range packages {
		from := f.modules[p.Module.Path]
		for _, name := range p.Imports {
			if to := owner[name]; to != "" && to != from.path {
				from.imports[to] = true
			}
		}
	}
	return nil
}

// output runs the go command in a module without the workspace, as for its users.
func output(dir string, args ...string) ([]byte, error) {
	c := exec.Command("go", args...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOWORK=off")
	var said bytes.Buffer
	c.Stderr = &said
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go %v: %w: %s", args, err, said.Bytes())
	}
	return text, nil
}
