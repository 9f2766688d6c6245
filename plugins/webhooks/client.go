package webhooks

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
	"strconv"
	"syscall"
	"time"

	"github.com/latchkey-go/latchkey/internal/upstream"
)

// The limits of a request.
const (
	requestTime = 15 * time.Second // from the lookup of the name to the end of the response
	maxResponse = 16 << 10         // bytes of a response body that are read; the rest is ignored
	maxURL      = 512
)

// newClient returns a client that connects to addresses of the internet, or also to those of the own network. It checks
// the address of each connection after the lookup of the name, so that a name which changes between two lookups cannot
// bypass the check (DNS rebinding). It uses no proxy, which would look the name up again, and follows no redirects.
func newClient(internal bool) *http.Client {
	check := upstream.CheckPublic
	if internal {
		check = upstream.CheckInternal
	}
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, resolved string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return err
		}
		if check(at.Addr()) != nil {
			return errAddress
		}
		return nil
	}}
	return &http.Client{
		Timeout:       requestTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second,
			MaxResponseHeaderBytes: maxResponse, MaxIdleConns: 64, MaxIdleConnsPerHost: sendersPerEndpoint,
			IdleConnTimeout: 30 * time.Second, DisableCompression: true,
		},
	}
}

// The errors of requests. Their texts are shown to managers. They do not contain the text of a response or of a
// resolver: an endpoint must not be a way to read the operator's network.
var (
	errAddress = errors.New("the name resolves to an address that is not on the internet")
	errTimeout = errors.New("no response in time")
	errConnect = errors.New("no connection, or no valid response")
	errStatus  = errors.New("the response has another status than 2xx")
)

// statusError is a response with another status than 2xx.
type statusError int

func (e statusError) Error() string        { return "status " + strconv.Itoa(int(e)) }
func (e statusError) Is(target error) bool { return target == errStatus }

// checkURL returns why an address cannot be that of an endpoint, or nil.
func checkURL(raw string, internal bool) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || len(raw) > maxURL || u.Opaque != "":
		return fmt.Errorf("use an absolute URL of at most %d bytes", maxURL)
	case u.Scheme != "https" && (u.Scheme != "http" || !internal):
		return errors.New("use https")
	case u.Hostname() == "" || u.User != nil || u.Fragment != "":
		return errors.New("use a host, and neither a user nor a fragment")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !internal && upstream.CheckPublic(addr) != nil {
		return errAddress
	}
	return nil
}

// post sends a message to an endpoint once.
func (w *Webhooks) post(ctx context.Context, e *endpoint, id string, body []byte) error {
	ctx, end := context.WithTimeout(ctx, requestTime)
	defer end()
	if err := checkURL(e.URL, e.internal); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return errConnect
	}
	now := w.host.Now()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Latchkey-Webhooks")
	r.Header.Set("Webhook-Id", id)
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	r.Header.Set("Webhook-Signature", signatures(e.signing(now), id, now, body))
	client := w.public
	if e.internal {
		client = w.internal
	}
	response, err := client.Do(r)
	var timeout net.Error
	switch {
	case errors.Is(err, errAddress):
		return errAddress
	case errors.As(err, &timeout) && timeout.Timeout(), ctx.Err() != nil:
		return errTimeout
	case err != nil:
		return errConnect
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.CopyN(io.Discard, response.Body, maxResponse) // the connection can be used again after a short response
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return statusError(response.StatusCode)
	}
	return nil
}
