package authhttp

import (
	"bufio"
	"io"
	"net"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
)

// Writer is a ResponseWriter that commits a visit before the header goes out: when the handler writes, flushes, or
// hijacks the connection. It has the further powers of the writer underneath, and answers [http.ErrNotSupported] where
// that has none.
type Writer struct {
	http.ResponseWriter
	visit *core.Visit
}

// NewWriter returns a Writer for the hook of a router on top of net/http. What the hook must do besides is to commit
// the visit when the next handler has returned.
func NewWriter(w http.ResponseWriter, visit *core.Visit) *Writer { return &Writer{w, visit} }

func (w *Writer) commit() { w.visit.Commit(w.Header()) }

// WriteHeader implements [http.ResponseWriter]. Informational answers come before the header, but for the one that ends
// HTTP.
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

// ReadFrom implements [io.ReaderFrom]: files go to the network without a detour.
func (w *Writer) ReadFrom(r io.Reader) (int64, error) {
	w.commit()
	return io.Copy(w.ResponseWriter, r)
}

// Flush implements [http.Flusher].
func (w *Writer) Flush() { _ = w.FlushError() }

// FlushError is Flush for [http.ResponseController].
func (w *Writer) FlushError() error {
	w.commit()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack implements [http.Hijacker]. The visit ends: what the handler sends from then on gets no cookies of ours.
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

// Unwrap is for [http.ResponseController].
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
