// Command link keeps the lines by which the modules of this repository find
// each other.
//
// go mod tidy ignores go.work, so every module must say for itself where its
// siblings are. For each module of the workspace, link writes into go.mod
//
//   - a require line for each sibling that its packages or tests import, and
//     an indirect one for each sibling that those imports lead to, which is
//     what go mod tidy wants to see;
//   - a replace line for each sibling that can be reached at all, the tests
//     of siblings included, because the go command loads the go.mod files of
//     the whole graph and an unpublished one cannot be fetched.
//
// It also lists every module of the repository in go.work, but for those
// under tools/. Lines about modules from elsewhere are never touched.
//
// crosslink (go.opentelemetry.io/build-tools) keeps replace lines and go.work
// too, but it follows the requires that are already there and writes none, and
// has no check that leaves the files alone. It also needs a module at the
// root, which is none here, so it would stand beside this program and not in
// its place.
//
//	link           writes what differs
//	link -check    writes nothing, prints the differences, exits with 1
//	link -list     writes nothing, prints the folders of all modules, each
//	               after those it imports, which is the order for go mod tidy
//	link -release -version v1.2.3
//	               removes the replace lines, for a commit that is tagged: the
//	               go command takes no program of a module that has some
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	check := flag.Bool("check", false, "write nothing; print differences and exit with 1 when there are any")
	listOnly := flag.Bool("list", false, "write nothing; print the folders of all modules, each after those it imports")
	root := flag.String("root", ".", "directory of go.work")
	version := flag.String("version", "v0.0.0", "version at which siblings are required")
	release := flag.Bool("release", false, "remove the replace lines of siblings, for a commit that is tagged")
	flag.Parse()

	if *listOnly {
		if err := list(os.Stdout, *root); err != nil {
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

// run brings every file up to date, or with check only prints what it would
// change. It reports whether anything differed.
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

// list prints the folders of all modules, each after those that its packages
// and tests import, as far as tests do not lead in a circle.
func list(out io.Writer, root string) error {
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
		if err := visit(m); err != nil {
			return err
		}
	}
	return nil
}

// edit is a change to one file.
type edit struct {
	file   string
	change func(name string, old []byte) ([]byte, error)
}

// apply reports whether the file differed.
func (e edit) apply(out io.Writer, check bool) (changed bool, err error) {
	// The go command may write the same file at the same moment (go get in
	// another terminal). Nothing of its work may be lost: write only over
	// what was read, and otherwise begin again.
	for range 10 {
		old, err := os.ReadFile(e.file)
		if err != nil {
			return false, err
		}
		updated, err := e.change(e.file, old)
		if err != nil {
			return false, err
		}
		if bytes.Equal(old, updated) {
			return false, nil
		}
		if check {
			fmt.Fprintf(out, "%s:\n%s", e.file, diff(string(old), string(updated)))
			return true, nil
		}
		switch err := replace(e.file, old, updated); {
		case errors.Is(err, errChanged):
			continue
		case err != nil:
			return false, err
		}
		fmt.Fprintln(out, "wrote", e.file)
		return true, nil
	}
	return false, fmt.Errorf("%s: %w again and again", e.file, errChanged)
}

var errChanged = errors.New("changed while it was being edited")

// replace puts updated in the place of a file that still reads old.
func replace(file string, old, updated []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".link-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // finds nothing after the rename
	_, err = tmp.Write(updated)
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	now, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, old) {
		return errChanged
	}
	return os.Rename(tmp.Name(), file)
}
