package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// clone returns the folder of the Latchkey clone in which the command runs: the nearest parent folder whose go.work
// lists this command. It is empty if there is no such folder.
func clone() (string, error) {
	folder, err := os.Getwd()
	for err == nil {
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
	return "", err
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
