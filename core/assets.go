package core

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

// asset is a static file that is served under the base path.
type asset struct {
	// name is the path segment. No action has a name with a dot.
	name, mediaType string
	text            []byte
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
	pageScript   = newAsset("page.script", typeScript, ui.Script(), ui.ScriptHash())
	pageStyle    = newAsset("page.style", typeStyle, ui.Stylesheet(), ui.StylesheetHash())
	// sheetStyle is the stylesheet of pages with sections.
	sheetStyle = newVariant("sheet", "page.style", typeStyle, append(ui.Stylesheet(), ui.SheetStylesheet()...))

	// oneTapScript is served only if a plugin offers the prompt.
	oneTapScript = newVariant("", "onetap.script", typeScript, ui.OneTapScript())

	assets = [...]*asset{clientScript, pageScript, pageStyle, oneTapScript}
)

func newAsset(name, mediaType string, text []byte, version string) *asset {
	return &asset{
		name: name, mediaType: mediaType, text: text, version: version,
		zipped: sync.OnceValue(func() []byte { return zip(text) }),
	}
}

func newVariant(variant, name, mediaType string, text []byte) *asset {
	sum := sha256.Sum256(text)
	a := newAsset(name, mediaType, text, "sha256-"+base64.StdEncoding.EncodeToString(sum[:]))
	a.variant = variant
	return a
}

// address returns the URL of the asset below base. Caches may store it permanently.
func (a *asset) address(base string) string {
	address := base + "/" + a.name + "?v=" + url.QueryEscape(a.version)
	if a.variant != "" {
		address += "&of=" + a.variant
	}
	return address
}

// asset returns the response to a GET request for an asset, or nil if the request is for something else.
func (s *site) asset(r *Request) *Response {
	for _, asked := range assets {
		if strings.Contains(r.Target, asked.name) && isSafe(r.Method) {
			name, more, ok := weburl.Segments(r.Target, s.basePath)
			if ok && name == asked.name && more == "" && (asked != oneTapScript || s.oneTap) {
				return s.serve(r, asked)
			}
		}
	}
	return nil
}

// serve returns the response with an asset. At the URL with its version, client.js?v=sha256-…, caches store it for a
// year. At other URLs, they revalidate it each time (RFC 9110 section 13.1.2).
func (s *site) serve(r *Request, asked *asset) *Response {
	query, err := weburl.Query(r.Target)
	if err == nil && asked == pageStyle && query.Get("of") == sheetStyle.variant {
		asked = sheetStyle
	}
	etag := `"` + asked.version + `"` // public
	response := &Response{Header: newHeader(
		"Content-Type", asked.mediaType, "Etag", "W/"+etag,
		"Vary", "Accept-Encoding", "Cache-Control", "public, no-cache",
	)}
	if err == nil && query.Get("v") == asked.version {
		response.Header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if strings.Contains(strings.Join(r.Header["If-None-Match"], ","), etag) {
		response.Status = http.StatusNotModified
	} else if negotiate.AcceptsGzip(r.Header) {
		response.Body = bytes.Clone(asked.zipped())
		response.Header.Set("Content-Encoding", "gzip")
	} else {
		response.Body = bytes.Clone(asked.text)
	}
	v := s.unsettled(r)
	response = finish(r, response)
	v.share(response)
	return response
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
