package upstream_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/upstream"
)

// TestNoSecretFollowsARedirect puts an http.Client around the transport, as libraries do. On its own, such a client
// would post the body of a 307 redirect, with code and client secret, to any host that the provider names.
func TestNoSecretFollowsARedirect(t *testing.T) {
	t.Parallel()
	var collected []string
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		collected = append(collected, r.Method+" "+r.Header.Get("Authorization")+" "+string(body))
	}))
	defer collector.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			t.Run(method+" "+http.StatusText(status), func(t *testing.T) {
				within := 0
				op := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if within++; r.URL.Path == "/away" {
						w.Header().Set("Location", collector.URL)
					} else {
						w.Header().Set("Location", "/elsewhere")
					}
					w.WriteHeader(status)
				}))
				defer op.Close()
				careful := upstream.New(upstream.Options{})
				for name, around := range map[string]http.RoundTripper{
					"Transport": careful.Transport(upstream.NoRedirects),
					"Response.HTTP": roundTrip(func(r *http.Request) (*http.Response, error) {
						answer, err := careful.Do(r.Context(), r, upstream.NoRedirects)
						if err != nil {
							return nil, err
						}
						return answer.HTTP(r), nil
					}),
				} {
					for _, path := range []string{"/away", "/within"} {
						within = 0
						r := request(t, op.URL+path)
						if method == http.MethodPost {
							r, _ = http.NewRequestWithContext(t.Context(), method, op.URL+path, strings.NewReader("code=canary"))
							r.SetBasicAuth("client", "canary")
						}
						answer, err := (&http.Client{Transport: around}).Do(r)
						if err != nil {
							t.Fatalf("%s %s: %v", name, path, err)
						}
						_ = answer.Body.Close()
						if answer.StatusCode != status || within != 1 {
							t.Errorf("%s %s: status %d after %d requests", name, path, answer.StatusCode, within)
						}
					}
				}
			})
		}
	}
	if len(collected) > 0 {
		t.Errorf("the other host saw %q", collected)
	}
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHTTPKeepsTheRest(t *testing.T) {
	t.Parallel()
	answer := &upstream.Response{Status: 201, Header: http.Header{"Location": {"/x"}, "Etag": {"e"}}, Body: []byte("body")}
	got := answer.HTTP(nil)
	body, err := io.ReadAll(got.Body)
	if err != nil || string(body) != "body" || got.StatusCode != 201 || got.Status != "201 Created" ||
		got.ContentLength != 4 {
		t.Errorf("got %q, %q, %v", got.Status, body, err)
	}
	if got.Header.Get("Etag") != "e" || answer.Header.Get("Location") != "/x" {
		t.Errorf("headers %v of %v", got.Header, answer.Header)
	}
}
