package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// starters has the files that all starters share, one of each router, which becomes main.go, and the test of it. The go
// command leaves a folder alone whose name begins so: a program that only the tests compile brings no router into this
// module.
//
//go:embed _starters/*.go
var starters embed.FS

// files are those of a starter.
var files = []string{"auth.go", "page.go", "main.go", "main_test.go"}

// source is the text of a file of the starter for a router.
func source(router, file string) ([]byte, error) {
	switch {
	case file == "main.go":
		file = router + ".go"
	case file == "main_test.go" && router == "fiber": // its application is no http.Handler
		file = "fiber_test.go"
	case file == "main_test.go":
		file = "site_test.go"
	}
	return starters.ReadFile(path.Join("_starters", file))
}

var routers = []string{"stdlib", "gin", "echo", "fiber"}

// begin writes the starter for a router into a folder in which no file of it is yet. Without a version to ask for, in a
// clone, it takes the modules of the clone.
func begin(out io.Writer, router, folder, version string) error {
	if !slices.Contains(routers, router) {
		return fmt.Errorf("there is no starter for %q: choose one of %s", router, strings.Join(routers, ", "))
	}
	if err := write(folder, router, version); err != nil {
		return err
	}
	from := ""
	if version == "" {
		var err error
		if from, err = clone(); err == nil && from != "" {
			err = followClone(folder, from)
		}
		if err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, next(router, folder, from))
	return err
}

// write writes the files, and never over one that is there.
func write(folder, router, version string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, file := range append([]string{"go.mod", "go.work", "go.work.sum"}, files...) {
		if _, err := os.Lstat(filepath.Join(folder, file)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already: choose a new folder", filepath.Join(folder, file))
		}
	}
	for _, file := range files {
		text, err := source(router, file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, file), text, 0o644); err != nil {
			return err
		}
	}
	gomod := "module " + module(folder) + "\n\ngo 1.26.0\n"
	if version != "" {
		gomod += "\nrequire github.com/latchkey-go/latchkey/core " + version + "\n"
	}
	return os.WriteFile(filepath.Join(folder, "go.mod"), []byte(gomod), 0o644)
}

// next says what to type, in a folder that takes the modules of a clone or, where that is empty, published ones.
func next(router, folder, clone string) string {
	tags, modules, note := "", "  go mod tidy\n", ""
	if router == "gin" {
		tags = " -tags nomsgpack" // a quarter of the compiling is gin's coder of MessagePack
	}
	if clone != "" {
		modules, note = "", "\ngo.work has it use the modules of "+clone+".\n"
	}
	return fmt.Sprintf(`Written. Next:

  cd %[1]s
%[3]s  export AUTH_SECRET=$(openssl rand -base64 33)
  export ADMIN_EMAIL=you@example.com
  go run%[2]s .

Then open http://localhost:3000 and sign up; the letter is in http://localhost:3000/mailbox.
go run%[2]s . doctor says what is wrong with the configuration, go test%[2]s tries the pages. The first start compiles
for a minute or so.
%[4]s`, folder, tags, modules, note)
}

// module is the module path for a folder: its name, without what no path may have.
func module(folder string) string {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return "app"
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return -1
	}, strings.ToLower(filepath.Base(absolute)))
	if name = strings.Trim(name, "-_"); name == "" {
		return "app"
	}
	return name
}

// built is the version of this program, which go.mod of a starter asks for too; empty when it was built from a
// checkout.
func built() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || !strings.HasPrefix(info.Main.Version, "v") || strings.Contains(info.Main.Version, "+") {
		return ""
	}
	return info.Main.Version
}
