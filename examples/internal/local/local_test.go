package local_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/examples/internal/local"
)

// TestTakenPort: the error for a used port says how to choose another one.
func TestTakenPort(t *testing.T) {
	first, err := local.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	_, err = local.Listen(first.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "-addr") || !strings.Contains(err.Error(), "PORT") {
		t.Errorf("got %v", err)
	}
}

// TestAddr: the flag overrides the environment, and the default is loopback.
func TestAddr(t *testing.T) {
	for _, row := range []struct{ name, flag, port, want, url string }{
		{"nothing said", "", "", "localhost:3000", "http://localhost:3000"},
		{"a port", "", "3001", "localhost:3001", "http://localhost:3001"},
		{"an address", "localhost:3001", "3002", "localhost:3001", "http://localhost:3001"},
		{"all of them", ":3001", "", ":3001", "http://localhost:3001"},
	} {
		t.Run(row.name, func(t *testing.T) {
			addr := local.Addr(row.flag, row.port)
			if addr != row.want || local.URL(addr) != row.url || local.Closed(addr) != strings.HasPrefix(row.want, "localhost") {
				t.Errorf("%s, %s, closed %v", addr, local.URL(addr), local.Closed(addr))
			}
		})
	}
}

// TestSecretIsKept: a restart signs no user out, and the environment overrides the stored secret.
func TestSecretIsKept(t *testing.T) {
	t.Setenv("AUTH_SECRET", "")
	folder := t.TempDir() + "/new"
	first, err := local.Secret(folder)
	if err != nil || len(first) < 32 {
		t.Fatalf("a secret of %d bytes, %v", len(first), err)
	}
	if second, err := local.Secret(folder); err != nil || string(second) != string(first) {
		t.Errorf("the second start has another, %v", err)
	}
	t.Setenv("AUTH_SECRET", "of the environment")
	if third, err := local.Secret(folder); err != nil || string(third) != "of the environment" {
		t.Errorf("the environment is not asked, %v", err)
	}
}
