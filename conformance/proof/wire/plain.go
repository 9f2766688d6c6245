package wire

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Plain builds the program of the current folder without the race detector, as a file in dir, and returns its path.
//
// It is for tests with hundreds of sequential requests. The race detector finds nothing more there and makes each
// request five times as expensive.
func Plain(ctx context.Context, dir string) (program string, err error) {
	return plain(ctx, dir, "build")
}

// PlainTest is [Plain] for the test program of the current folder.
func PlainTest(ctx context.Context, dir string) (program string, err error) {
	return plain(ctx, dir, "test", "-c", "-vet=off")
}

func plain(ctx context.Context, dir string, args ...string) (program string, err error) {
	program = filepath.Join(dir, "plain")
	build := exec.CommandContext(ctx, "go", append(args, "-o", program, ".")...)
	build.Env = append(os.Environ(), "GOFLAGS="+plainly(os.Getenv("GOFLAGS")))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, out)
	}
	return program, nil
}

var flag = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

// plainly removes the flags for test binaries from GOFLAGS, so that go build can reuse the packages that the tools have
// compiled.
func plainly(flags string) string {
	var kept []string
	for _, f := range flag.FindAllString(flags, -1) {
		switch name, _, _ := strings.Cut(strings.TrimLeft(f, `'"-`), "="); name {
		case "race", "gcflags", "ldflags":
		default:
			kept = append(kept, f)
		}
	}
	return strings.Join(kept, " ")
}
