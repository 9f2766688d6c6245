package peers_test

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// run starts a peer that prints its address on its first line, and ends it with the test.
func run(t *testing.T, command *exec.Cmd) (address string) {
	t.Helper()
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	input, err := command.StdinPipe() // a peer ends when it closes, should this process not live to kill it
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("the peer said: %s", complaints.String())
		}
	})
	line := make(chan string, 1)
	go func() {
		reader := bufio.NewReader(out)
		first, _ := reader.ReadString('\n')
		line <- strings.TrimSpace(first)
		_, _ = io.Copy(io.Discard, reader)
	}()
	select {
	case address = <-line:
	case <-time.After(20 * time.Second):
	}
	if !strings.HasPrefix(address, "http") {
		t.Fatalf("the peer does not start: %q %s", address, complaints.String())
	}
	return address
}
