package browser_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// programs is the folder of the compiled examples. TestMain creates and removes it.
var programs string

// build compiles the examples once for all tests. They use the race detector if GOFLAGS contains it, as in make.
var build = sync.OnceValue(func() error {
	args := []string{"build", "-o", programs}
	for _, example := range append([]string{"board"}, examples...) {
		args = append(args, "./"+example)
	}
	command := exec.CommandContext(context.Background(), "go", args...)
	command.Dir = filepath.Join("..", "..", "..", "examples")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
})

// start runs an example with an empty database until the test ends, and returns its public address.
func start(t *testing.T, example string) (site string) {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	port := engines.FreePort(t) // the application must know its public address before it listens
	site = "http://localhost:" + port
	runs(t, site, example, "-addr", "127.0.0.1:"+port, "-data", filepath.Join(t.TempDir(), "data"))
	return site
}

// runs runs a program of the folder programs until the test ends. It returns when the program has printed its address.
func runs(t *testing.T, site, program string, args ...string) {
	t.Helper()
	run := exec.Command(filepath.Join(programs, program), args...)
	dieWithParent(run)
	var log bytes.Buffer // read it only after Wait
	run.Stderr = &log
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	listens, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		welcomed := false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if !welcomed && strings.Contains(lines.Text(), "Open  "+site) {
				welcomed = true
				close(listens)
			}
		}
	}()
	t.Cleanup(func() {
		_ = run.Process.Signal(os.Interrupt)
		force := time.AfterFunc(wait, func() { _ = run.Process.Kill() })
		defer force.Stop()
		<-ended
		err := run.Wait()
		if err != nil {
			t.Errorf("%s did not end well: %v", program, err)
		}
		if t.Failed() {
			t.Logf("%s logged:\n%s", program, log.String())
		}
	})

	select {
	case <-listens:
	case <-ended:
		t.Fatalf("%s ended before it listened", program)
	case <-time.After(wait):
		t.Fatalf("%s has not responded within %s", program, wait)
	}
}
