// Package upstream sends requests to identity providers: with a deadline, a bounded answer, no redirects where secrets travel,
// https except to this machine, and no connection to addresses that no provider has. Providers lie, hang and get hacked.
package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Defaults of Options.
const (
	DefaultTimeout = 10 * time.Second
	DefaultMaxBody = 1 << 20
)

// Options says how careful a Client is. The zero value is the default for all.
type Options struct {
	// HTTP is the operator's own client, nil for ours. Its transport is used as it is; deadline, bound and redirect rules hold.
	HTTP *http.Client
	// Timeout bounds a request from dialling to the last byte of the body; zero: DefaultTimeout.
	Timeout time.Duration
	// MaxBody is how many bytes an answer may have, after decompression; zero: DefaultMaxBody.
	MaxBody int64
}

// Policy says whether redirects are followed.
type Policy int

const (
	// NoRedirects is for requests that carry a code, a secret or a token.
	NoRedirects Policy = iota
	// SameHost follows up to three redirects within the same scheme and host: for documents that anybody may read.
	SameHost
)

// Client sends requests. It is safe for concurrent use; make it with [New].
type Client struct {
	transport http.RoundTripper
	timeout   time.Duration
	maxBody   int64
}

// New returns a Client.
func New(o Options) *Client {
	c := &Client{timeout: o.Timeout, maxBody: o.MaxBody}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	if c.maxBody <= 0 {
		c.maxBody = DefaultMaxBody
	}
	if o.HTTP != nil {
		if c.transport = o.HTTP.Transport; c.transport == nil {
			c.transport = http.DefaultTransport
		}
		if o.HTTP.Timeout > 0 && o.HTTP.Timeout < c.timeout {
			c.timeout = o.HTTP.Timeout
		}
		return c
	}
	c.transport = guardedTransport()
	return c
}

// Response is an answer, read to its end.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// HTTP returns the answer in the form that HTTP libraries take.
func (r *Response) HTTP(request *http.Request) *http.Response {
	return &http.Response{
		Status: http.StatusText(r.Status), StatusCode: r.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.Header, Body: io.NopCloser(bytes.NewReader(r.Body)), ContentLength: int64(len(r.Body)), Request: request,
	}
}

// Errors that a caller can tell from others. None holds a query, a header or a body.
var (
	ErrTooLarge = errors.New("the answer is too large")
	ErrInsecure = errors.New("plain http is for providers on this machine only")
	ErrAddress  = errors.New("the name leads to an address that no provider has")
	ErrRedirect = errors.New("the redirect is not followed")
)

// Do sends a request and reads the answer. The status is the caller's to judge.
func (c *Client) Do(ctx context.Context, r *http.Request, policy Policy) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	client := http.Client{Transport: c.transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		first := via[0].URL
		if policy != SameHost || len(via) > 3 {
			return http.ErrUseLastResponse
		}
		if next.URL.Scheme != first.Scheme || next.URL.Host != first.Host {
			return ErrRedirect
		}
		return nil
	}}
	if err := secure(r.URL); err != nil {
		return nil, describe(r, err)
	}
	answer, err := client.Do(r.WithContext(ctx))
	if err != nil {
		return nil, describe(r, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, c.maxBody+1))
	if err != nil {
		return nil, describe(r, err)
	}
	if int64(len(body)) > c.maxBody {
		return nil, describe(r, ErrTooLarge)
	}
	header := answer.Header.Clone()
	header.Del("Content-Encoding")
	return &Response{Status: answer.StatusCode, Header: header, Body: body}, nil
}

// Transport is the Client as a transport, for libraries and hooks that bring their own requests.
func (c *Client) Transport(policy Policy) http.RoundTripper { return transport{c, policy} }

type transport struct {
	client *Client
	policy Policy
}

// RoundTrip implements [http.RoundTripper]. The answer's body is in memory.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.client.Do(r.Context(), r, t.policy)
	if err != nil {
		return nil, err
	}
	return answer.HTTP(r), nil
}

// describe tells method, host and path of a request that failed. net/http's own text would repeat the whole URL.
func describe(r *http.Request, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("%s %s%s: %w", r.Method, r.URL.Host, r.URL.Path, err)
}

// secure refuses plain http to anything but this machine, and URLs with a user.
func secure(u *url.URL) error {
	switch {
	case u.User != nil:
		return errors.New("the URL has a user")
	case u.Scheme == "https", u.Scheme == "http" && Loopback(u.Hostname()):
		return nil
	}
	return ErrInsecure
}

// Loopback tells whether a host name is this machine's.
func Loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}

// guardedTransport connects only to addresses that a provider can have. It looks at the address when the connection is made: a
// name that changes between two look-ups makes no difference.
func guardedTransport() http.RoundTripper {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			named := Loopback(host) // the operator wrote a name of this machine; a public name must not lead here
			dialer := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, resolved string, _ syscall.RawConn) error {
				return checkAddress(resolved, named)
			}}
			return dialer.DialContext(ctx, network, address)
		},
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// checkAddress refuses link-local (the metadata services of clouds among them), unspecified and multicast addresses, and
// loopback unless it was asked for by name.
func checkAddress(resolved string, loopbackNamed bool) error {
	at, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return err
	}
	addr := at.Addr().Unmap()
	switch {
	case addr.IsLinkLocalUnicast(), addr.IsUnspecified(), addr.IsMulticast(), addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return ErrAddress
	case addr == netip.MustParseAddr("fd00:ec2::254"), addr == netip.AddrFrom4([4]byte{100, 100, 100, 200}):
		return ErrAddress // metadata services outside the link-local range
	case addr.IsLoopback() && !loopbackNamed:
		return ErrAddress
	}
	return nil
}
