package authhttp_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestCookiesGoOutWithTheHeader sends the header in every possible way. It must contain the cookie of a form that was
// rendered before, once.
func TestCookiesGoOutWithTheHeader(t *testing.T) {
	auth, err := core.New(core.Config{
		TrustHost: core.True, Getenv: func(string) string { return "" },
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, send := range map[string]func(w http.ResponseWriter){
		"nothing":      func(http.ResponseWriter) {},
		"a status":     func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		"bytes":        func(w http.ResponseWriter) { _, _ = w.Write([]byte("page")) },
		"a text":       func(w http.ResponseWriter) { _, _ = io.WriteString(w, "page") },
		"a file":       func(w http.ResponseWriter) { _, _ = io.Copy(w, strings.NewReader("page")) },
		"a flush":      func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"a controller": func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
		"an early hint first": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = io.WriteString(w, "page")
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(authhttp.New(auth).Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := ui.CSRFToken(r.Context()); err != nil {
					t.Error(err)
				}
				send(w)
			})))
			defer server.Close()
			res, err := server.Client().Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if len(res.Header["Set-Cookie"]) != 1 || res.Header.Get("Cache-Control") != "private" {
				t.Errorf("the header is %v", res.Header)
			}
		})
	}
}

// TestHijackedConnection hijacks the connection. The session can still be read, and only the handler writes to the
// connection.
func TestHijackedConnection(t *testing.T) {
	auth, err := core.New(core.Config{
		TrustHost: core.True, Getenv: func(string) string { return "" },
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(authhttp.New(auth).Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, buffer, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		session, err := authhttp.Session(r)
		if session != nil || err != nil {
			t.Errorf("the session is %v, %v", session, err)
		}
		if _, err := ui.CSRFToken(r.Context()); err == nil {
			t.Error("a token that no cookie goes with")
		}
		_, _ = buffer.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nours")
		_ = buffer.Flush()
	})))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	const upgrade = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
	if _, err := io.WriteString(conn, upgrade); err != nil {
		t.Fatal(err)
	}
	raw, _ := io.ReadAll(bufio.NewReader(conn))
	if got := string(raw); got != "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nours" {
		t.Errorf("the wire has %q", got)
	}
}

// TestWriterImplementsOnlyWhatItWraps calls the optional methods of a writer on top of one without them.
func TestWriterImplementsOnlyWhatItWraps(t *testing.T) {
	auth, err := core.New(core.Config{
		TrustHost: core.True, Getenv: func(string) string { return "" },
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
	})
	if err != nil {
		t.Fatal(err)
	}
	visit := auth.Visit(t.Context(), &core.Request{
		Method: "GET", Target: "/", Hosts: []string{"app.test"}, Scheme: "http",
	})
	w := authhttp.NewWriter(discard{http.Header{}}, visit)
	if _, _, err := w.Hijack(); err == nil {
		t.Error("hijacked what cannot be")
	}
	if err := w.FlushError(); err == nil {
		t.Error("flushed what cannot be")
	}
	if err := w.Push("/x", nil); err == nil {
		t.Error("pushed what cannot be")
	}
}
