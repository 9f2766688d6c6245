package upstream

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// Response is an answer, read to its end.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// HTTP returns the answer in the form that HTTP libraries take, but for its Location: whether a redirect is followed
// was decided when the request was sent. An [http.Client] around a transport decides anew, and sends the body of a 307,
// with the code and the client secret in it, to whatever host it names. Without a Location there is nothing to follow.
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

// Transport is the Client as a transport, for libraries and hooks that bring their own requests. It answers as
// [Response.HTTP] does: an [http.Client] with it follows no redirect that policy does not.
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
