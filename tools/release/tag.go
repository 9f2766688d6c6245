package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// tag creates the commit of a version and a tag for each module, and prints how to publish and how to undo it.
func tag(ctx context.Context, out io.Writer, root, link, version string) (err error) {
	git := func(dir string, args ...string) (string, error) {
		said, err := command(ctx, dir, nil, "git", args...)
		return strings.TrimSpace(said), err
	}
	if err := ready(root, version, git); err != nil {
		return err
	}
	tree, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	if _, err := git(root, "worktree", "add", "--detach", tree); err != nil {
		return err
	}
	defer func() {
		_, gone := git(root, "worktree", "remove", "--force", tree)
		err = errors.Join(err, gone)
	}()
	if _, err := command(ctx, tree, nil, link, "-release", "-version", version); err != nil {
		return err
	}
	list, err := published(tree)
	if err != nil {
		return err
	}
	if err := fit(tree, list, version); err != nil {
		return err
	}
	if _, err := git(tree, "commit", "--all", "--quiet", "--message", "release: "+version+"\n\n"+
		"Modules require each other at this version, and find each other by no replace lines."); err != nil {
		return err
	}
	var names []string
	for _, m := range list {
		name := m.dir + "/" + version
		if _, err := git(tree, "tag", "--annotate", "--message", name, name); err != nil {
			return fmt.Errorf("%w\nmade so far: git tag --delete %s", err, strings.Join(names, " "))
		}
		names = append(names, name)
	}
	all := strings.Join(names, " ")
	_, err = fmt.Fprintf(out, "Made, and pushed nowhere:\n\n  %s\n\nTo publish:   git push --atomic origin %s\n"+
		"To take back: git tag --delete %s\n", strings.Join(names, "\n  "), all, all)
	return err
}

// ready returns an error if the version cannot be tagged yet.
func ready(root, version string, git func(dir string, args ...string) (string, error)) error {
	changed, err := git(root, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("commit or remove first:\n%s", changed)
	}
	tags, err := git(root, "tag", "--list", "*/"+version)
	if err != nil {
		return err
	}
	if tags != "" {
		return fmt.Errorf("%s has been tagged: a version is made once, take the next one:\n%s", version, tags)
	}
	log, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if number := strings.TrimPrefix(version, "v"); !strings.Contains(string(log), "\n## "+number+" ") {
		return fmt.Errorf("CHANGELOG.md has no section %q: give Unreleased its number and date, and begin a new one",
			"## "+number+" (2026-01-31)")
	}
	return nil
}
