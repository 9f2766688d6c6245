package core

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// asset is a file that is served under the base path, the same for everybody.
type asset struct {
	// name is its segment of the path. No action has a dot in its name.
	name, mediaType string
	text            []byte
	// version is the hash of text, and the parameter v of the address under which caches keep it.
	version string
	// zipped is text, compressed once for the process.
	zipped func() []byte
}

const typeScript = "text/javascript; charset=utf-8"

// What pages need has no ending that a proxy may have a rule for: what ends in .js or .css it takes for a file of its
// own, and a page would come without its looks and without passkeys.
var (
	clientScript = newAsset("client.js", typeScript, ui.Client(), ui.ClientHash())
	pageScript   = newAsset("page.script", typeScript, ui.Script(), ui.ScriptHash())
	pageStyle    = newAsset("page.style", "text/css; charset=utf-8", ui.Stylesheet(), ui.StylesheetHash())

	assets = [...]*asset{clientScript, pageScript, pageStyle}
)

func newAsset(name, mediaType string, text []byte, version string) *asset {
	return &asset{name, mediaType, text, version, sync.OnceValue(func() []byte { return zip(text) })}
}

// address is where pages under base find the asset, and caches keep it.
func (a *asset) address(base string) string {
	return base + "/" + a.name + "?v=" + url.QueryEscape(a.version)
}

// asset answers GET of an asset. nil: the request is for something else.
func (s *site) asset(r *Request) *Response {
	for _, asked := range assets {
		if strings.Contains(r.Target, asked.name) && isSafe(r.Method) {
			name, more, ok := weburl.Segments(r.Target, s.basePath)
			if ok && name == asked.name && more == "" {
				return s.serve(r, asked)
			}
		}
	}
	return nil
}

// serve answers with an asset. Under its version, client.js?v=sha256-…, caches keep it for a year, else they ask each
// time whether it has changed (RFC 9110 section 13.1.2).
func (s *site) serve(r *Request, asked *asset) *Response {
	etag := `"` + asked.version + `"` // public
	response := &Response{Header: newHeader(
		[2]string{"Content-Type", asked.mediaType}, [2]string{"Etag", "W/" + etag},
		[2]string{"Vary", "Accept-Encoding"}, [2]string{"Cache-Control", "public, no-cache"},
	)}
	if query, err := weburl.Query(r.Target); err == nil && query.Get("v") == asked.version {
		response.Header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if strings.Contains(strings.Join(r.Header["If-None-Match"], ","), etag) {
		response.Status = http.StatusNotModified
	} else if takesGzip(r) {
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

// takesGzip reports whether a client reads gzip: every browser does.
func takesGzip(r *Request) bool {
	for _, line := range r.Header["Accept-Encoding"] {
		for entry := range strings.SplitSeq(line, ",") {
			coding, params, _ := strings.Cut(entry, ";")
			if strings.EqualFold(strings.TrimSpace(coding), "gzip") && weight(params) > 0 {
				return true
			}
		}
	}
	return false
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
	if err != nil { // a buffer takes everything
		panic(err)
	}
	return b.Bytes()
}
