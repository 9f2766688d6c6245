package pages

import (
	"errors"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const house = "github.com/latchkey-go/latchkey/"

// workspace contains the compiled imports of all blocks.
type workspace struct {
	fset     *token.FileSet
	importer types.Importer
	names    map[string]string // package paths by name
}

// inWorkspace returns the environment of go commands that use all modules.
func inWorkspace(t *testing.T) []string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(top, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "GOWORK="+file)
}

// goList runs go list in the workspace.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir, cmd.Env = top, inWorkspace(t)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v", strings.Join(args, " "), err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// packages returns the packages of the standard library and of the workspace, by name.
func packages(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, l := range goList(t, "-f", "{{.Name}} {{.ImportPath}}", "std", "work") {
		name, path, _ := strings.Cut(l, " ")
		if !strings.Contains(path, "internal") && !strings.HasPrefix(path, "vendor/") && name != "main" {
			names[name] = path
		}
	}
	return names
}

// open compiles the imports of the blocks.
func open(t *testing.T, all []unit) *workspace {
	t.Helper()
	w := &workspace{fset: token.NewFileSet(), names: packages(t)}
	wanted := map[string]bool{}
	for _, u := range all {
		files, err := parse(token.NewFileSet(), u, w.names)
		if err != nil {
			continue // check reports it
		}
		for _, f := range files {
			for _, i := range f.Imports {
				wanted[strings.Trim(i.Path.Value, `"`)] = true
			}
		}
	}
	w.importer = imports(t, w.fset, slices.Sorted(maps.Keys(wanted)))
	return w
}

// imports reads compiled packages from the build cache. An unknown package is an error of the block that imports it.
func imports(t *testing.T, fset *token.FileSet, paths []string) types.Importer {
	t.Helper()
	compiled := map[string]string{}
	for _, l := range goList(t, append([]string{"-e", "-export", "-f", "{{.ImportPath}} {{.Export}}"}, paths...)...) {
		path, file, _ := strings.Cut(l, " ")
		compiled[path] = file
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if compiled[path] == "" {
			return nil, errors.New("not a package of the workspace or its dependencies")
		}
		return os.Open(compiled[path])
	})
}

// TestWrongBlocksAreFound tests a page for each kind of error.
func TestWrongBlocksAreFound(t *testing.T) {
	t.Parallel()
	const begin, end = "```go\n", "\n```\n"
	const imports = begin + "core.New(core.Config{})\nos.Exit(1)\ncontext.Canceled" + end + "```templ\n@ui.Avatar()" + end
	w := open(t, units(blocksOf(page{"docs/page.md", read(imports)})))
	for _, c := range []struct {
		name, text string
		wrong      int
	}{
		{"statements", begin + "auth, err := core.New(core.Config{Store: store, …})" + end, 0},
		{"declarations", begin + "func f(ctx context.Context) {}\n\ntype App struct{ Role string }" + end, 0},
		{"values in a list", begin + "core.Config{CSRF: core.CSRFTokenOrSameOrigin()}\ncore.NewID()" + end, 0},
		{"fields", "<!-- go: in core.Config -->\n" + begin + `URL: "https://app.example",` + end, 0},
		{"a name that the page gives", "<!-- go: n int -->\n\n" + begin + "n++" + end, 0},
		{"a program in two blocks", begin + "package main\n\nfunc main() { f() }" + end +
			begin + "package main\n\nfunc f() {}" + end, 0},
		{"two programs", begin + "package main\n\nfunc main() {}" + end +
			begin + "package main\n\nfunc main() {}" + end, 0},

		{"components", "```templ\ntempl Nav(s *core.Session) {\n\t@ui.SignOut()\n}" + end, 0},
		{"elements", "<!-- go: who string -->\n```templ\n<p>{ who }</p>\n@ui.Avatar()" + end, 0},

		{"a component that is not there", "```templ\n@ui.SignedIn2()" + end, 1},
		{"what is no templ", "```templ\ntempl Nav( {\n}" + end, 1},
		{"a field that is not there", begin + "core.Config{Sotre: store}" + end, 1},
		{"a name that nobody gives", begin + "n++" + end, 1},
		{"the comment of another block", "<!-- go: n int -->\n" + begin + "n++" + end + begin + "n--" + end, 1},
		{"what is no Go", begin + "a := := 1" + end, 1},
		{"a function that is not there", begin + "core.News()" + end, 1},
		{"a program that does not use an import", begin + "package main\n\nimport \"os\"\n\nfunc main() {}" + end, 1},
		{"a program without one", begin + "package main\n\nfunc main() { os.Exit(1) }" + end, 1},
		{"a package that is not there", begin + "package main\n\nimport _ \"example.com/gone\"\n\nfunc main() {}" + end, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := []string(nil)
			for _, u := range units(blocksOf(page{"docs/page.md", read(c.text)})) {
				found = append(found, check(u, w)...)
			}
			if len(found) != c.wrong {
				t.Errorf("%d found, want %d: %v", len(found), c.wrong, found)
			}
		})
	}
}
