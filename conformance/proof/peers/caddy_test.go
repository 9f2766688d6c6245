package peers_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// TestDocumentedCaddy starts Caddy with the Caddyfile of the deployment page, and signs in over TLS. The test changes
// the ports and the application's address, and uses Caddy's own certificate authority, because no public one can issue
// a certificate for app.example.
func TestDocumentedCaddy(t *testing.T) {
	for _, at := range places {
		t.Run(at.name, func(t *testing.T) {
			show := "(?ms)^    (app\\.example \\{\n        reverse_proxy .*?^    \\}\n)"
			if at.removed {
				show = "(?ms)^    (app\\.example \\{\n        handle_path .*?^    \\}\n)"
			}
			peers := make(chan netip.Prefix, 10)
			file := shown(t, "recipes/production.md", show)
			application := proxied(t, at, peers)
			secure, plain := startCaddy(t, strings.ReplaceAll(file, "127.0.0.1:3000", application))
			client := browser(t, secure)
			signInAt(t, client, at)
			fromHere(t, peers)
			leadsToTLS(t, browser(t, plain))
		})
	}
}

// leadsToTLS checks that a request without TLS is redirected to https.
func leadsToTLS(t *testing.T, client *http.Client) {
	t.Helper()
	answer, err := client.Get("http://app.example/auth/signin")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if to := answer.Header.Get("Location"); !strings.HasPrefix(to, "https://app.example") {
		t.Errorf("%s to %q", answer.Status, to)
	}
}

// startCaddy starts Caddy with a Caddyfile, and waits until it has a certificate for each host, by default app.example.
// It returns its addresses with TLS and without.
func startCaddy(t *testing.T, file string, hosts ...string) (secure, plain string) {
	t.Helper()
	program, err := exec.LookPath("caddy")
	if err != nil {
		engines.Absent(t, "the test needs caddy: apt-get install -y --no-install-recommends caddy")
	}
	dir := t.TempDir()
	secure, plain = free(t), free(t)
	options := fmt.Sprintf("{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n"+
		"\tdefault_bind 127.0.0.1\n\thttps_port %s\n\thttp_port %s\n\tstorage file_system %s\n}\n",
		port(secure), port(plain), dir)
	name := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(name, []byte(options+file), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c := exec.CommandContext(context.WithoutCancel(t.Context()), program,
		"run", "--config", name, "--adapter", "caddyfile")
	c.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		if err := <-ended; err == nil {
			t.Error("caddy had ended before it was killed")
		}
		if t.Failed() {
			t.Log(log.String())
		}
	})
	if hosts == nil {
		hosts = []string{"app.example"}
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		hand := &tls.Config{ServerName: hosts[0], InsecureSkipVerify: true} // the authority is Caddy's own
		dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: time.Second}, Config: hand}
		conn, err := dialer.DialContext(t.Context(), "tcp", secure)
		if err == nil {
			_ = conn.Close()
			if hosts = hosts[1:]; len(hosts) > 0 {
				continue
			}
			return secure, plain
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("caddy: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatal("caddy has no certificate")
	return "", ""
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
