package upstream_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/upstream"
)

func answer(status int, location string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Location": {location}}, Body: io.NopCloser(strings.NewReader("{}")),
		ContentLength: -1,
	}
}

// TestOperatorsClient checks that the rules apply to an operator's client.
func TestOperatorsClient(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		url       string
		transport roundTrip
		policy    upstream.Policy
		status    int
		err       error
	}{
		{"its transport", "https://op.example/", func(*http.Request) (*http.Response, error) { return answer(200, ""), nil },
			upstream.NoRedirects, 200, nil},

		{"redirect where none is followed", "https://op.example/",
			func(*http.Request) (*http.Response, error) { return answer(307, "https://evil.example"), nil },
			upstream.NoRedirects, 307, nil},
		{"redirect to another host", "https://op.example/",
			func(*http.Request) (*http.Response, error) { return answer(302, "https://evil.example"), nil },
			upstream.SameHost, 0, upstream.ErrRedirect},
		{"redirect to another port", "https://op.example/",
			func(*http.Request) (*http.Response, error) { return answer(302, "https://op.example:8443/"), nil },
			upstream.SameHost, 0, upstream.ErrRedirect},
		{"redirect to plain http", "https://op.example/",
			func(*http.Request) (*http.Response, error) { return answer(302, "http://op.example/"), nil },
			upstream.SameHost, 0, upstream.ErrRedirect},
		{"plain http", "http://op.example/", nil, upstream.NoRedirects, 0, upstream.ErrInsecure},
		{"metadata service", "https://169.254.169.254/", nil, upstream.NoRedirects, 0, upstream.ErrAddress},

		{"endless body", "https://op.example/", func(*http.Request) (*http.Response, error) {
			a := answer(200, "")
			a.Body = io.NopCloser(endless{})
			return a, nil
		}, upstream.NoRedirects, 0, upstream.ErrTooLarge},
		{"hangs", "https://op.example/", func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, upstream.NoRedirects, 0, context.DeadlineExceeded},
	} {
		t.Run(row.name, func(t *testing.T) {
			timeout := time.Minute // a busy machine is no reason to fail
			if errors.Is(row.err, context.DeadlineExceeded) {
				timeout = 20 * time.Millisecond
			}
			jar, _ := cookiejar.New(nil)
			own := &http.Client{
				Transport: row.transport, Jar: jar, Timeout: timeout,
				CheckRedirect: func(*http.Request, []*http.Request) error { return nil },
			}
			got, err := upstream.New(upstream.Options{HTTP: own}).Do(t.Context(), request(t, row.url), row.policy)
			if !errors.Is(err, row.err) {
				t.Fatalf("error %v, want %v", err, row.err)
			}
			if err == nil && got.Status != row.status {
				t.Errorf("status %d, want %d", got.Status, row.status)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestOperatorsClientWithoutTransportIsGuarded(t *testing.T) {
	t.Parallel()
	c := upstream.New(upstream.Options{HTTP: &http.Client{}})
	_, err := c.Do(t.Context(), request(t, "https://[fe80::1]/"), upstream.NoRedirects)
	if !errors.Is(err, upstream.ErrAddress) {
		t.Errorf("error %v", err)
	}
}

func TestTransportThatBreaksItsContract(t *testing.T) {
	t.Parallel()
	silent := roundTrip(func(*http.Request) (*http.Response, error) { return nil, nil })
	c := upstream.New(upstream.Options{HTTP: &http.Client{Transport: silent}})
	if _, err := c.Do(t.Context(), request(t, "https://op.example/"), upstream.NoRedirects); err == nil {
		t.Error("neither a response nor an error")
	}
}

func TestTransportCannotChangeTheRequest(t *testing.T) {
	t.Parallel()
	r := request(t, "https://op.example/")
	changing := roundTrip(func(r *http.Request) (*http.Response, error) {
		r.Header.Set("Authorization", "another")
		return answer(200, ""), nil
	})
	c := upstream.New(upstream.Options{HTTP: &http.Client{Transport: changing}})
	if _, err := c.Do(t.Context(), r, upstream.NoRedirects); err != nil ||
		r.Header.Get("Authorization") != "Bearer canary-token" {
		t.Errorf("header %q, error %v", r.Header.Get("Authorization"), err)
	}
}

// TestCertificates checks that invalid certificates are rejected. crypto/tls does that; the test makes sure that this
// package does not prevent it.
func TestCertificates(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of expected handshake failures
	server.StartTLS()
	defer server.Close()
	trusting := func(at time.Time) *http.Client {
		transport := server.Client().Transport.(*http.Transport).Clone()
		transport.TLSClientConfig.Time = func() time.Time { return at }
		return &http.Client{Transport: transport}
	}
	valid := server.Certificate().NotBefore.Add(time.Hour)
	other := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	for _, row := range []struct {
		name string
		url  string
		http *http.Client
		ok   bool
	}{
		{"trusted", server.URL, trusting(valid), true},
		{"self-signed", server.URL, nil, false},
		{"of another host", other, trusting(valid), false},
		{"expired", server.URL, trusting(server.Certificate().NotAfter.Add(time.Hour)), false},
		{"not valid yet", server.URL, trusting(server.Certificate().NotBefore.Add(-time.Hour)), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := upstream.New(upstream.Options{HTTP: row.http}).Do(t.Context(), request(t, row.url), upstream.NoRedirects)
			if (err == nil) != row.ok {
				t.Errorf("error %v", err)
			}
		})
	}
}
