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

// script is a script that is served under the base path, the same for everybody.
type script struct {
	// name is its segment of the path. No action has a dot in its name.
	name string
	text []byte
	// version is the hash of text, and the parameter v of the address under which caches keep it.
	version string
	// zipped is text, compressed once for the process.
	zipped func() []byte
}

var (
	clientScript = newScript("client.js", ui.Client(), ui.ClientHash())
	// pageScript is that of the sign-in page and of the account page. Proxies with a rule for files take what ends in .js for
	// one of their own, and a page whose script does not come has no passkeys.
	pageScript = newScript("page.script", ui.Script(), ui.ScriptHash())
)

func newScript(name string, text []byte, version string) *script {
	return &script{name, text, version, sync.OnceValue(func() []byte { return zip(text) })}
}

// address is where pages under base find the script: for as long as it does not change, once a year.
func (s *script) address(base string) string {
	return base + "/" + s.name + "?v=" + url.QueryEscape(s.version)
}

// script answers GET of a script. nil: the request is for something else. Under its hash, client.js?v=sha256-…, caches
// keep it for a year, else they ask each time whether it has changed (RFC 9110 section 13.1.2).
func (s *site) script(r *Request) *Response {
	for _, asked := range [...]*script{clientScript, pageScript} {
		if strings.Contains(r.Target, asked.name) && isSafe(r.Method) {
			name, more, ok := weburl.Segments(r.Target, s.basePath)
			if ok && name == asked.name && more == "" {
				return s.serve(r, asked)
			}
		}
	}
	return nil
}

func (s *site) serve(r *Request, asked *script) *Response {
	etag := `"` + asked.version + `"` // public
	response := &Response{Header: newHeader(
		[2]string{"Content-Type", "text/javascript; charset=utf-8"}, [2]string{"Etag", "W/" + etag},
		[2]string{"Vary", "Accept-Encoding"}, [2]string{"Cache-Control", "public, no-cache"},
	)}
	if query, err := weburl.Query(r.Target); err == nil && query.Get("v") == asked.version {
		response.Header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if strings.Contains(strings.Join(r.Header["If-None-Match"], ","), etag) {
		response.Status = http.StatusNotModified
	} else if response.Body = bytes.Clone(asked.text); takesGzip(r) {
		response.Body = bytes.Clone(asked.zipped())
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
