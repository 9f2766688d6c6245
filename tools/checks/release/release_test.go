// Package release tests the tags of .ci/release, and a version before it exists.
package release

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const top = "../../.."

var check = flag.Bool("check", false, "publish the working copy into a folder, and use every module from there")

// mod is a published module.
type mod struct{ dir, path string }

// published returns the modules that get a tag.
func published(t *testing.T, link, root string) (list []mod) {
	t.Helper()
	for _, dir := range strings.Fields(do(t, root, nil, link, "-published")) {
		raw, err := os.ReadFile(filepath.Join(root, dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, mod{dir, modfile.ModulePath(raw)})
	}
	return list
}

// user is a new user with empty folders, the go command and a module proxy.
type user struct {
	env  []string
	list []mod
}

// version is the version of the trial.
const version = "v0.0.1-check"

// TestRelease publishes the files of the working copy, committed or not, into a folder that is a module proxy. The module
// cache is empty at first. In empty folders without a workspace it downloads each module and compiles all its
// packages. It builds the program of the README, runs an example by its version, and runs latchkey by its version to
// write the starter of each router.
func TestRelease(t *testing.T) {
	if !*check {
		t.Skip("takes minutes: make release-check")
	}
	tree, proxy, link := t.TempDir(), t.TempDir(), linkProgram(t)
	copyTree(t, top, tree)
	list := published(t, link, tree)
	do(t, tree, nil, link, "-release", "-version", version)
	publish(t, tree, proxy, version, list)
	cache, others, _ := strings.Cut(strings.TrimSpace(do(t, ".", nil, "go", "env", "GOMODCACHE", "GOPROXY")), "\n")
	prefix := strings.TrimSuffix(list[0].path, list[0].dir)
	u := user{[]string{
		// The build cache has the packages of the previous run, because -trimpath removes the folder of the module cache.
		"GOWORK=off", "GOFLAGS=-modcacherw -trimpath -tags=nomsgpack", "GOMODCACHE=" + t.TempDir(),
		// The download cache of this machine is a module proxy too.
		"GOPROXY=" + fileURL(proxy) + "," + fileURL(filepath.Join(cache, "cache/download")) + "," + others,
		"GONOSUMDB=" + prefix + "*",
	}, list}
	for _, m := range list {
		t.Run(m.dir, func(t *testing.T) { u.get(t, m) })
	}
	t.Run("the program of the README", u.buildReadme)
	t.Run("the example", func(t *testing.T) { u.runExample(t, prefix+"examples/stdlib@"+version) })
	for _, router := range []string{"stdlib", "chi", "gin", "echo", "fiber", "echov4", "fiberv2"} {
		t.Run("latchkey new "+router, func(t *testing.T) { u.writeStarter(t, prefix+"cmd/latchkey@"+version, router) })
	}
}

func fileURL(path string) string { return "file://" + filepath.ToSlash(path) }

// writeStarter runs the program latchkey by its version, and vets and tests the site that it writes.
func (u user) writeStarter(t *testing.T, program, router string) {
	dir := filepath.Join(t.TempDir(), "site")
	do(t, t.TempDir(), u.env, "go", "run", program, "new", router, dir)
	do(t, dir, u.env, "go", "mod", "tidy")
	u.sameVersions(t, dir)
	for _, command := range []string{"vet", "test"} {
		do(t, dir, u.env, "go", command, "./...")
	}
}

// copyTree copies the files that git tracks, and new files that are not ignored.
func copyTree(t *testing.T, root, tree string) {
	t.Helper()
	names := do(t, root, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for _, name := range strings.Split(strings.TrimRight(names, "\x00"), "\x00") {
		raw, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, tree, name, string(raw))
	}
}

// newModule creates a folder with an empty module of the user.
func (u user) newModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	do(t, dir, u.env, "go", "mod", "init", "user.example/app")
	return dir
}

// get adds one module to an empty one, and compiles all its public packages there.
func (u user) get(t *testing.T, m mod) {
	dir := u.newModule(t)
	do(t, dir, u.env, "go", "get", m.path+"/...@"+version)
	packages := do(t, dir, u.env, "go", "list", "-f", `{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}`,
		m.path+"/...")
	program := "package main\n\nimport (\n"
	for _, path := range strings.Fields(packages) {
		if !strings.Contains(path+"/", "/internal/") {
			program += fmt.Sprintf("\t_ %q\n", path)
		}
	}
	write(t, dir, "main.go", program+")\n\nfunc main() {}\n")
	do(t, dir, u.env, "go", "build", "-o", os.DevNull, ".")
	u.sameVersions(t, dir)
}

// sameVersions checks that all siblings in the module graph have the same version.
func (u user) sameVersions(t *testing.T, dir string) {
	t.Helper()
	for line := range strings.Lines(do(t, dir, u.env, "go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "all")) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, m := range u.list {
			if m.path == path && version != version {
				t.Errorf("the graph has %s at %q", path, version)
			}
		}
	}
}

func (u user) buildReadme(t *testing.T) {
	dir := u.newModule(t)
	raw, err := os.ReadFile(top + "/examples/readme/main.go")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "main.go", string(raw))
	do(t, dir, u.env, "go", "mod", "tidy")
	do(t, dir, u.env, "go", "build", "-o", os.DevNull, ".")
	u.sameVersions(t, dir)
}

// runExample installs an example by its version, starts it, and requests its page.
func (u user) runExample(t *testing.T, path string) {
	dir := t.TempDir()
	do(t, dir, append(u.env, "GOBIN="+dir), "go", "install", path)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	example := exec.CommandContext(t.Context(), filepath.Join(dir, "stdlib"), "-addr", address, "-data", dir)
	example.Stderr = os.Stderr
	out, err := example.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := example.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = example.Process.Kill(), example.Wait() }()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == "Open" {
			response, err := http.Get(words[1])
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("the example responds with %s", response.Status)
			}
			return
		}
	}
	t.Error("the example ended")
}

// publish writes modules into a folder in the form of a module proxy (https://go.dev/ref/mod#goproxy-protocol).
func publish(t *testing.T, root, proxy, version string, list []mod) {
	t.Helper()
	for _, m := range list {
		gomod, err := os.ReadFile(filepath.Join(root, m.dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		dir := m.path + "/@v/" // the paths have no capital letters, which a proxy would escape
		write(t, proxy, dir+"list", version+"\n")
		write(t, proxy, dir+version+".info", fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version))
		write(t, proxy, dir+version+".mod", string(gomod))
		var file strings.Builder
		pack(t, &file, m, root, version)
		write(t, proxy, dir+version+".zip", file.String())
	}
}

// pack writes the zip file of a module. x/mod omits nested modules.
func pack(t *testing.T, to io.Writer, m mod, root, version string) {
	t.Helper()
	err := zip.CreateFromDir(to, module.Version{Path: m.path, Version: version}, filepath.Join(root, m.dir))
	if err != nil {
		t.Fatalf("%s: %v", m.dir, err)
	}
}
