package core_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"html"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestScriptsAreServed gets the scripts as browsers do.
func TestScriptsAreServed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		text []byte
		hash string
	}{
		{"client.js", ui.Client(), ui.ClientHash()},
		{"page.script", ui.Script(), ui.ScriptHash()},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			testScript(t, test.name, test.text, test.hash)
		})
	}
}

func testScript(t *testing.T, name string, text []byte, hash string) {
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, TrustedOrigins: []string{frontEnd}})
	b := visit(t, a)
	address := "/auth/" + name
	r := b.get(address)
	h := r.Header
	if r.Status != 200 || !bytes.Equal(r.Body, text) || len(r.Cookies) > 0 || r.Err != nil ||
		h.Get("Content-Type") != "text/javascript; charset=utf-8" || h.Get("Cache-Control") != "public, no-cache" ||
		h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Vary") != "Accept-Encoding, Origin" || cors(h) != "" {
		t.Errorf("answered %d, %v", r.Status, h)
	}
	clear(r.Body) // what a handler does with its answer reaches nobody else
	b.header.Set("Accept-Encoding", "br;q=1.0, gzip;q=0.8, *;q=0.1")
	r = b.get(address + "?v=" + url.QueryEscape(hash))
	if r.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || len(r.Body) >= 4<<10 {
		t.Errorf("under its hash: %d bytes, %v", len(r.Body), r.Header)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(r.Body))
	if err != nil || r.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal(err, r.Header)
	}
	if plain, err := io.ReadAll(zipped); err != nil || !bytes.Equal(plain, text) {
		t.Errorf("%v: %s", err, plain)
	}
	b.header.Set("Accept-Encoding", "gzip;q=0")
	if r = b.get(address + "?v=other"); r.Header.Get("Content-Encoding") != "" ||
		r.Header.Get("Cache-Control") != "public, no-cache" || !bytes.Equal(r.Body, text) {
		t.Errorf("under another hash: %v", r.Header)
	}
	b.header.Set("If-None-Match", h.Get("Etag"))
	b.header.Set("Origin", frontEnd)
	r = b.get(address)
	if r.Status != 304 || len(r.Body) > 0 || r.Header.Get("Access-Control-Allow-Origin") != frontEnd {
		t.Errorf("again: %d, %v", r.Status, r.Header)
	}
	for _, target := range []string{
		address + "/x", "/auth/" + strings.ToUpper(name), "/" + name, "/auth/x?" + name, address + "%00", "/auth/session/" + name,
	} {
		if r := b.get(target); strings.Contains(r.Header.Get("Content-Type"), "javascript") {
			t.Errorf("%s is the script", target)
		}
	}
	if r = b.post(address, nil); r.Status != 400 {
		t.Errorf("POST: %d", r.Status)
	}
}

// TestPageNamesItsScript: the address that the sign-in page names is where its script is, behind a proxy that takes off
// a prefix too, and caches may keep it.
func TestPageNamesItsScript(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, public, base, want string }{
		{"as it is", "", "", "/auth/page.script?v="},
		{"another base path", "", "/api/auth", "/api/auth/page.script?v="},
		{"behind a prefix", "/app", "", "/app/auth/page.script?v="},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, core.Config{
				Providers: []core.Provider{passwords()}, BasePath: test.base, PublicPath: test.public,
			})
			b := visit(t, a)
			page := string(b.get(cmp.Or(test.base, "/auth") + "/signin").Body)
			_, after, _ := strings.Cut(page, `<script src="`)
			address, after, found := strings.Cut(after, `"`)
			if !found || !strings.HasPrefix(address, test.want) || !strings.Contains(after, " defer></script>") {
				t.Fatalf("the page names %q: %s", address, page)
			}
			r := b.get(strings.TrimPrefix(html.UnescapeString(address), test.public))
			if !bytes.Equal(r.Body, ui.Script()) || !strings.HasSuffix(r.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d, %v", address, r.Status, r.Header)
			}
			if strings.Contains(page, "passkeyOptions") {
				t.Error("the page carries the script besides")
			}
		})
	}
}
