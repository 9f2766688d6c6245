package upstream

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// Response is a completely read response.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// HTTP converts the response to an http.Response without the Location header. The policy for redirects was already
// applied when the request was sent. An [http.Client] that uses this transport would apply its own policy, and send the
// body of a 307 redirect, with the code and the client secret, to any host. Without Location there is nothing to
// follow.
func (r *Response) HTTP(request *http.Request) *http.Response {
	header := r.Header
	if _, there := header["Location"]; there {
		header = header.Clone()
		header.Del("Location")
	}
	status := "200 OK"
	if r.Status != http.StatusOK {
		status = fmt.Sprintf("%03d %s", r.Status, http.StatusText(r.Status))
	}
	return &http.Response{
		Status: status, StatusCode: r.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(r.Body)), ContentLength: int64(len(r.Body)), Request: request,
	}
}

// Transport returns the Client as a transport, for libraries and callbacks that send their own requests. Its responses
// are those of [Response.HTTP]: an [http.Client] that uses it follows only the redirects that policy allows.
func (c *Client) Transport(policy Policy) http.RoundTripper { return transport{c, policy} }

type transport struct {
	client *Client
	policy Policy
}

// RoundTrip implements [http.RoundTripper]. The body of the response is in memory.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.client.Do(r.Context(), r, t.policy)
	if err != nil {
		return nil, err
	}
	return answer.HTTP(r), nil
}
