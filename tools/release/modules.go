package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// mod is a module of the workspace.
type mod struct {
	dir, path string
	requires  []string // module paths
}

// published returns the modules that get a tag: all outside conformance, and those in conformance that others require.
func published(root string) ([]mod, error) {
	all, err := modules(root)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	var want func(path string)
	want = func(path string) {
		i := slices.IndexFunc(all, func(m mod) bool { return m.path == path })
		if i < 0 || wanted[path] {
			return
		}
		wanted[path] = true
		for _, r := range all[i].requires {
			want(r)
		}
	}
	for _, m := range all {
		if !strings.HasPrefix(m.dir, "conformance/") {
			want(m.path)
		}
	}
	return slices.DeleteFunc(all, func(m mod) bool { return !wanted[m.path] }), nil
}

// modules reads go.work and its modules' go.mod files.
func modules(root string) (all []mod, err error) {
	name := filepath.Join(root, "go.work")
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	work, err := modfile.ParseWork(name, raw, nil)
	if err != nil {
		return nil, err
	}
	for _, use := range work.Use {
		name := filepath.Join(root, use.Path, "go.mod")
		if raw, err = os.ReadFile(name); err != nil {
			return nil, err
		}
		f, err := modfile.Parse(name, raw, nil)
		if err != nil {
			return nil, err
		}
		m := mod{dir: filepath.ToSlash(filepath.Clean(use.Path)), path: f.Module.Mod.Path}
		for _, r := range f.Require {
			m.requires = append(m.requires, r.Mod.Path)
		}
		all = append(all, m)
	}
	return all, nil
}

// fit reports a go.mod that users cannot use: with a replace line, or with a sibling at another version.
func fit(root string, list []mod, version string) error {
	for _, m := range list {
		name := filepath.Join(root, m.dir, "go.mod")
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := modfile.Parse(name, raw, nil)
		if err != nil {
			return err
		}
		if len(f.Replace) > 0 {
			return fmt.Errorf("%s/go.mod has a replace line for %s: a tagged module must have none", m.dir, f.Replace[0].Old.Path)
		}
		for _, r := range f.Require {
			i := slices.IndexFunc(list, func(s mod) bool { return s.path == r.Mod.Path })
			if i >= 0 && r.Mod.Version != version {
				return fmt.Errorf("%s/go.mod requires %s at %s, and not at %s", m.dir, r.Mod.Path, r.Mod.Version, version)
			}
		}
	}
	return nil
}

// command runs a program in a folder and returns its output. The error contains its error output.
func command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
