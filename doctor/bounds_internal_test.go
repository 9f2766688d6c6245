package doctor

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// endless is an endless body. It counts the bytes read, and fails after a limit.
type endless struct{ read int }

func (b *endless) Read(p []byte) (int, error) {
	if b.read > 8<<20 {
		return 0, io.EOF
	}
	b.read += len(p)
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func (*endless) Close() error { return nil }

type answering func(r *http.Request) (*http.Response, error)

func (f answering) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestResponsesAreBounded: doctor reads at most the maximum size of a document or a page, even from an endless
// response.
func TestResponsesAreBounded(t *testing.T) {
	at, err := url.Parse("https://op.test/authorize?redirect_uri=https%3A%2F%2Fapp.test%2Fauth%2Fcallback%2Fop")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		bound int
		ask   func(c *http.Client)
	}{
		"a visit": {mostDocument, func(c *http.Client) { Visit(t.Context(), "https://app.test", Options{HTTPClient: c}) }},
		"a page": {mostPage, func(c *http.Client) {
			newWeb(&core.Config{}, c).front(t.Context(), at)
		}},
		"a document": {mostDocument, func(c *http.Client) {
			var into any
			_ = newWeb(&core.Config{}, c).read(t.Context(), "https://op.test/x", &into)
		}},
	} {
		most := 0
		row.ask(&http.Client{Transport: answering(func(r *http.Request) (*http.Response, error) {
			if _, limited := r.Context().Deadline(); !limited && name == "a visit" {
				t.Errorf("%s: a request has no deadline", name)
			}
			body := &counted{&endless{}, &most}
			return &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{}, Request: r, Body: body}, nil
		})})
		if most == 0 || most > row.bound+64<<10 {
			t.Errorf("%s: %d bytes were read", name, most)
		}
	}
}

// counted reports how much of a body was read when it is closed.
type counted struct {
	*endless
	most *int
}

func (c *counted) Close() error { *c.most = max(*c.most, c.read); return nil }

// TestProbesEnd: doctor stops following endless redirects, and errors do not repeat parameters of the request.
func TestProbesEnd(t *testing.T) {
	const back = "redirect_uri=https%3A%2F%2Fapp.test%2Fauth%2Fcallback%2Fop"
	at, err := url.Parse("https://op.test/authorize?state=canary&" + back)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for name, answer := range map[string]answering{
		"led on": func(r *http.Request) (*http.Response, error) {
			if asked++; asked > 100 {
				return nil, errors.New("enough")
			}
			return &http.Response{
				StatusCode: 302, Header: http.Header{"Location": {"https://op.test/" + strconv.Itoa(asked) + "?state=canary"}},
				Request: r, Body: http.NoBody,
			}, nil
		},
		"no answer": func(*http.Request) (*http.Response, error) { return nil, errors.New("nobody is there") },
	} {
		state, what, fix := newWeb(&core.Config{}, &http.Client{Transport: answer}).front(t.Context(), at)
		if state != Unknown || strings.Contains(what+fix, "canary") || asked > 20 {
			t.Errorf("%s: %v %q after %d requests", name, state, what, asked)
		}
	}
}
