package local_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/examples/internal/local"
)

// TestTakenPort: a developer who starts two examples at once reads how to move one.
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

// TestSecretIsKept: restarts sign nobody out, and the environment goes first.
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
