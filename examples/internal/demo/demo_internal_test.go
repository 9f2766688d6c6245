package demo

import (
	"strings"
	"testing"
)

// TestTakenPort: a developer who starts two examples at once reads how to move one.
func TestTakenPort(t *testing.T) {
	first, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	_, err = listen(first.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "-addr") || !strings.Contains(err.Error(), "PORT") {
		t.Errorf("got %v", err)
	}
}
