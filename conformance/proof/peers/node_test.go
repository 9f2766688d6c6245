package peers_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// host is a process that runs providers.
type host struct {
	address string
	input   io.Closer // the process ends when this closes, at the end of the tests

	mu         sync.Mutex
	complaints bytes.Buffer
}

// Write records the process's error output.
func (h *host) Write(text []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.complaints.Write(text)
}

// providerHost starts oidc-provider/server.mjs once for all tests, because starting Node.js takes longer than a
// sign-in.
var providerHost = sync.OnceValues(func() (*host, error) {
	h := &host{}
	command := exec.Command("node", "oidc-provider/server.mjs")
	command.Stderr = h
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if h.input, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	late := time.AfterFunc(2*time.Minute, func() { _ = command.Process.Kill() })
	defer late.Stop()
	said := bufio.NewReader(out)
	line, err := said.ReadString('\n')
	go func() { _, _ = io.Copy(io.Discard, said) }() // the process would block if its output was not read
	if h.address = strings.TrimSpace(line); err == nil && !strings.HasPrefix(h.address, "http") {
		err = errors.New("it says " + h.address)
	}
	return h, err
})

// openProvider starts a provider with these settings for server.mjs.
func openProvider(t *testing.T, settings []byte) (issuer string) {
	t.Helper()
	engines.Packages(t, "oidc-provider")
	h, err := providerHost()
	if err != nil {
		t.Fatalf("oidc-provider does not start: %v", err)
	}
	t.Cleanup(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if t.Failed() {
			t.Logf("the peer said: %s", h.complaints.String())
		}
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.address, bytes.NewReader(settings))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("no provider was opened: %d, %v", response.StatusCode, err)
	}
	return string(text)
}
