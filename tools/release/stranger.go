package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// stranger is a new user with an empty folder, the go command and a proxy.
type stranger struct {
	folder, version string
	env             []string
	list            []mod
}

// try publishes a copy of the files into a folder, and uses it as a new user.
func try(ctx context.Context, out io.Writer, root, link string) (err error) {
	tmp, err := os.MkdirTemp("", "release-check-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	tree, proxy := filepath.Join(tmp, "tree"), filepath.Join(tmp, "proxy")
	if err := copied(ctx, root, tree); err != nil {
		return err
	}
	list, err := published(tree)
	if err != nil {
		return err
	}
	version, err := trial(tree, list)
	if err != nil {
		return err
	}
	if _, err := command(ctx, tree, nil, link, "-release", "-version", version); err != nil {
		return err
	}
	if err := errors.Join(fit(tree, list, version), publish(tree, proxy, version, list)); err != nil {
		return err
	}
	base, err := command(ctx, tmp, nil, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return err
	}
	cache, others, _ := strings.Cut(strings.TrimSpace(base), "\n")
	defer func() { err = errors.Join(err, forget(cache, version, list)) }()
	s := stranger{folder: tmp, version: version, list: list, env: []string{
		"GOWORK=off", "GOFLAGS=-modcacherw -tags=nomsgpack", "GOPROXY=file://" + filepath.ToSlash(proxy) + "," + others,
		"GONOSUMDB=" + strings.TrimSuffix(list[0].path, list[0].dir) + "*",
	}}
	_, _ = fmt.Fprintf(out, "%d modules published as %s into a folder\n", len(list), version)
	for _, m := range list {
		if err := s.gets(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", m.dir, err)
		}
		_, _ = fmt.Fprintf(out, "ok  %s: got, and compiles\n", m.dir)
	}
	if err := s.builds(ctx, filepath.Join(root, "examples", "readme", "main.go")); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, "ok  the program of the README: tidy, and compiles")
	if err := s.runs(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "ok  go run …/examples/stdlib@%s answers\n", version)
	return err
}

// copied copies the files that git tracks, and new files that are not ignored.
func copied(ctx context.Context, root, tree string) error {
	names, err := command(ctx, root, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for _, name := range strings.Split(strings.TrimRight(names, "\x00"), "\x00") {
		raw, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		to := filepath.Join(tree, name)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755)); err != nil {
			return err
		}
		if err := os.WriteFile(to, raw, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// empty creates a folder with a module of the user.
func (s stranger) empty(ctx context.Context, name string) (dir string, err error) {
	dir = filepath.Join(s.folder, "strangers", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	_, err = command(ctx, dir, s.env, "go", "mod", "init", "stranger.example/app")
	return dir, err
}

// gets adds one module to an empty one, and compiles all its public packages there.
func (s stranger) gets(ctx context.Context, m mod) error {
	dir, err := s.empty(ctx, strings.ReplaceAll(m.dir, "/", "-"))
	if err != nil {
		return err
	}
	if _, err := command(ctx, dir, s.env, "go", "get", m.path+"/...@"+s.version); err != nil {
		return err
	}
	packages, err := command(ctx, dir, s.env, "go", "list", "-f",
		`{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}`, m.path+"/...")
	if err != nil {
		return err
	}
	program := "package main\n\nimport (\n"
	for _, path := range strings.Fields(packages) {
		if !strings.Contains(path+"/", "/internal/") {
			program += fmt.Sprintf("\t_ %q\n", path)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program+")\n\nfunc main() {}\n"), 0o644); err != nil {
		return err
	}
	if _, err := command(ctx, dir, s.env, "go", "build", "-o", os.DevNull, "."); err != nil {
		return err
	}
	return s.siblings(ctx, dir)
}

// siblings checks that all siblings in the module graph have the same version.
func (s stranger) siblings(ctx context.Context, dir string) error {
	graph, err := command(ctx, dir, s.env, "go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "all")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(graph, "\n") {
		path, version, _ := strings.Cut(line, " ")
		for _, m := range s.list {
			if m.path == path && version != s.version {
				return fmt.Errorf("the graph has %s at %q", path, version)
			}
		}
	}
	return nil
}

// builds builds a program from its source only.
func (s stranger) builds(ctx context.Context, file string) error {
	dir, err := s.empty(ctx, "readme")
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), raw, 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", os.DevNull, "."}} {
		if _, err := command(ctx, dir, s.env, "go", args...); err != nil {
			return err
		}
	}
	return s.siblings(ctx, dir)
}
