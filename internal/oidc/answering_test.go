package oidc_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"sync"
)

// answering calls a handler for a request in memory, without a network, so that tests with a fake clock can wait for
// timeouts.
func answering(r *http.Request, h http.HandlerFunc) (*http.Response, error) {
	reader, writer := io.Pipe()
	w := &pipeWriter{header: http.Header{}, started: make(chan struct{}), body: writer}
	context.AfterFunc(r.Context(), func() { _ = reader.CloseWithError(r.Context().Err()) })
	go func() {
		defer func() {
			switch p := recover(); p {
			case nil:
				w.WriteHeader(http.StatusOK)
				_ = writer.Close()
			case http.ErrAbortHandler:
				w.aborted = true
				w.start()
			default:
				panic(p)
			}
		}()
		h(w, r)
	}()
	select {
	case <-w.started:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if w.aborted {
		return nil, io.ErrUnexpectedEOF
	}
	answer := &http.Response{StatusCode: w.status, Header: w.header, Body: reader, ContentLength: -1, Request: r}
	if w.header.Get("Content-Encoding") == "gzip" { // as net/http does
		z, err := gzip.NewReader(reader)
		if err != nil {
			return nil, err
		}
		answer.Body = struct {
			io.Reader
			io.Closer
		}{z, reader}
	}
	return answer, nil
}

type pipeWriter struct {
	header  http.Header
	status  int
	aborted bool
	once    sync.Once
	started chan struct{}
	body    *io.PipeWriter
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) start() { w.once.Do(func() { close(w.started) }) }

func (w *pipeWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.start()
	}
}

func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}
