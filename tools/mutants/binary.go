package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// binary is a compiled test that contains several changes.
type binary struct {
	top, dir string // of the repository, and of this binary
	folder   string // of the changed package
	tests    string // the package that contains these tests
	pattern  string
	guards   map[int]guard
	// outside are the changes that are in no function. broken are the compiler's errors by change.
	outside []int
	broken  map[int]string
	// reached are the tests that call the changed function, the fastest ones first.
	reached map[int][]string
}

func (b *binary) path() string { return filepath.Join(b.dir, "tests") }

// build compiles repeatedly, each time without the changes that do not compile.
func (b *binary) build(ctx context.Context) error {
	b.broken = map[int]string{}
	for range 5 {
		overlay, err := b.overlay()
		if err != nil {
			return err
		}
		said, err := b.compile(ctx, overlay, b.path())
		if err == nil {
			return nil
		}
		if !b.blame(said) {
			return fmt.Errorf("%s does not compile: %s", b.tests, said)
		}
	}
	return errors.New("too many changes do not compile")
}

func (b *binary) compile(ctx context.Context, overlay map[string]string, into string) (said string, err error) {
	raw, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return "", err
	}
	list := into + ".json"
	if err := os.WriteFile(list, raw, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s", "-gcflags=-e", "-overlay", list,
		"-o", into, "./"+b.tests)
	cmd.Dir = b.top
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var blamed = regexp.MustCompile(`mutant(\d+)\.go:(.*)`)

// blame records the changes that the compiler reports.
func (b *binary) blame(said string) (found bool) {
	for _, m := range blamed.FindAllStringSubmatch(said, -1) {
		if id, err := strconv.Atoi(m[1]); err == nil && b.broken[id] == "" {
			b.broken[id], found = m[2], true
		}
	}
	return found
}

// overlay writes the files that replace others for the compiler.
func (b *binary) overlay() (map[string]string, error) {
	changes := map[string]map[int]guardText{}
	for id, g := range b.guards {
		if b.broken[id] != "" {
			continue
		}
		change, err := g.change(b.top)
		if err != nil {
			return nil, err
		}
		if changes[g.file] == nil {
			changes[g.file] = map[int]guardText{}
		}
		changes[g.file][id] = change
	}
	overlay, name := map[string]string{}, ""
	b.outside = nil
	for _, file := range sorted(changes) {
		full, err := filepath.Abs(filepath.Join(b.top, file))
		if err != nil {
			return nil, err
		}
		raw, err := os.ReadFile(full)
		if err != nil {
			return nil, err
		}
		woven, outside, err := weave(string(raw), changes[file])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		b.outside = append(b.outside, outside...)
		overlay[full] = filepath.Join(b.dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(overlay[full], []byte(woven), 0o600); err != nil {
			return nil, err
		}
		name = regexp.MustCompile(`(?m)^package (\w+)`).FindStringSubmatch(string(raw))[1]
	}
	board := filepath.Join(b.dir, "switchboard.go")
	full, err := filepath.Abs(filepath.Join(b.top, b.folder, "mutants_switchboard.go"))
	if err != nil {
		return nil, err
	}
	overlay[full] = board
	return overlay, os.WriteFile(board, fmt.Appendf(nil, switchboard, name), 0o600)
}

// run runs tests with a change, and returns the one that failed, or "".
func (b *binary) run(ctx context.Context, program string, change int, tests []string, timeout time.Duration) string {
	cmd := exec.CommandContext(ctx, program, "-test.run", "^("+strings.Join(tests, "|")+")$", "-test.failfast",
		"-test.timeout", timeout.String())
	cmd.Dir, cmd.WaitDelay = filepath.Join(b.top, b.tests), 5*time.Second
	cmd.Env = append(os.Environ(), "LATCHKEY_MUTANT="+strconv.Itoa(change),
		"LATCHKEY_MUTANTS_REACHED="+b.reachedFile(tests[0]))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if cmd.Run() == nil {
		return ""
	}
	if strings.Contains(out.String(), "panic: test timed out") {
		return "the deadline"
	}
	if m := regexp.MustCompile(`--- FAIL: (\S+)`).FindAllStringSubmatch(out.String(), -1); len(m) > 0 {
		return m[len(m)-1][1]
	}
	return "the end of the process"
}

func (b *binary) reachedFile(test string) string {
	return filepath.Join(b.dir, "reached_"+path.Base(test))
}

// record runs each test without a change, and records the changed functions that it calls. A test that fails then would
// fail with every change.
func (b *binary) record(ctx context.Context, timeout time.Duration) error {
	cmd := exec.CommandContext(ctx, b.path(), "-test.list", or(b.pattern, "."))
	cmd.Dir = filepath.Join(b.top, b.tests)
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	b.reached = map[int][]string{}
	took := map[string]time.Duration{}
	for _, test := range strings.Fields(string(out)) {
		if !strings.HasPrefix(test, "Test") && !strings.HasPrefix(test, "Fuzz") && !strings.HasPrefix(test, "Example") {
			continue
		}
		began := time.Now()
		if failed := b.run(ctx, b.path(), -1, []string{test}, timeout); failed != "" {
			return fmt.Errorf("%s fails as the code is: %s", test, failed)
		}
		took[test] = time.Since(began)
		raw, err := os.ReadFile(b.reachedFile(test))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, line := range strings.Fields(string(raw)) {
			if id, err := strconv.Atoi(line); err == nil {
				b.reached[id] = append(b.reached[id], test)
			}
		}
	}
	for _, tests := range b.reached {
		slices.SortFunc(tests, func(x, y string) int { return int(took[x] - took[y]) })
	}
	for _, id := range b.outside {
		b.reached[id] = sortedBy(took)
	}
	return ctx.Err()
}
