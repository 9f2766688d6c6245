package interop_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// installed gets the packages of the reference, once.
var installed = sync.OnceValue(func() error {
	if _, err := os.Stat("reference/node_modules/@auth/express/package.json"); err == nil {
		return nil
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = "reference"
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in conformance/interop/reference: %w: %s", err, out)
	}
	return nil
})

// reference starts the reference's application and returns its address. It ends with the test.
func reference(t *testing.T, settings map[string]any) (address string) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			absent(t, "the reference needs node and npm: apt-get install -y --no-install-recommends nodejs npm")
		}
	}
	if err := installed(); err != nil {
		absent(t, err.Error())
	}
	raw, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", "server.mjs", string(raw))
	command.Dir = "reference"
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	input, err := command.StdinPipe() // it ends when this closes, should we not live to kill it
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
			t.Logf("the reference said: %s", complaints.String())
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
		t.Fatalf("the reference does not start: %q %s", address, complaints.String())
	}
	return address
}

// absent ends a test whose other side is not there.
func absent(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("LATCHKEY_TEST_REQUIRE") == "all" {
		t.Fatal(why)
	}
	t.Skip(why)
}
