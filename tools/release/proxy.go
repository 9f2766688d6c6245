package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// trial returns a version that depends on the content, so that a cache never contains another module under this
// version.
func trial(root string, list []mod) (string, error) {
	sum := sha256.New()
	for _, m := range list {
		err := create(sum, module.Version{Path: m.path, Version: "v0.0.0"}, filepath.Join(root, m.dir))
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("v0.0.1-check.%x", sum.Sum(nil)[:6]), nil
}

// publish writes modules into a folder in the form of a module proxy (https://go.dev/ref/mod#goproxy-protocol).
func publish(root, proxy, version string, list []mod) error {
	for _, m := range list {
		path, err := module.EscapePath(m.path)
		if err != nil {
			return err
		}
		dir := filepath.Join(proxy, path, "@v")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		gomod, err := os.ReadFile(filepath.Join(root, m.dir, "go.mod"))
		if err != nil {
			return err
		}
		for name, text := range map[string][]byte{
			"list":            []byte(version + "\n"),
			version + ".info": fmt.Appendf(nil, `{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version),
			version + ".mod":  gomod,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				return err
			}
		}
		file, err := os.Create(filepath.Join(dir, version+".zip"))
		if err != nil {
			return err
		}
		err = create(file, module.Version{Path: m.path, Version: version}, filepath.Join(root, m.dir))
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("%s: %w", m.dir, err)
		}
	}
	return nil
}

// create writes the zip file of a module. x/mod omits nested modules.
func create(to interface{ Write([]byte) (int, error) }, m module.Version, dir string) error {
	return zip.CreateFromDir(to, m, dir)
}

// forget removes the trial version from the module cache.
func forget(cache, version string, list []mod) error {
	var all []error
	for _, m := range list {
		path, err := module.EscapePath(m.path)
		if err != nil {
			return err
		}
		all = append(all, os.RemoveAll(filepath.Join(cache, path+"@"+version)))
		files, err := filepath.Glob(filepath.Join(cache, "cache", "download", path, "@v", version+".*"))
		all = append(all, err)
		for _, file := range files {
			all = append(all, os.Remove(file))
		}
	}
	return errors.Join(all...)
}
