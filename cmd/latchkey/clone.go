package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// builtIn is the folder in which this command was built, or "" if it was built with -trimpath.
var builtIn = func() string {
	_, file, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(file) {
		return ""
	}
	return filepath.Dir(file)
}()

// clone returns the folder of the Latchkey clone in which the command runs, or in which it was built. It is empty if
// there is no such folder.
func clone() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if found, err := cloneAround(folder); found != "" || err != nil || builtIn == "" {
		return found, err
	}
	return cloneAround(builtIn)
}

// cloneAround returns the nearest folder around another one whose go.work lists this command.
func cloneAround(folder string) (string, error) {
	for {
		work, bad := workspace(folder)
		if bad != nil && !errors.Is(bad, fs.ErrNotExist) {
			return "", bad
		}
		if bad == nil && slices.Contains(uses(work), "./cmd/latchkey") {
			return folder, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", nil
		}
		folder = above
	}
}

func workspace(folder string) (*modfile.WorkFile, error) {
	file := filepath.Join(folder, "go.work")
	raw, err := os.ReadFile(file) //nolint:gosec // a parent of the developer's working directory
	if err != nil {
		return nil, err
	}
	return modfile.ParseWork(file, raw, nil)
}

func uses(work *modfile.WorkFile) (all []string) {
	for _, use := range work.Use {
		all = append(all, use.Path)
	}
	return all
}

// followClone writes a go.work, so that the starter compiles against the modules of the clone.
func followClone(folder, clone string) error {
	work, err := workspace(clone)
	if err != nil {
		return err
	}
	text := strings.Builder{}
	text.WriteString("// The modules of a clone, until there are published ones: then remove this file.\n\n")
	fmt.Fprintf(&text, "go %s\n\nuse .\n", work.Go.Version)
	for _, use := range uses(work) {
		fmt.Fprintf(&text, "use %s\n", modfile.AutoQuote(filepath.Join(clone, use)))
	}
	sums, err := os.ReadFile(filepath.Join(clone, "go.work.sum")) //nolint:gosec // the clone's own
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "go.work"), []byte(text.String()), 0o644),
		os.WriteFile(filepath.Join(folder, "go.work.sum"), sums, 0o644),
	)
}
