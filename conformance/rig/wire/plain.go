package wire

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Plain builds the program of the current folder without the race detector, as a file in dir, and returns its path.
//
// It is for tests that ask hundreds of questions one after the other, where the detector finds nothing more and makes
// each of them cost as much as five.
func Plain(ctx context.Context, dir string) (program string, err error) {
	program = filepath.Join(dir, "plain")
	build := exec.CommandContext(ctx, "go", "build", "-race=false", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}
