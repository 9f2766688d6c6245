package authfiber_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/core"
)

// TestStreamedBodies sends bodies to an application that streams them. Core must not read more than its limit, the rest
// of a larger body must not be parsed as the next request, and a connection whose body was read stays open.
func TestStreamedBodies(t *testing.T) {
	f := fiber.New(fiber.Config{DisableStartupMessage: true, StreamRequestBody: true, DisablePreParseMultipartForm: true})
	authfiber.New(newAuth(t, func(*core.Config) {})).Mount(f)
	smuggled := 0
	f.Get("/smuggled", func(c *fiber.Ctx) error { smuggled++; return c.SendString("smuggled") })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- f.Listener(listener) }()
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
			conn, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
			head := fmt.Sprintf("POST /auth/signout HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
				row.kind, len(row.body))
			written := make(chan struct{})
			go func() { _, _ = io.WriteString(conn, head+row.body); close(written) }()
			answers := bufio.NewReader(conn)
			r, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, r.Body)
			if r.StatusCode != row.status || r.Close != row.closes {
				t.Errorf("answered %d, closes %v", r.StatusCode, r.Close)
			}
			if row.closes {
				if r, err := http.ReadResponse(answers, nil); err == nil {
					t.Errorf("a second answer: %d", r.StatusCode)
				}
			}
			_ = conn.Close()
			<-written
		})
	}
	if err := f.Shutdown(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if smuggled > 0 {
		t.Errorf("%d requests were read out of bodies", smuggled)
	}
}
