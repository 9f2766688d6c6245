package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Four modules in a chain. The tests of store import kit. Therefore a module that imports store also reaches kit,
// although none of its packages imports it.
var chain = map[string]string{
	"go.work":         "go 1.26.0\n\nuse ./core\n\nuse ./gone\n",
	"core/go.mod":     "module example.org/x/core\n\ngo 1.26.0\n",
	"core/core.go":    "package core\n",
	"kit/go.mod":      "module example.org/x/kit\n\ngo 1.26.0\n",
	"kit/run/run.go":  "package run\n\nimport _ \"example.org/x/core\"\n",
	"store/go.mod":    "module example.org/x/store\n\ngo 1.26.0\n",
	"store/s.go":      "package store\n\nimport _ \"example.org/x/core\"\n",
	"store/s_test.go": "package store\n\nimport _ \"example.org/x/kit/run\"\n",
	"app/go.mod": "module example.org/x/app\n\ngo 1.26.0\n\nrequire example.com/other v1.2.3 // kept\n\n" +
		"require example.org/x/removed v0.0.0\n\nreplace example.org/x/removed => ../removed\n",
	"app/cmd/main.go":   "package main\n\nimport _ \"example.org/x/store\"\n",
	"app/generate.go":   "//go:build ignore\n\npackage main\n\nimport _ \"example.org/x/nothing\"\n",
	"app/testdata/t.go": "package t\n\nimport _ \"example.org/x/nothing\"\n",
	"tools/go.mod":      "module example.org/x/tools\n\ngo 1.26.0\n",
}

func TestLink(t *testing.T) {
	root := tree(t, chain)

	if stale, err := run(io.Discard, root, "v0.0.0", true, false); err != nil || !stale {
		t.Fatalf("check before: stale = %v, %v; want true", stale, err)
	}
	if _, err := run(io.Discard, root, "v0.0.0", false, false); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"go.work":     "go 1.26.0\n\nuse (\n\t./app\n\t./core\n\t./kit\n\t./store\n)\n",
		"core/go.mod": "module example.org/x/core\n\ngo 1.26.0\n",
		"app/go.mod": `module example.org/x/app

go 1.26.0

require example.com/other v1.2.3 // kept

require example.org/x/store v0.0.0

require example.org/x/core v0.0.0 // indirect

replace (
	example.org/x/core => ../core
	example.org/x/kit => ../kit
	example.org/x/store => ../store
)
`,
		"store/go.mod": `module example.org/x/store

go 1.26.0

require (
	example.org/x/core v0.0.0
	example.org/x/kit v0.0.0
)

replace (
	example.org/x/core => ../core
	example.org/x/kit => ../kit
)
`,
		"tools/go.mod": "module example.org/x/tools\n\ngo 1.26.0\n",
	}
	for name, want := range want {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	if stale, err := run(io.Discard, root, "v0.0.0", false, false); err != nil || stale {
		t.Errorf("second run: stale = %v, %v; want false", stale, err)
	}

	// A release changes only the versions.
	if _, err := run(io.Discard, root, "v1.0.0", false, false); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "store/go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(want["store/go.mod"], "v0.0.0", "v1.0.0"); string(got) != want {
		t.Errorf("after a release:\n%s", got)
	}

	// A tagged commit has no replace lines.
	if _, err := run(io.Discard, root, "v1.0.0", false, true); err != nil {
		t.Fatal(err)
	}
	if got, err = os.ReadFile(filepath.Join(root, "store/go.mod")); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(got), "replace") || !strings.Contains(string(got), "example.org/x/kit v1.0.0") {
		t.Errorf("for a tag:\n%s", got)
	}
}

func TestList(t *testing.T) {
	var got strings.Builder
	if err := list(&got, tree(t, chain), false); err != nil {
		t.Fatal(err)
	}
	if want := "core\nkit\nstore\napp\n"; got.String() != want {
		t.Errorf("list:\n%s", got.String())
	}
}

func TestLinkRefuses(t *testing.T) {
	tests := []struct {
		name, file, text, want string
	}{
		{"import of a module that is not there", "core/x.go",
			"package core\n\nimport _ \"example.org/x/nothing\"\n", "no module of the workspace provides"},
		{"module path that is not its folder", "store/go.mod", "module example.org/x/sqlite\n", "should end in its folder"},
		{"module path from elsewhere", "store/go.mod", "module example.com/y/store\n", "as those of its siblings"},
		{"go.mod that does not parse", "core/go.mod", "module example.org/x/core\n\nrequire\n", "core/go.mod"},
		{"source that does not parse", "core/x.go", "package core\n\nimport (\n", "core/x.go"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, chain)
			write(t, root, tt.file, tt.text)
			if _, err := run(io.Discard, root, "v0.0.0", true, false); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one that says %q", err, tt.want)
			}
		})
	}
}

// tree writes files into a new directory and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, root, name, text)
	}
	return root
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
