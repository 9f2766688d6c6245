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
	"syscall"
	"testing"
)

// Absent ends a test whose peer program is not installed. It skips the test, or fails it if LATCHKEY_TEST_REQUIRE is
// "all". hint describes the installation.
func Absent(t testing.TB, hint string) {
	t.Helper()
	if os.Getenv("LATCHKEY_TEST_REQUIRE") == "all" {
		t.Fatal(hint)
	}
	t.Skip(hint)
}

// Node starts a program for Node.js, with a package.json and a lock file in its folder, and stops it when the test
// ends. It installs the packages of the lock file first. It returns the first line that the program prints: its
// address.
func Node(t testing.TB, program string, args ...string) (address string) {
	t.Helper()
	Packages(t, filepath.Dir(program))
	return Peer(t, exec.CommandContext(t.Context(), "node", append([]string{program}, args...)...))
}

// Packages installs the packages of a folder's lock file, unless they are up to date.
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

// Peer starts a program that prints its address in its first line, and stops it when the test ends. Its standard input
// stays open. The program should exit when it closes, in case this process cannot stop it.
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

// installed are the folders with installed packages.
var installed sync.Map // func() error by folder

// installPackages installs the packages of a folder's lock file, once per process and only if they are missing or out
// of date. Another process that needs them waits.
func installPackages(dir string) error {
	install, _ := installed.LoadOrStore(dir, sync.OnceValue(func() error {
		folder, err := os.Open(dir)
		if err != nil {
			return err
		}
		defer func() { _ = folder.Close() }() // this unlocks it
		if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
			return fmt.Errorf("lock %s: %w", dir, err)
		}
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
