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

// starters contains the files that all starters share, one file for each router (it becomes site.go), and their tests.
// The go command ignores a folder whose name begins with an underscore, so the routers are not dependencies of this
// module.
//
//go:embed _starters/*.go
var starters embed.FS

// ignored is the .gitignore of a starter.
const ignored = `# The development secret
.env
# The database, which has password hashes and sessions
*.bolt
*.db
*.db-*
# Paths of this machine
go.work
go.work.sum
`

// variablesFile returns the .env of a starter, with a new secret.
func variablesFile() string {
	return `# Variables for development. A program built with -tags production does not read this file, nor does one whose
# AUTH_URL or AUTH_TRUST_HOST says that the site is public. Do not commit it, and do not use this secret in
# production: latchkey secret prints another one.
AUTH_SECRET=` + newSecret() + `
# The user with this address is the administrator, once it is verified.
ADMIN_EMAIL=ada@example.com
# Sign-in with GitHub: latchkey provider add github prints how to get these two.
# AUTH_GITHUB_ID=
# AUTH_GITHUB_SECRET=
`
}

// files are the Go files of a starter. Only develop.go contains code for development, and only without the build tag
// production.
var files = []string{"auth.go", "page.go", "main.go", "site.go", "develop.go", "production.go", "main_test.go"}

// source returns the text of a file of a router's starter.
func source(router, file string) ([]byte, error) {
	switch {
	case file == "site.go":
		file = router + ".go"
	case file == "main_test.go" && strings.HasPrefix(router, "fiber"): // a fiber.App is not an http.Handler
		file = router + "_test.go"
	case file == "main_test.go":
		file = "site_test.go"
	}
	return starters.ReadFile(path.Join("_starters", file))
}

// routers have a starter. The starter of echo is for version 5 and that of fiber for version 3.
var routers = []string{"stdlib", "chi", "gin", "echo", "fiber", "echov4", "fiberv2"}

// begin writes the starter for a router into a folder, and overwrites no file. The starter requires the modules of this
// version. If version is empty, it uses the modules of a clone, see [clone].
func begin(out io.Writer, router, folder, version string) error {
	if !slices.Contains(routers, router) {
		return fmt.Errorf("no starter for %q: choose one of %s", router, strings.Join(routers, ", "))
	}
	from := ""
	if version == "" {
		var err error
		if from, err = clone(); err != nil {
			return err
		}
		if from == "" {
			return fmt.Errorf("no version of Latchkey is published yet, so a starter needs the modules of the clone in "+
				"which this program was built, and it is not there any more: run this command in a folder of a clone, as in "+
				"\"go run ./cmd/latchkey new %s ../hello\"", router)
		}
	}
	if err := write(folder, router, version); err != nil {
		return err
	}
	if from != "" {
		if err := followClone(folder, from); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, next(router, folder, from))
	return err
}

// listRouters prints the routers that have a starter.
func listRouters(out io.Writer) error {
	text := "latchkey new ROUTER FOLDER writes a site. The routers:\n\n"
	for _, router := range routers {
		text += "  latchkey new " + router + " hello\n"
	}
	_, err := io.WriteString(out, text)
	return err
}

// printVersion prints the version of this program.
func printVersion(out io.Writer, version string) error {
	if version == "" {
		version = "no published version: built from a clone"
	}
	_, err := io.WriteString(out, version+"\n")
	return err
}

// write writes the files. It never overwrites a file.
func write(folder, router, version string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, file := range append([]string{"go.mod", "go.work", "go.work.sum", ".gitignore", ".env"}, files...) {
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
	if err := errors.Join(
		os.WriteFile(filepath.Join(folder, ".gitignore"), []byte(ignored), 0o644),
		os.WriteFile(filepath.Join(folder, ".env"), []byte(variablesFile()), 0o600),
	); err != nil {
		return err
	}
	gomod := "module " + module(folder) + "\n\ngo 1.26.0\n"
	if version != "" {
		gomod += "\nrequire github.com/latchkey-go/latchkey/core " + version + "\n"
	}
	return os.WriteFile(filepath.Join(folder, "go.mod"), []byte(gomod), 0o644)
}

// next returns the next steps. If clone is empty, the folder uses published modules, otherwise the clone's.
func next(router, folder, clone string) string {
	tags, modules, note := "", "  go mod tidy\n", ""
	if router == "gin" {
		tags = " -tags nomsgpack" // skips gin's MessagePack support, a quarter of the compile time
	}
	if clone != "" {
		modules, note = "", "\ngo.work selects the modules of "+clone+".\n"
	}
	return fmt.Sprintf(`Created. Next steps:

  cd %[1]s
%[3]s  go run%[2]s .

Then open http://localhost:3000 and sign up; the email is at http://localhost:3000/mailbox.
For a server, build with -tags production: emails are then sent with the mail server in EMAIL_SERVER.
.env has a secret for development, and the address of the administrator. go run%[2]s . doctor checks the configuration,
go test%[2]s tests the pages. The first build takes about a minute.
%[4]s`, folder, tags, modules, note)
}

// module returns the module path for a folder: its name without characters that are invalid in a path.
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

// built returns the published version of this program. A starter's go.mod requires the same version.
func built() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return published(info.Main)
}

// published returns the version of a downloaded module, and "" for a build in a clone. The go command gives that build
// a version too, from the commit, but no checksum.
func published(module debug.Module) string {
	if module.Sum == "" || !strings.HasPrefix(module.Version, "v") {
		return ""
	}
	return module.Version
}
