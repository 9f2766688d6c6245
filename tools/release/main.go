// Command release creates the commit and the tags of a version, and tests a version before it exists.
//
//	release -version v1.2.3          a commit next to the branch, and a tag for each module; pushes nothing
//	release -check                   what a new user does, with a local module proxy
//
// On the branch every module requires its siblings at v0.0.0 and finds them with replace lines. The go command cannot
// run a program of a module with replace lines. Therefore the tagged commit is a separate one, in which link has
// written the version and removed the replace lines.
//
// The check uses the files of the working tree, committed or not. In empty folders without a workspace it downloads
// each module, compiles all its packages, builds the program of the README, and runs an example by its version.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"golang.org/x/mod/semver"
)

func main() {
	version := flag.String("version", "", "version to create, such as v1.2.3")
	check := flag.Bool("check", false, "create nothing: publish into a local folder and use it")
	root := flag.String("root", ".", "directory of go.work")
	link := flag.String("link", ".bin/link", "the program tools/link")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *root, *link, *version, *check); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, link, version string, check bool) error {
	link, err := filepath.Abs(link)
	if err != nil {
		return err
	}
	if check {
		return try(ctx, os.Stdout, root, link)
	}
	if semver.Canonical(version) != version || semver.Major(version) > "v1" || semver.Build(version) != "" {
		return fmt.Errorf("%q is no version such as v0.1.0 or v1.2.3-rc.1, and v2 would need other module paths", version)
	}
	return tag(ctx, os.Stdout, root, link, version)
}
