package core

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// clientScript is the name of the browser client under the base path. No action has a dot in its name.
const clientScript = "client.js"

// script answers GET client.js: the browser client, the same for everybody. nil: the request is for something else.
// Under its hash, client.js?v=sha256-…, caches keep it for a year, else they ask each time whether it has changed (RFC
// 9110 section 13.1.2).
func (s *site) script(r *Request) *Response {
	if !strings.Contains(r.Target, clientScript) || !isSafe(r.Method) {
		return nil
	}
	name, more, ok := weburl.Segments(r.Target, s.basePath)
	if !ok || name != clientScript || more != "" {
		return nil
	}
	version := ui.ClientHash() // public
	etag := `"` + version + `"`
	response := &Response{Header: newHeader(
		[2]string{"Content-Type", "text/javascript; charset=utf-8"}, [2]string{"Etag", "W/" + etag},
		[2]string{"Vary", "Accept-Encoding"}, [2]string{"Cache-Control", "public, no-cache"},
	)}
	if query, err := weburl.Query(r.Target); err == nil && query.Get("v") == version {
		response.Header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if strings.Contains(strings.Join(r.Header["If-None-Match"], ","), etag) {
		response.Status = http.StatusNotModified
	} else if response.Body = ui.Client(); takesGzip(r) {
		response.Body = bytes.Clone(clientGzip())
		response.Header.Set("Content-Encoding", "gzip")
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

// clientGzip is the client, compressed once for the process.
var clientGzip = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(ui.Client())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil { // a buffer takes everything
		panic(err)
	}
	return b.Bytes()
})
