// Command link maintains the require and replace lines between the modules of this repository.
//
// go mod tidy ignores go.work, so every module must declare where its siblings are. For each module of the workspace,
// link writes into go.mod
//
//   - a require line for each sibling that its packages or tests import, and an indirect one for each sibling that
//     these imports reach, as go mod tidy expects;
//   - a replace line for each sibling that can be reached, including through tests of siblings, because the go command
//     loads the go.mod files of the whole graph and cannot download an unpublished one.
//
// It also lists every module of the repository in go.work, except those in tools/. It never changes lines about other
// modules.
//
// crosslink (go.opentelemetry.io/build-tools) maintains replace lines and go.work too. But it only follows existing
// require lines, has no check mode, and needs a module at the root. Therefore it cannot replace this program.
//
//	link           writes what differs
//	link -check    writes nothing, prints the differences, exits with 1
//	link -list     writes nothing, prints the folders of all modules, each
//	               after those it imports, which is the order for go mod tidy
//	link -published
//	               writes nothing, prints the folders of the modules that get
//	               a tag: all outside conformance, and those they require
//	link -release -version v1.2.3
//	               removes the replace lines, for a tagged commit: the go
//	               command cannot run a program of a module with replace lines
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "write nothing; print differences and exit with 1 if there are any")
	listOnly := flag.Bool("list", false, "write nothing; print the folders of all modules, each after those it imports")
	publishedOnly := flag.Bool("published", false, "write nothing; print the folders of the modules that get a tag")
	root := flag.String("root", ".", "directory of go.work")
	version := flag.String("version", "v0.0.0", "version of the required siblings")
	release := flag.Bool("release", false, "remove the replace lines of siblings, for a commit that is tagged")
	flag.Parse()

	if *listOnly || *publishedOnly {
		if err := list(os.Stdout, *root, *publishedOnly); err != nil {
			fmt.Fprintln(os.Stderr, "link:", err)
			os.Exit(1)
		}
		return
	}
	stale, err := run(os.Stdout, *root, *version, *check, *release)
	if err != nil {
		fmt.Fprintln(os.Stderr, "link:", err)
		os.Exit(1)
	}
	if stale && *check {
		fmt.Fprintln(os.Stderr, "link: sibling lines are not current: run make link")
		os.Exit(1)
	}
}

// run updates every file. If check is set, it only prints the differences. It reports whether there were any.
func run(out io.Writer, root, version string, check, release bool) (stale bool, err error) {
	ws, err := readWorkspace(root)
	if err != nil {
		return false, err
	}
	ws.release = release
	edits := []edit{{filepath.Join(root, "go.work"), ws.editWork}}
	for _, m := range ws.modules {
		need, err := ws.need(m)
		if err != nil {
			return false, err
		}
		edits = append(edits, edit{
			filepath.Join(root, m.dir, "go.mod"),
			func(name string, old []byte) ([]byte, error) { return ws.editMod(m, need, version, name, old) },
		})
	}
	for _, e := range edits {
		changed, err := e.apply(out, check)
		if err != nil {
			return stale, err
		}
		stale = stale || changed
	}
	return stale, nil
}

// list prints the folders of all modules, or of those that get a tag. Each one follows the modules that its packages
// and tests import, unless tests import each other in a cycle.
func list(out io.Writer, root string, published bool) error {
	ws, err := readWorkspace(root)
	if err != nil {
		return err
	}
	seen := map[*module]bool{}
	var visit func(m *module) error
	visit = func(m *module) error {
		if seen[m] {
			return nil
		}
		seen[m] = true
		siblings, err := ws.direct(m)
		if err != nil {
			return err
		}
		for _, s := range keys(siblings) {
			if err := visit(s); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintln(out, m.dir)
		return err
	}
	for _, m := range ws.modules {
		if published && strings.HasPrefix(m.dir, "conformance/") {
			continue // unless another module requires it
		}
		if err := visit(m); err != nil {
			return err
		}
	}
	return nil
}

// edit is a change of one file.
type edit struct {
	file   string
	change func(name string, old []byte) ([]byte, error)
}

// apply applies the change, and reports whether the file differed. If check is set, it prints the difference instead.
func (e edit) apply(out io.Writer, check bool) (changed bool, err error) {
	old, err := os.ReadFile(e.file)
	if err != nil {
		return false, err
	}
	updated, err := e.change(e.file, old)
	if err != nil || bytes.Equal(old, updated) {
		return false, err
	}
	if check {
		diff := exec.Command("diff", "-u", e.file, "-")
		diff.Stdin, diff.Stdout = bytes.NewReader(updated), out
		_ = diff.Run() // its status is that the files differ
		return true, nil
	}
	_, _ = fmt.Fprintln(out, "wrote", e.file)
	return true, os.WriteFile(e.file, updated, 0o644)
}
