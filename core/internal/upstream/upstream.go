// Package upstream sends requests to identity providers: with a deadline, a bounded answer, no redirects where secrets
// travel, https except to this machine, and no connection to addresses that no provider has. Providers lie, hang and
// get hacked.
package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/deadline"
)

// Defaults of Options.
const (
	DefaultTimeout = 10 * time.Second
	DefaultMaxBody = 1 << 20
)

// maxRedirects is how many redirects SameHost follows.
const maxRedirects = 3

// Options says how careful a Client is. The zero value is the default for all.
type Options struct {
	// HTTP is the operator's own client, nil for ours. Its transport is used as it is, and so is a shorter Timeout;
	// deadline, bound and redirect rules hold. Its Jar and CheckRedirect are not used, and it is not changed. Without a
	// transport ours is used, which looks at the address of every connection; a transport of the operator's connects where
	// it likes.
	HTTP *http.Client
	// InsecureHosts are names of hosts, without a port, that may be asked over plain http and whose names may resolve to
	// this machine. The exception is for these hosts only, not for those that they redirect to.
	InsecureHosts []string
	// Timeout bounds a request from dialling to the last byte of the body; zero: DefaultTimeout. A request of a
	// [deadline.Series] may have a tenth less.
	Timeout time.Duration
	// MaxBody is how many bytes an answer may have, after decompression; zero: DefaultMaxBody.
	MaxBody int64
	// OnDate, if not nil, is called with the host and the Date of each response that no cache has stored (RFC 9110 section
	// 6.6.1). It must be safe for concurrent use.
	OnDate func(host string, date time.Time)
}

// Policy says whether redirects are followed.
type Policy int

const (
	// NoRedirects is for requests that carry a code, a secret or a token. A redirect is an answer like any other.
	NoRedirects Policy = iota
	// SameHost follows up to three redirects of a GET within the same scheme, host and port: for documents that are
	// public. Any other redirect is ErrRedirect.
	SameHost
)

// Client sends requests. It is safe for concurrent use; make it with [New].
type Client struct {
	transport http.RoundTripper
	own       bool // transport is ours, which changes no request
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

// AllowsInsecure reports whether a host is one of [Options.InsecureHosts]. A nil Client has none.
func (c *Client) AllowsInsecure(host string) bool { return c != nil && c.insecure.contain(host) }

// Do sends a request and reads the answer. The status is the caller's to judge. Errors are of type [*Error]; those of
// ctx and of its deadline are behind it.
func (c *Client) Do(ctx context.Context, r *http.Request, policy Policy) (*Response, error) {
	return c.Ask(ctx, policy, func(ctx context.Context) (*http.Request, error) {
		return r.WithContext(ctx), nil
	})
}

// Ask is Do for a request that is made for it, with the context that request gets: one with the deadline, so that the
// request need not be copied to have it. An error of request itself is returned as it is.
func (c *Client) Ask(
	ctx context.Context, policy Policy, request func(context.Context) (*http.Request, error),
) (*Response, error) {
	ctx, end := c.within(ctx)
	defer end()
	r, err := request(ctx)
	if err != nil {
		return nil, err
	}
	sent := r
	if !c.own { // a transport must not see a request change, nor the caller one that a transport changed
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

// noteDate calls onDate with the time when the server sent a response. It ignores cached responses, which have an Age.
func (c *Client) noteDate(r *http.Request, response *http.Response) {
	if c.onDate == nil || response.Header.Get("Age") != "" {
		return
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		c.onDate(r.URL.Host, date)
	}
}

// within is ctx with the deadline of a request, which those of a series share as far as it goes.
func (c *Client) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if series, ok := ctx.(*deadline.Series); ok {
		return series.Call(c.timeout), func() {} // the series ends what it shares
	}
	return context.WithTimeout(ctx, c.timeout)
}

// follow sends a request, and those that the answers redirect to as far as the policy goes. It does not leave that to
// [http.Client], which has its say about the Location of an answer before it asks whether to follow.
func (c *Client) follow(r *http.Request, policy Policy) (*http.Response, error) {
	for hops := 0; ; hops++ {
		if err := c.insecure.secure(r.URL); err != nil {
			if r.Body != nil {
				_ = r.Body.Close() // as a transport would have
			}
			return nil, err
		}
		answer, err := c.transport.RoundTrip(r)
		switch {
		case err != nil:
			return nil, err
		case answer == nil || answer.Body == nil:
			return nil, errors.New("the transport has neither an answer nor an error")
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

// read reads an answer to its end or to the bound. A transport that decompresses does so below the bound.
func (c *Client) read(answer *http.Response) ([]byte, error) {
	if answer.ContentLength > c.maxBody {
		return nil, ErrTooLarge
	}
	size := int64(bytes.MinRead)
	if answer.ContentLength > 0 {
		size = answer.ContentLength + 1 // so that the end is found without growing
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
