package core_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"html"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestAssetsAreServed requests the scripts and the stylesheet as browsers do.
func TestAssetsAreServed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, mediaType string
		text            []byte
		hash            string
	}{
		{"client.js", "text/javascript", ui.Client(), ui.ClientHash()},
		{"page.script", "text/javascript", ui.Script(), ui.ScriptHash()},
		{"page.style", "text/css", ui.Stylesheet(), ui.StylesheetHash()},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			testAsset(t, test.name, test.mediaType+"; charset=utf-8", test.text, test.hash)
		})
	}
}

// TestSheetStylesheet requests the stylesheet of pages with sections, which has the path of the other one.
func TestSheetStylesheet(t *testing.T) {
	t.Parallel()
	part := partFunc(func(h *core.PluginHost) error {
		h.AddAction(core.Action{Method: "GET", Name: "sheet", Handle: func(
			ctx context.Context, c *core.ActionRequest,
		) (*core.Response, error) {
			page := c.Page("Sheet")
			return c.Render(ctx, 200, page, ui.Sheet(ui.SheetView{Page: page, Heading: "Sheet"})), nil
		}})
		return nil
	})
	b := visit(t, newApp(t, core.Config{Providers: []core.Provider{passwords()}, Plugins: []core.Plugin{part}}))
	page := b.get("/auth/sheet")
	_, after, _ := strings.Cut(string(page.Body), `<link rel="stylesheet" href="`)
	address, _, _ := strings.Cut(after, `"`)
	address = html.UnescapeString(address)
	want := append(ui.Stylesheet(), ui.SheetStylesheet()...)
	r := b.get(address)
	if !strings.HasPrefix(address, "/auth/page.style?") || !bytes.Equal(r.Body, want) ||
		!strings.HasSuffix(r.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %d, %v", address, r.Status, r.Header)
	}
	if bytes.Contains(page.Body, ui.SheetStylesheet()[:64]) {
		t.Error("the page contains its styles too")
	}
	for target, text := range map[string][]byte{
		"/auth/page.style": ui.Stylesheet(), "/auth/page.style?of=other": ui.Stylesheet(),
		"/auth/page.style?of=sheet": want, "/auth/page.script?of=sheet": ui.Script(),
		"/auth/page.style?v=" + url.QueryEscape(ui.StylesheetHash()) + "&of=sheet": want, // the hash of the other one
	} {
		r := b.get(target)
		if !bytes.Equal(r.Body, text) || r.Header.Get("Cache-Control") != "public, no-cache" {
			t.Errorf("%s: %d, %v, %d bytes", target, r.Status, r.Header, len(r.Body))
		}
	}
}

func testAsset(t *testing.T, name, mediaType string, text []byte, hash string) {
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, TrustedOrigins: []string{frontEnd}})
	b := visit(t, a)
	address := "/auth/" + name
	r := b.get(address)
	h := r.Header
	if r.Status != 200 || !bytes.Equal(r.Body, text) || len(r.Cookies) > 0 || r.Err != nil ||
		h.Get("Content-Type") != mediaType || h.Get("Cache-Control") != "public, no-cache" ||
		h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Vary") != "Accept-Encoding, Origin" || cors(h) != "" {
		t.Errorf("status %d, %v", r.Status, h)
	}
	clear(r.Body) // a handler that changes its response does not affect other responses
	b.header.Set("Accept-Encoding", "br;q=1.0, gzip;q=0.8, *;q=0.1")
	r = b.get(address + "?v=" + url.QueryEscape(hash))
	if r.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || len(r.Body) >= 5<<10 {
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
		address + "/x", "/auth/" + strings.ToUpper(name), "/" + name, "/auth/x?" + name, address + "%00",
		"/auth/session/" + name,
	} {
		if r := b.get(target); r.Header.Get("Content-Type") == mediaType {
			t.Errorf("%s is the asset", target)
		}
	}
	if r = b.post(address, nil); r.Status != 400 {
		t.Errorf("POST: %d", r.Status)
	}
}

// TestPagesNameTheirAssets checks that the URLs in a page return its style and script, also behind a proxy that removes
// a prefix, and that caches may store them. The page does not contain them inline.
func TestPagesNameTheirAssets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, public, base, want string }{
		{"unchanged", "", "", "/auth/page."},
		{"another base path", "", "/api/auth", "/api/auth/page."},
		{"behind a prefix", "/app", "", "/app/auth/page."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, core.Config{
				Providers: []core.Provider{passwords()}, BasePath: test.base, PublicPath: test.public,
			})
			b := visit(t, a)
			base := cmp.Or(test.base, "/auth")
			page := string(b.get(base + "/signin").Body)
			for tag, text := range map[string][]byte{
				`<link rel="stylesheet" href="`: ui.Stylesheet(), `<script src="`: ui.Script(),
			} {
				_, after, _ := strings.Cut(page, tag)
				address, _, found := strings.Cut(after, `"`)
				if !found || !strings.HasPrefix(address, test.want) {
					t.Fatalf("%s%s: %s", tag, address, page)
				}
				r := b.get(strings.TrimPrefix(html.UnescapeString(address), test.public))
				if !bytes.Equal(r.Body, text) || !strings.HasSuffix(r.Header.Get("Cache-Control"), "immutable") {
					t.Errorf("%s: %d, %v", address, r.Status, r.Header)
				}
				if strings.Contains(page, string(text[:64])) {
					t.Errorf("the page carries what %s is for", address)
				}
			}
			if page := string(b.get(base + "/error?error=AccessDenied").Body); !strings.Contains(page, test.want+"style?v=") {
				t.Errorf("the page of an error names no stylesheet: %s", page)
			}
		})
	}
}

// TestPageOfNoAuthCarriesItsStyle checks that an error page contains its style inline if no Auth could be selected,
// because no Auth would serve the stylesheet.
func TestPageOfNoAuthCarriesItsStyle(t *testing.T) {
	t.Parallel()
	a := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) {
		return nil, errors.New("no tenant")
	})
	r := a.Handle(t.Context(), &core.Request{
		Method: "GET", Target: "/auth/signin", Header: map[string][]string{"Accept": {"text/html"}},
	})
	if !bytes.Contains(r.Body, ui.Stylesheet()) || bytes.Contains(r.Body, []byte(`<link rel="stylesheet"`)) {
		t.Errorf("%d: %s", r.Status, r.Body)
	}
}
