package assets_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/assets"
)

// TestFind checks which targets are files.
func TestFind(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]*assets.Asset{
		"/auth/client.js":      assets.All[0],
		"/auth/page.style?v=x": assets.Style, "/auth/page.style?of=sheet": assets.SheetStyle,
		"/auth/page.script": assets.Script, "/auth/page.script/x": nil, "/page.style": nil, "/auth/signin?x=page.style": nil,
	} {
		if got := assets.Find(target, "/auth"); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
}

// TestResponse checks the caching headers, and the response to a client that has the file.
func TestResponse(t *testing.T) {
	t.Parallel()
	address := assets.SheetStyle.Address("/auth")
	if assets.Find(address, "/auth") != assets.SheetStyle {
		t.Fatal(address)
	}
	header, body := assets.SheetStyle.Response(address, nil)
	if !strings.Contains(header.Get("Cache-Control"), "immutable") || len(body) == 0 {
		t.Errorf("%v, %d bytes", header, len(body))
	}
	header, zipped := assets.SheetStyle.Response("/auth/page.style", http.Header{"Accept-Encoding": {"gzip"}})
	if header.Get("Cache-Control") != "public, no-cache" || header.Get("Content-Encoding") != "gzip" ||
		len(zipped) >= len(body) {
		t.Errorf("%v, %d bytes", header, len(zipped))
	}
	if header, _ := assets.SheetStyle.Response("/auth/page.style?v=other", nil); header.Get("Cache-Control") !=
		"public, no-cache" {
		t.Errorf("at the URL of another version: %v", header)
	}
	body[0], zipped[0] = '!', '!'
	if _, again := assets.SheetStyle.Response(address, nil); again[0] == '!' {
		t.Error("two responses share the text")
	}
	if _, again := assets.SheetStyle.Response(address, http.Header{"Accept-Encoding": {"gzip"}}); again[0] == '!' {
		t.Error("two responses share the compressed text")
	}
	if _, body := assets.SheetStyle.Response(address, http.Header{"If-None-Match": {header.Get("Etag")}}); body != nil {
		t.Errorf("%d bytes for a client that has the file", len(body))
	}
}
