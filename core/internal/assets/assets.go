// Package assets has the scripts and stylesheets that pages load, with the headers by which caches store them.
package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/internal/negotiate"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// Asset is a static file that is served under the base path.
type Asset struct {
	// Name is the path segment. No action has a name with a dot.
	Name      string
	mediaType string
	text      []byte
	// version is the hash of text. It is the parameter v of the URL that caches may store permanently.
	version string
	// variant is the value of the URL's parameter of, for a file that has the name of another one. It may be empty.
	variant string
	// zipped returns the compressed text. It is compressed once per process.
	zipped func() []byte
}

const (
	typeScript = "text/javascript; charset=utf-8"
	typeStyle  = "text/css; charset=utf-8"
)

// The files that pages load have no usual file extension. A proxy may have a rule for URLs that end in .js or .css and
// look for them among its own files; the page would then have no style and no passkeys.
var (
	clientScript = newAsset("client.js", typeScript, ui.Client(), ui.ClientHash())
	Script       = newAsset("page.script", typeScript, ui.Script(), ui.ScriptHash())
	Style        = newAsset("page.style", typeStyle, ui.Stylesheet(), ui.StylesheetHash())
	// SheetStyle is the stylesheet of pages with sections.
	SheetStyle = newVariant("sheet", "page.style", typeStyle, append(ui.Stylesheet(), ui.SheetStylesheet()...))

	// OneTapScript is served only if a plugin offers the prompt.
	OneTapScript = newVariant("", "onetap.script", typeScript, ui.OneTapScript())

	// All lists the files with different names.
	All = [...]*Asset{clientScript, Script, Style, OneTapScript}
)

func newAsset(name, mediaType string, text []byte, version string) *Asset {
	return &Asset{
		Name: name, mediaType: mediaType, text: text, version: version,
		zipped: sync.OnceValue(func() []byte { return zip(text) }),
	}
}

func newVariant(variant, name, mediaType string, text []byte) *Asset {
	sum := sha256.Sum256(text)
	a := newAsset(name, mediaType, text, "sha256-"+base64.StdEncoding.EncodeToString(sum[:]))
	a.variant = variant
	return a
}

// Address returns the URL of the asset below base. Caches may store it permanently.
func (a *Asset) Address(base string) string {
	address := base + "/" + a.Name + "?v=" + url.QueryEscape(a.version)
	if a.variant != "" {
		address += "&of=" + a.variant
	}
	return address
}

// Find returns the file at a request target below a path, or nil.
func Find(target, base string) *Asset {
	for _, a := range All {
		if !strings.Contains(target, a.Name) {
			continue
		}
		if name, more, ok := weburl.Segments(target, base); ok && name == a.Name && more == "" {
			if query, err := weburl.Query(target); err == nil && a == Style && query.Get("of") == SheetStyle.variant {
				return SheetStyle
			}
			return a
		}
	}
	return nil
}

// Response returns the header and the body of a response to a GET request with these headers. The body is nil if the
// client has the file (RFC 9110 section 13.1.2). At the URL with its version, client.js?v=sha256-…, caches store a file
// for a year. At other URLs, they revalidate it each time.
func (a *Asset) Response(target string, received http.Header) (header http.Header, body []byte) {
	etag := `"` + a.version + `"` // public
	header = http.Header{
		"Content-Type": {a.mediaType}, "Etag": {"W/" + etag}, "Vary": {"Accept-Encoding"},
		"Cache-Control": {"public, no-cache"},
	}
	if query, err := weburl.Query(target); err == nil && query.Get("v") == a.version {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	switch {
	case strings.Contains(strings.Join(received["If-None-Match"], ","), etag):
		return header, nil
	case negotiate.AcceptsGzip(received):
		header.Set("Content-Encoding", "gzip")
		return header, bytes.Clone(a.zipped())
	}
	return header, bytes.Clone(a.text)
}

func zip(text []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil { // a bytes.Buffer never fails
		panic(err)
	}
	return b.Bytes()
}
