package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
)

// overHTTP1 sends the body over HTTP/1.1, exactly as described.
func (p *body) overHTTP1(b *browser, target string) (wire.Answer, error) {
	return wire.Exchange(b, b.address, b.secure, p.method(), func(w io.Writer) error {
		var head strings.Builder
		fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nConnection: close\r\n", p.method(), target)
		for _, line := range p.header(b) {
			fmt.Fprintf(&head, "%s: %s\r\n", line[0], line[1])
		}
		switch {
		case p.owns("Content-Length") || p.owns("Transfer-Encoding"):
		case p.Stream != nil:
			head.WriteString("Transfer-Encoding: chunked\r\n")
		case p.Drip != nil:
			fmt.Fprintf(&head, "Content-Length: %d\r\n", p.Drip.Bytes)
		default:
			fmt.Fprintf(&head, "Content-Length: %d\r\n", len(p.text))
		}
		if _, err := io.WriteString(w, head.String()+"\r\n"); err != nil {
			return err
		}
		if p.Stream == nil {
			_, err := io.Copy(w, p.reader(b))
			if half, ok := w.(interface{ CloseWrite() error }); ok && err == nil && p.owns("Content-Length") {
				return half.CloseWrite()
			}
			return err
		}
		return chunked(w, p.reader(b))
	})
}

// chunked writes chunks of HTTP/1.1, each in one write, from reused memory: the client's memory is measured together
// with the server's.
func chunked(w io.Writer, r io.Reader) error {
	chunk, framed := make([]byte, 64<<10), make([]byte, 0, 65<<10)
	for {
		n, err := r.Read(chunk)
		if n > 0 {
			framed = fmt.Appendf(framed[:0], "%x\r\n", n)
			framed = append(append(framed, chunk[:n]...), "\r\n"...)
			if _, err := w.Write(framed); err != nil {
				return err
			}
		}
		if err != nil {
			_, _ = io.WriteString(w, "0\r\n\r\n")
			return nil //nolint:nilerr // the end of the body
		}
	}
}

// reader returns the body as a stream.
func (p *body) reader(ctx context.Context) io.Reader {
	switch {
	case p.Stream != nil:
		return io.LimitReader(endlessText{}, int64(p.Stream.MB)<<20)
	case p.Drip != nil:
		return &drops{ctx: ctx, left: p.Drip.Bytes, every: time.Duration(p.Drip.EveryMS) * time.Millisecond}
	}
	return struct{ io.Reader }{strings.NewReader(p.text)} // hides WriterTo, which would copy all of it
}

// endlessText is an endless text.
type endlessText struct{}

func (endlessText) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'b'
	}
	return len(b), nil
}

// drops is a text that arrives one byte at a time.
type drops struct {
	ctx   context.Context
	left  int
	every time.Duration
}

func (d *drops) Read(b []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	select {
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	case <-time.After(d.every):
	}
	d.left--
	b[0] = 'a'
	return 1, nil
}

// overHTTP2 sends the body with an HTTP/2 client.
func (p *body) overHTTP2(b *browser, target string) (out wire.Answer, err error) {
	transport := &http.Transport{
		ForceAttemptHTTP2: true, DisableCompression: true,
		TLSClientConfig: wire.TLS(&tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}),
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, b.address)
		},
	}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(b, 2*bodyWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, p.method(), home+target, p.reader(ctx))
	if err != nil {
		return out, err
	}
	if p.Drip != nil {
		r.ContentLength = int64(p.Drip.Bytes)
	}
	for _, line := range p.header(b)[1:] {
		r.Header.Add(line[0], line[1])
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		return out, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.ProtoMajor != 2 {
		return out, errors.New("the server does not speak HTTP/2")
	}
	out.Status, out.Header, out.Cookies = response.StatusCode, response.Header, response.Header["Set-Cookie"]
	out.Body, err = io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return out, err
}
