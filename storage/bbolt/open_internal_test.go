package bboltstore

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTwoProcesses: the second program on a file reads who has it, and does not wait for ever.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.bolt")
	first, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	// The lock belongs to the open file, so that a second Open of one process meets it as another process would.
	if _, err := open(path, time.Millisecond); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Close()
}
