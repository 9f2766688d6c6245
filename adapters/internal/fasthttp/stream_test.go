package authfasthttp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	authfasthttp "github.com/latchkey-go/latchkey/adapters/internal/fasthttp"
	"github.com/latchkey-go/latchkey/core"
)

// TestStreamedBodies sends bodies to a server that streams them. Core must not read more than its limit, the rest of a
// larger body must not be parsed as the next request, and a connection whose body was read stays open.
func TestStreamedBodies(t *testing.T) {
	auth, smuggled := newAuth(t), 0
	handler := func(c *fasthttp.RequestCtx) {
		if string(c.Path()) == "/smuggled" {
			smuggled++
			return
		}
		authfasthttp.Write(c, authfasthttp.Ask(context.Background(), c, authfasthttp.Request(c), auth.Handle))
	}
	f := &fasthttp.Server{StreamRequestBody: true, DisablePreParseMultipartForm: true, Handler: handler}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- f.Serve(listener) }()
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

// TestStreamEnds keeps a streamed body after its request. Nothing more may be read from it.
func TestStreamEnds(t *testing.T) {
	c := received(t, "POST / HTTP/1.1\r\nHost: x\r\n\r\n")
	c.Request.SetBodyStream(strings.NewReader("the body"), -1)
	var kept io.Reader
	authfasthttp.Ask(t.Context(), c, authfasthttp.Request(c), func(_ context.Context, r *core.Request) *core.Response {
		kept = r.Body
		if _, err := io.ReadFull(kept, make([]byte, 3)); err != nil {
			t.Error(err)
		}
		return &core.Response{}
	})
	if rest, err := io.ReadAll(kept); len(rest) > 0 || err != nil {
		t.Errorf("read %q after the request, %v", rest, err)
	}
	if !c.Response.ConnectionClose() {
		t.Error("the connection stays open with the rest of a body in it")
	}
}

// TestStreamedFields checks that a handler can read the fields of a streamed body after core has read it.
func TestStreamedFields(t *testing.T) {
	auth := newAuth(t)
	for _, row := range []struct{ name, body, want string }{
		{"a form", "providerId=x&name=Ada", "Ada"},
		{"a long form", "providerId=x&name=Ada&pad=" + strings.Repeat("x", 20<<10), "Ada"},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := &fasthttp.Server{StreamRequestBody: true, Handler: func(c *fasthttp.RequestCtx) {
				err := authfasthttp.WriteOrFail(c, authfasthttp.Ask(t.Context(), c, authfasthttp.Request(c), auth.SignIn))
				if err == nil {
					t.Error("the sign-in did not fail")
				}
				_, _ = c.Write(c.FormValue("name"))
			}}
			client, conn := net.Pipe()
			done := make(chan error, 1)
			go func() { done <- server.ServeConn(conn) }()
			for range 2 { // on one connection
				go func() {
					_, _ = fmt.Fprintf(client, "POST /signin HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n"+
						"Content-Type: application/x-www-form-urlencoded\r\n\r\n%s", len(row.body), row.body)
				}()
				res, err := http.ReadResponse(bufio.NewReader(client), nil)
				if err != nil {
					t.Fatal(err)
				}
				got, _ := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if string(got) != row.want {
					t.Errorf("the handler reads %q", got)
				}
			}
			_ = client.Close()
			if err := <-done; err != nil {
				t.Log(err) // the client has closed the connection
			}
		})
	}
}
