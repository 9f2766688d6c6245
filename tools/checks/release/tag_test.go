package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Three modules of a workspace. One of them is used only by its own tests. The program is in app.
var files = map[string]string{
	"go.work": "go 1.26.0\n\nuse (\n\t./app\n\t./conformance/kit\n\t./conformance/proof\n\t./core\n)\n",
	"core/go.mod": "module example.org/x/core\n\ngo 1.26.0\n\n" +
		"require example.org/x/conformance/kit v0.0.0\n\nreplace example.org/x/conformance/kit => ../conformance/kit\n",
	"core/core.go":           "package core\n\nfunc Name() string { return \"core\" }\n",
	"core/core_test.go":      "package core\n\nimport _ \"example.org/x/conformance/kit\"\n",
	"conformance/kit/go.mod": "module example.org/x/conformance/kit\n\ngo 1.26.0\n",
	"conformance/kit/kit.go": "package kit\n",
	"conformance/proof/go.mod": "module example.org/x/conformance/proof\n\ngo 1.26.0\n\n" +
		"require example.org/x/core v0.0.0\n\nreplace example.org/x/core => ../../core\n",
	"conformance/proof/proof.go": "package proof\n\nimport _ \"example.org/x/core\"\n",
	"app/go.mod": "module example.org/x/app\n\ngo 1.26.0\n\nrequire example.org/x/core v0.0.0\n\n" +
		"replace example.org/x/core => ../core\n\nreplace example.org/x/conformance/kit => ../conformance/kit\n",
	"app/main.go": "package main\n\nimport \"example.org/x/core\"\n\nfunc main() { println(core.Name()) }\n",
	"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- Later\n\n## 0.1.0 (2026-01-31)\n\n" + notes +
		"\n## 0.0.9 (2026-01-01)\n\n- Before\n\n## 0.0.8 (2025-12-31)\n",
}

// notes are the release notes of version 0.1.0.
const notes = "### Added\n\n- A program\n"

// checkout creates a repository with these files, and the program link.
func checkout(t *testing.T) (root, link string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		write(t, root, name, text)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch", "main"},
		{"config", "user.name", "t"}, {"config", "user.email", "t@example.org"},
		{"add", "."}, {"commit", "--quiet", "--message", "all"},
	} {
		do(t, root, nil, "git", args...)
	}
	return root, linkProgram(t)
}

func linkProgram(t *testing.T) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	do(t, top+"/tools", []string{"GOWORK=off"}, "go", "build", "-o", link, "./link")
	return link
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// command runs a program in a folder and returns its output.
func command(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

func do(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	out, err := command(t, dir, env, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// tag runs .ci/release.
func tag(t *testing.T, root, link, version string) (string, error) {
	t.Helper()
	script, err := filepath.Abs(top + "/.ci/release")
	if err != nil {
		t.Fatal(err)
	}
	return command(t, root, []string{"LINK=" + link}, script, version)
}

// TestTag: the tags of all published modules point to one commit. A new user can download and run the program
// of this commit. The branch does not change.
func TestTag(t *testing.T) {
	root, link := checkout(t)
	before := do(t, root, nil, "git", "rev-parse", "HEAD")
	said, err := tag(t, root, link, "v0.1.0")
	if err != nil {
		t.Fatal(err, said)
	}
	if got := do(t, root, nil, "git", "tag"); got != "app/v0.1.0\nconformance/kit/v0.1.0\ncore/v0.1.0\n" {
		t.Errorf("tags:\n%s", got)
	}
	for _, name := range []string{"app/v0.1.0", "core/v0.1.0"} {
		got := do(t, root, nil, "git", "tag", "--list", "--format", "%(contents)", name)
		if strings.TrimSpace(got) != name+"\n\n"+strings.TrimSpace(notes) {
			t.Errorf("the notes of %s:\n%s", name, got)
		}
	}
	if got := do(t, root, nil, "git", "log", "-1", "--format=%B", "core/v0.1.0"); !strings.Contains(got, notes) {
		t.Errorf("the notes of the commit:\n%s", got)
	}
	all := "push --atomic origin app/v0.1.0 conformance/kit/v0.1.0 core/v0.1.0\n"
	if !strings.Contains(said, all) {
		t.Errorf("it says:\n%s", said)
	}
	after := do(t, root, nil, "git", "rev-parse", "HEAD")
	if changed := do(t, root, nil, "git", "status", "--short"); after != before || changed != "" {
		t.Error("the branch has moved, or files have changed")
	}
	if got := do(t, root, nil, "git", "worktree", "list"); strings.Count(got, "\n") != 1 {
		t.Errorf("worktrees are left:\n%s", got)
	}

	proxy, tree := t.TempDir(), filepath.Join(t.TempDir(), "tree")
	do(t, root, nil, "git", "clone", "--quiet", "--branch", "app/v0.1.0", root, tree)
	list := published(t, link, tree)
	publish(t, tree, proxy, "v0.1.0", list)
	env := []string{
		"GOWORK=off", "GOFLAGS=-modcacherw", "GOPROXY=file://" + proxy, "GONOSUMDB=example.org", "GOMODCACHE=" + t.TempDir(),
	}
	if got := do(t, t.TempDir(), env, "go", "run", "example.org/x/app@v0.1.0"); !strings.HasSuffix(got, "core\n") {
		t.Errorf("go run: %q", got)
	}
}

func TestNotReady(t *testing.T) {
	for _, row := range []struct {
		name, version string
		spoil         func(t *testing.T, root string)
		want          string
	}{
		{"no version", "0.1.0", nil, "is no version"},
		{"a build", "v0.1.0+x", nil, "is no version"},
		{"a second major version", "v2.0.0", nil, "other module paths"},
		{"no section in the changelog", "v0.3.0", nil, "CHANGELOG.md has no section"},
		{"no entry in the changelog", "v0.0.8", nil, "with entries"},
		{"another version with this beginning", "v0.1.0-rc.1", nil, "CHANGELOG.md has no section"},
		{"a change", "v0.1.0", func(t *testing.T, root string) {
			write(t, root, "core/new.go", "package core\n")
		}, "core/new.go"},
		{"a replace line of another project", "v0.1.0", func(t *testing.T, root string) {
			write(t, root, "core/go.mod", files["core/go.mod"]+"\nreplace example.com/a => example.com/b v1.0.0\n")
			do(t, root, nil, "git", "commit", "--quiet", "--all", "--message", "replace")
		}, "core/go.mod:7:replace example.com/a"},
		{"a tag", "v0.1.0", func(t *testing.T, root string) {
			do(t, root, nil, "git", "tag", "core/v0.1.0")
		}, "has been tagged"},
	} {
		t.Run(row.name, func(t *testing.T) {
			root, link := checkout(t)
			if row.spoil != nil {
				row.spoil(t, root)
			}
			before := do(t, root, nil, "git", "tag")
			said, err := tag(t, root, link, row.version)
			if err == nil || !strings.Contains(said, row.want) {
				t.Errorf("error %v, want one that says %q: %s", err, row.want, said)
			}
			if got := do(t, root, nil, "git", "tag"); got != before {
				t.Errorf("tags were made: %s", got)
			}
		})
	}
}

func TestMain(m *testing.M) {
	if _, err := exec.LookPath("git"); err != nil {
		panic("these tests need git: apt-get install git")
	}
	os.Exit(m.Run())
}
