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

	"github.com/valyala/fasthttp"

	authfasthttp "github.com/latchkey-go/latchkey/adapters/internal/fasthttp"
	"github.com/latchkey-go/latchkey/adapters/internal/fibertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestStreamedBodies(t *testing.T) {
	fibertest.StreamedBodies(t, func(auth *core.Auth, smuggled func()) fibertest.Server {
		f := &fasthttp.Server{StreamRequestBody: true, DisablePreParseMultipartForm: true}
		f.Handler = func(c *fasthttp.RequestCtx) {
			if string(c.Path()) == "/smuggled" {
				smuggled()
				return
			}
			authfasthttp.Write(c, authfasthttp.Ask(context.Background(), c, authfasthttp.Request(c), auth.Handle))
		}
		return fibertest.Server{Serve: f.Serve, Shutdown: f.Shutdown}
	})
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
