package demo

import (
	"context"
	"net"
	"strings"
	"testing"
)

// TestTakenPort: a developer who starts two examples at once reads how to move one.
func TestTakenPort(t *testing.T) {
	listen := net.ListenConfig{}
	first, err := listen.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	_, err = listen.Listen(context.Background(), "tcp", first.Addr().String())
	err = elsewhere(err)
	if err == nil || !strings.Contains(err.Error(), "-addr") || !strings.Contains(err.Error(), "PORT") {
		t.Errorf("got %v", err)
	}
}
