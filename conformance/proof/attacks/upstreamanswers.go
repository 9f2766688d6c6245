package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// write writes the odd response. It returns false if this response is normal.
func (p *oddAnswer) write(o *op, w http.ResponseWriter, r *http.Request, good map[string]any) bool {
	if p.off.Load() {
		return false
	}
	time.Sleep(time.Duration(p.DelayMS) * time.Millisecond)
	if p.Redirects > 0 {
		hop, _ := strconv.Atoi(r.URL.Query().Get("hop"))
		if hop < p.Redirects {
			http.Redirect(w, r, fmt.Sprintf("%s?hop=%d", r.URL.Path, hop+1), http.StatusFound)
		}
		return hop < p.Redirects
	}
	if !p.breakOff(o, w, r, good) {
		p.writeHeader(w)
		p.writeBody(o, w, r, good)
	}
	return true
}

// breakOff writes a response that never ends. It returns false if this response ends.
func (p *oddAnswer) breakOff(o *op, w http.ResponseWriter, r *http.Request, good map[string]any) bool {
	switch {
	case p.Hang:
		<-r.Context().Done()
		return true
	case p.Close:
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
		return true
	case p.Reset:
		w.Header().Set("Content-Type", "application/json")
		body := p.patched(o, good)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1000))
		_, _ = w.Write(body)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case p.Trailers:
		p.endless(w, r)
		return true
	}
	return false
}

// writeHeader writes the status and the header.
func (p *oddAnswer) writeHeader(w http.ResponseWriter) {
	kind := p.Type
	if kind == "" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	for _, h := range p.Headers {
		w.Header().Set(h[0], strings.ReplaceAll(h[1], "{collector}", collector))
	}
	for i := range p.HeaderMB {
		w.Header().Set(fmt.Sprintf("X-Large-%d", i), strings.Repeat("a", 1<<20))
	}
	if p.GzipZerosMB > 0 {
		w.Header().Set("Content-Encoding", "gzip")
	}
	status := http.StatusOK
	if p.Status > 0 {
		status = p.Status
	} else if p.Outage > 0 {
		status = http.StatusServiceUnavailable
	}
	w.WriteHeader(status)
}

// writeBody writes the body.
func (p *oddAnswer) writeBody(o *op, w http.ResponseWriter, r *http.Request, good map[string]any) {
	switch {
	case p.GzipZerosMB > 0:
		z := gzip.NewWriter(w)
		_, _ = io.CopyN(z, zeros{}, p.GzipZerosMB<<20)
		_ = z.Close()
	case p.StreamMB > 0:
		p.stream(w)
	case p.DripMS > 0:
		p.drip(w, r)
	case p.Text != nil:
		_, _ = io.WriteString(w, *p.Text)
	case p.TextHex != "":
		raw, err := hex.DecodeString(p.TextHex)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(raw)
	case (p.Status > 0 || p.Outage > 0) && p.Body == nil:
	default:
		_, _ = w.Write(p.patched(o, good))
	}
}

// stream writes this number of MB, or until the client disconnects.
func (p *oddAnswer) stream(w http.ResponseWriter) {
	chunk := bytes.Repeat([]byte(" "), 64<<10)
	for sent := int64(0); sent < p.StreamMB<<20; sent += int64(len(chunk)) {
		n, err := w.Write(chunk)
		p.written.Add(int64(n))
		if err != nil {
			return
		}
	}
}

// drip writes a byte from time to time, until the client disconnects.
func (p *oddAnswer) drip(w http.ResponseWriter, r *http.Request) {
	for range 600 {
		if _, err := io.WriteString(w, " "); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Duration(p.DripMS) * time.Millisecond):
		}
	}
}

// endless writes an endless chunked response that announces trailers.
func (p *oddAnswer) endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Trailer", "X-Checksum")
	for r.Context().Err() == nil {
		n, err := io.WriteString(w, strings.Repeat(" ", 64<<10))
		p.written.Add(int64(n))
		if err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
	}
}

// patched returns the normal response with the payload's changes. An error response is sent unchanged.
func (p *oddAnswer) patched(o *op, good map[string]any) []byte {
	if _, refused := p.Body["error"]; refused || p.Status >= 400 {
		good = map[string]any{}
	}
	changes := map[string]any{}
	for name, v := range p.Body {
		changes[name] = p.fill(o, v)
	}
	patch(good, changes)
	body := string(marshal(good))
	if p.Raw != "" {
		body = o.edited(body, p.Raw, o.now().Unix())
	}
	return []byte(body)
}

var levels = regexp.MustCompile(`^\{(\d+) levels\}$`)

// fill replaces the placeholders of a payload.
func (p *oddAnswer) fill(o *op, v any) any {
	switch list := v.(type) {
	case []any:
		filled := make([]any, len(list))
		for i := range list {
			filled[i] = p.fill(o, list[i])
		}
		return filled
	case map[string]any:
		filled := map[string]any{}
		for name := range list {
			filled[name] = p.fill(o, list[name])
		}
		return filled
	}
	text, ok := v.(string)
	if !ok {
		return v
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "{client_secret}", clientSecret), "{collector}", collector)
	if text, ok := filler(text); ok {
		return text
	}
	if m := levels.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err == nil {
			return "{raw " + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
		}
	}
	if strings.HasPrefix(text, "{") && !rawMember.MatchString(text) {
		if key := keyed(strings.Trim(text, "{}")); key != nil {
			return key
		}
		o.failf("%q is not known", text)
	}
	return text
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
