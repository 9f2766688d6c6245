package authhttp

import (
	"bufio"
	"io"
	"net"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
)

// Writer is a [http.ResponseWriter] that commits a visit before the header is written: when the handler writes,
// flushes, or hijacks the connection. It supports the optional interfaces of the underlying writer, and returns
// [http.ErrNotSupported] if the underlying writer does not support one.
type Writer struct {
	http.ResponseWriter
	visit *core.Visit
}

// NewWriter returns a Writer for the hook of a router that is built on net/http. The hook must also commit the visit
// when the next handler returns.
func NewWriter(w http.ResponseWriter, visit *core.Visit) *Writer { return &Writer{w, visit} }

func (w *Writer) commit() { w.visit.Commit(w.Header()) }

// WriteHeader implements [http.ResponseWriter]. Informational responses (1xx) do not commit the visit, except 101,
// which ends HTTP.
func (w *Writer) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.commit()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *Writer) Write(b []byte) (int, error) {
	w.commit()
	return w.ResponseWriter.Write(b)
}

// WriteString implements [io.StringWriter].
func (w *Writer) WriteString(s string) (int, error) {
	w.commit()
	return io.WriteString(w.ResponseWriter, s)
}

// ReadFrom implements [io.ReaderFrom], so that net/http can send files with sendfile.
func (w *Writer) ReadFrom(r io.Reader) (int64, error) {
	w.commit()
	return io.Copy(w.ResponseWriter, r)
}

// Flush implements [http.Flusher].
func (w *Writer) Flush() { _ = w.FlushError() }

// FlushError supports [http.ResponseController].
func (w *Writer) FlushError() error {
	w.commit()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack implements [http.Hijacker]. It commits the visit first. Responses that the handler sends on the hijacked
// connection get no session cookies.
func (w *Writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.commit()
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// Push implements [http.Pusher].
func (w *Writer) Push(target string, options *http.PushOptions) error {
	if pusher, ok := w.ResponseWriter.(http.Pusher); ok {
		return pusher.Push(target, options)
	}
	return http.ErrNotSupported
}

// Unwrap supports [http.ResponseController].
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
