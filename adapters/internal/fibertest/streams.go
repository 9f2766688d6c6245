package fibertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Server is an application that can be started on a listener.
type Server struct {
	Serve    func(net.Listener) error
	Shutdown func() error
}

// Start serves on a free port until the test ends.
func (s Server) Start(t *testing.T) (addr string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(listener) }()
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// StreamedBodies sends bodies to an application that streams them. Core must not read more than its limit, the rest of
// a larger body must not be parsed as the next request, and a connection whose body was read stays open. The
// application has the routes of auth, and GET /smuggled, which calls smuggled.
func StreamedBodies(t *testing.T, app func(auth *core.Auth, smuggled func()) Server) {
	smuggled := 0
	t.Cleanup(func() { // after the server has ended
		if smuggled > 0 {
			t.Errorf("%d requests were read out of bodies", smuggled)
		}
	})
	addr := app(NewAuth(t, nil), func() { smuggled++ }).Start(t)
	requests := strings.Repeat("GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", 1<<16)
	for _, row := range []struct {
		name, kind, body string
		status           int
		closes           bool
	}{
		{"read", "application/x-www-form-urlencoded", "a=1", 302, false},
		{"too large", "application/x-www-form-urlencoded", requests, 413, true},
		{"of another type", "text/plain", requests, 302, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
			head := fmt.Sprintf("POST /auth/signout HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
				row.kind, len(row.body))
			written := make(chan struct{})
			go func() { _, _ = io.WriteString(conn, head+row.body); close(written) }()
			responses := bufio.NewReader(conn)
			r, err := http.ReadResponse(responses, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
			if r.StatusCode != row.status || r.Close != row.closes {
				t.Errorf("status %d, closes %v", r.StatusCode, r.Close)
			}
			if row.closes {
				if r, err := http.ReadResponse(responses, nil); err == nil {
					_ = r.Body.Close()
					t.Errorf("a second response: %d", r.StatusCode)
				}
			}
			_ = conn.Close()
			<-written
		})
	}
}
