package bboltstore

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTwoProcesses checks that the second process on a file gets an error that names the cause, and does not wait
// indefinitely.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.bolt")
	first, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	// The lock belongs to the open file, so a second Open in one process behaves like one in another process.
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
