package engines

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Absent ends a test whose other side is not there: it skips, or fails where LATCHKEY_TEST_REQUIRE is "all". hint says
// how to get it.
func Absent(t testing.TB, hint string) {
	t.Helper()
	if os.Getenv("LATCHKEY_TEST_REQUIRE") == "all" {
		t.Fatal(hint)
	}
	t.Skip(hint)
}

// Node starts a program for Node.js, whose package.json and lock file lie beside it, and ends it with the test. What
// the lock file names is installed first. It returns what the program prints on its first line: its address.
func Node(t testing.TB, program string, args ...string) (address string) {
	t.Helper()
	Packages(t, filepath.Dir(program))
	return Peer(t, exec.CommandContext(t.Context(), "node", append([]string{program}, args...)...))
}

// Packages installs what the lock file of a folder names, unless it was done since that file changed.
func Packages(t testing.TB, dir string) {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			Absent(t, dir+" needs node and npm: apt-get install -y --no-install-recommends nodejs npm")
		}
	}
	if err := installPackages(dir); err != nil {
		Absent(t, err.Error())
	}
}

// Peer starts a program that prints its address on its first line, and ends it with the test. Its standard input stays
// open: it should end when that closes, should this process not live to kill it.
func Peer(t testing.TB, command *exec.Cmd) (address string) {
	t.Helper()
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.StdoutPipe()
	check(t, err)
	input, err := command.StdinPipe()
	check(t, err)
	check(t, command.Start())
	drained := make(chan struct{})
	t.Cleanup(func() {
		_ = input.Close()
		_ = command.Process.Kill()
		<-drained
		_ = command.Wait()
		if t.Failed() {
			t.Logf("the peer said: %s", complaints.String())
		}
	})
	line := make(chan string, 1)
	go func() {
		defer close(drained)
		reader := bufio.NewReader(out)
		first, _ := reader.ReadString('\n')
		line <- strings.TrimSpace(first)
		_, _ = io.Copy(io.Discard, reader)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case address = <-line:
	case <-ctx.Done():
	}
	if !strings.HasPrefix(address, "http") {
		t.Fatalf("%s does not start: it says %q", command.Path, address)
	}
	return address
}

// installed are the folders whose packages are there.
var installed sync.Map // of func() error, by folder

// installPackages installs what a folder's lock file names, once in a process, and not where it has been done before.
func installPackages(dir string) error {
	install, _ := installed.LoadOrStore(dir, sync.OnceValue(func() error {
		there, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json"))
		wanted, missing := os.Stat(filepath.Join(dir, "package-lock.json"))
		if err == nil && missing == nil && !wanted.ModTime().After(there.ModTime()) {
			return nil
		}
		command := exec.CommandContext(context.Background(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("npm ci in %s: %w\n%s", dir, err, tail(out))
		}
		return nil
	}))
	return install.(func() error)()
}
