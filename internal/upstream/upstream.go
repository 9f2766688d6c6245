// Package upstream sends requests to identity providers. Providers can be slow, malicious or compromised, so requests
// have a timeout and a response size limit. Requests with secrets follow no redirects. https is required except for
// this machine. Connections to addresses that no provider has are rejected.
package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// The defaults of Options.Timeout and Options.MaxBody.
const (
	DefaultTimeout = 10 * time.Second
	DefaultMaxBody = 1 << 20
)

// maxRedirects is the maximum number of redirects under SameHost.
const maxRedirects = 3

// Options are the options of a Client. The zero value has sensible defaults.
type Options struct {
	// HTTP is the operator's client, or nil. Its transport and a shorter Timeout are used; the limits and redirect rules
	// still apply. Its Jar and CheckRedirect are ignored, and it is not changed. If it has no transport, the default
	// transport is used, which checks the address of every connection. The operator's own transport has no such check.
	HTTP *http.Client
	// InsecureHosts are names of hosts, without a port, that may use plain http and may resolve to this machine. The
	// exception does not apply to hosts that they redirect to.
	InsecureHosts []string
	// Timeout limits a request from dialing to the last byte of the body. The default is DefaultTimeout.
	Timeout time.Duration
	// MaxBody is the maximum size of a decompressed response body in bytes. The default is DefaultMaxBody.
	MaxBody int64
	// OnDate, if not nil, is called with the host and the Date header of each response that is not from a cache (RFC 9110
	// section 6.6.1). It must be safe for concurrent use.
	OnDate func(host string, date time.Time)
}

// Policy selects the redirects that a request follows.
type Policy int

const (
	// NoRedirects is for requests with a code, a secret or a token. A redirect is returned like any other response.
	NoRedirects Policy = iota
	// SameHost follows up to three redirects of a GET request with the same scheme, host and port. It is for public
	// documents. Any other redirect is ErrRedirect.
	SameHost
)

// Client sends requests. It is safe for concurrent use. Create it with [New].
type Client struct {
	transport http.RoundTripper
	own       bool // the transport is the default one, which does not change requests
	insecure  hosts
	timeout   time.Duration
	maxBody   int64
	onDate    func(host string, date time.Time)
}

// New returns a Client.
func New(o Options) *Client {
	c := &Client{timeout: o.Timeout, maxBody: o.MaxBody, insecure: o.InsecureHosts, onDate: o.OnDate}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	if c.maxBody <= 0 {
		c.maxBody = DefaultMaxBody
	}
	if o.HTTP != nil {
		c.transport = o.HTTP.Transport
		if o.HTTP.Timeout > 0 {
			c.timeout = min(c.timeout, o.HTTP.Timeout)
		}
	}
	if c.transport == nil {
		c.transport, c.own = guardedTransport(c.insecure), true
	}
	return c
}

// maxClockSkew is the smallest difference between this process's clock and a server's clock that is reported. ID tokens
// and cookies have lifetimes of minutes, so a larger difference makes sign-ins fail.
const maxClockSkew = time.Minute

// ClockCheck returns a function for OnDate of one or several clients. It calls report for the first response whose Date
// differs too much from the clock, with how far the clock is behind.
func ClockCheck(now func() time.Time, report func(host string, behind time.Duration)) func(string, time.Time) {
	var reported atomic.Bool
	return func(host string, date time.Time) {
		behind := date.Sub(now()).Round(time.Second)
		if behind.Abs() > maxClockSkew && !reported.Swap(true) {
			report(host, behind)
		}
	}
}

// AllowsInsecure reports whether a host is one of [Options.InsecureHosts]. A nil Client has none.
func (c *Client) AllowsInsecure(host string) bool { return c != nil && c.insecure.contain(host) }

// Do sends a request and reads the response. The caller must check the status. Errors are of type [*Error] and wrap
// those of ctx and of the timeout.
func (c *Client) Do(ctx context.Context, r *http.Request, policy Policy) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	sent := r.WithContext(ctx)
	if !c.own { // neither the transport nor the caller may see changes of the other
		sent = r.Clone(ctx)
	}
	answer, err := c.follow(sent, policy)
	if err != nil {
		return nil, describe(r, policy, err)
	}
	defer func() { _ = answer.Body.Close() }()
	c.noteDate(r, answer)
	body, err := c.read(answer)
	if err != nil {
		return nil, describe(r, policy, err)
	}
	return &Response{Status: answer.StatusCode, Header: answer.Header, Body: body}, nil
}

// noteDate calls onDate with the time when the server sent a response. It ignores cached responses, which have an Age
// header.
func (c *Client) noteDate(r *http.Request, response *http.Response) {
	if c.onDate == nil || response.Header.Get("Age") != "" {
		return
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		c.onDate(r.URL.Host, date)
	}
}

// follow sends a request and follows redirects according to the policy. It does not use [http.Client] for that, which
// reads the Location header of a response before it calls CheckRedirect.
func (c *Client) follow(r *http.Request, policy Policy) (*http.Response, error) {
	for hops := 0; ; hops++ {
		if err := c.insecure.secure(r.URL); err != nil {
			if r.Body != nil {
				_ = r.Body.Close() // as a transport would do
			}
			return nil, err
		}
		answer, err := c.transport.RoundTrip(r)
		switch {
		case err != nil:
			return nil, err
		case answer == nil || answer.Body == nil:
			return nil, errors.New("the transport returned neither a response nor an error")
		case policy != SameHost || r.Method != http.MethodGet || !isRedirect(answer.StatusCode):
			return answer, nil
		}
		_ = answer.Body.Close()
		next, err := r.URL.Parse(answer.Header.Get("Location"))
		if err != nil || hops == maxRedirects || next.Scheme != r.URL.Scheme || next.Host != r.URL.Host {
			return nil, ErrRedirect
		}
		r = r.Clone(r.Context())
		r.URL = next
	}
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// read reads a body up to the limit. If the transport decompresses, the limit applies to the decompressed body.
func (c *Client) read(answer *http.Response) ([]byte, error) {
	if answer.ContentLength > c.maxBody {
		return nil, ErrTooLarge
	}
	size := int64(bytes.MinRead)
	if answer.ContentLength > 0 {
		size = answer.ContentLength + 1 // one more, to read the end without growing the buffer
	}
	body := make([]byte, 0, size)
	for {
		n, err := answer.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > c.maxBody:
			return nil, ErrTooLarge
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		case len(body) == cap(body):
			body = slices.Grow(body, 1)
		}
	}
}
