package core_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestClientIsServed gets the browser client as browsers do.
func TestClientIsServed(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, TrustedOrigins: []string{frontEnd}})
	b := visit(t, a)
	r := b.get("/auth/client.js")
	h := r.Header
	if r.Status != 200 || !bytes.Equal(r.Body, ui.Client()) || len(r.Cookies) > 0 || r.Err != nil ||
		h.Get("Content-Type") != "text/javascript; charset=utf-8" || h.Get("Cache-Control") != "public, no-cache" ||
		h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Vary") != "Accept-Encoding, Origin" || cors(h) != "" {
		t.Errorf("answered %d, %v", r.Status, h)
	}
	b.header.Set("Accept-Encoding", "br;q=1.0, gzip;q=0.8, *;q=0.1")
	r = b.get("/auth/client.js?v=" + url.QueryEscape(ui.ClientHash()))
	if r.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || len(r.Body) >= 4<<10 {
		t.Errorf("under its hash: %d bytes, %v", len(r.Body), r.Header)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(r.Body))
	if err != nil || r.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal(err, r.Header)
	}
	if plain, err := io.ReadAll(zipped); err != nil || !bytes.Equal(plain, ui.Client()) {
		t.Errorf("%v: %s", err, plain)
	}
	b.header.Set("Accept-Encoding", "gzip;q=0")
	if r = b.get("/auth/client.js?v=other"); r.Header.Get("Content-Encoding") != "" ||
		r.Header.Get("Cache-Control") != "public, no-cache" {
		t.Errorf("under another hash: %v", r.Header)
	}
	b.header.Set("If-None-Match", h.Get("Etag"))
	b.header.Set("Origin", frontEnd)
	r = b.get("/auth/client.js")
	if r.Status != 304 || len(r.Body) > 0 || r.Header.Get("Access-Control-Allow-Origin") != frontEnd {
		t.Errorf("again: %d, %v", r.Status, r.Header)
	}
	for _, target := range []string{
		"/auth/client.js/x", "/auth/Client.js", "/client.js", "/auth/x?client.js", "/auth/client.js%00",
		"/auth/session/client.js",
	} {
		if r := b.get(target); strings.Contains(r.Header.Get("Content-Type"), "javascript") {
			t.Errorf("%s is the client", target)
		}
	}
	if r = b.post("/auth/client.js", nil); r.Status != 400 {
		t.Errorf("POST: %d", r.Status)
	}
}
