// INTERIM: stands in so that core compiles; the author of this package deletes this file.
package upstream

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

type Options struct{ HTTP *http.Client }
type Client struct{ h *http.Client }
type Policy int

const NoRedirects Policy = 0

type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

func (r *Response) HTTP(q *http.Request) *http.Response {
	return &http.Response{StatusCode: r.Status, Header: r.Header, Body: io.NopCloser(bytes.NewReader(r.Body)), Request: q, ProtoMajor: 1, ProtoMinor: 1}
}
func New(o Options) *Client {
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	c := *o.HTTP
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{&c}
}
func (c *Client) Do(ctx context.Context, r *http.Request, p Policy) (*Response, error) {
	res, err := c.h.Do(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return &Response{res.StatusCode, res.Header, b}, err
}

type tr struct{ c *Client }

func (t tr) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := t.c.Do(r.Context(), r, 0)
	if err != nil {
		return nil, err
	}
	return a.HTTP(r), nil
}
func (c *Client) Transport(p Policy) http.RoundTripper { return tr{c} }
