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
// It is for tests that ask hundreds of questions one after the other, where the detector finds nothing more and makes
// each of them cost as much as five.
func Plain(ctx context.Context, dir string) (program string, err error) {
	program = filepath.Join(dir, "plain")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "GOFLAGS="+plainly(os.Getenv("GOFLAGS")))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

var flag = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

// plainly leaves out of GOFLAGS how the programs of tests are compiled: what go build and the tools want compiled is
// compiled once for all of them.
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
