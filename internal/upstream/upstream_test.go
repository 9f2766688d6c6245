package upstream_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/upstream"
)

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer canary-token")
	return r
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	collected := 0
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { collected++ }))
	defer collector.Close()
	hang := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "good") })
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 2000))
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 1000)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, strings.Repeat("x", 1<<20))
		_ = z.Close()
	})
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, collector.URL, http.StatusFound)
	})
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/announced", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1001") })
	mux.HandleFunc("/exact", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 1000))
	})
	mux.HandleFunc("/scheme", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+r.Host+"/good", http.StatusFound)
	})
	mux.HandleFunc("/nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	mux.HandleFunc("/garbled", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://[canary-location")
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/within", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/good", http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/loop", http.StatusFound)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	defer close(hang)

	for _, row := range []struct {
		name   string
		path   string
		policy upstream.Policy
		status int
		err    error
	}{
		{"good", "/good", upstream.NoRedirects, 200, nil},
		{"more than the bound", "/large", upstream.NoRedirects, 0, upstream.ErrTooLarge},
		{"endless", "/endless", upstream.NoRedirects, 0, upstream.ErrTooLarge},
		{"decompression bomb", "/bomb", upstream.NoRedirects, 0, upstream.ErrTooLarge},
		{"just the bound", "/exact", upstream.NoRedirects, 200, nil},
		{"announces more than the bound", "/announced", upstream.NoRedirects, 0, upstream.ErrTooLarge},
		{"connection reset", "/reset", upstream.NoRedirects, 0, io.EOF},
		{"headers, then nothing", "/drip", upstream.NoRedirects, 0, context.DeadlineExceeded},
		{"never answers", "/hang", upstream.NoRedirects, 0, context.DeadlineExceeded},
		{"redirect where none is followed", "/within", upstream.NoRedirects, 302, nil},
		{"redirect to another host where none is followed", "/away", upstream.NoRedirects, 302, nil},
		{"redirect within the host", "/within", upstream.SameHost, 200, nil},
		{"redirect to another host", "/away", upstream.SameHost, 0, upstream.ErrRedirect},
		{"redirect to another scheme", "/scheme", upstream.SameHost, 0, upstream.ErrRedirect},
		{"redirect to nowhere", "/nowhere", upstream.SameHost, 0, upstream.ErrRedirect},
		{"redirect to a garbled place", "/garbled", upstream.SameHost, 0, upstream.ErrRedirect},
		{"garbled redirect where none is followed", "/garbled", upstream.NoRedirects, 302, nil},
		{"redirect for ever", "/loop", upstream.SameHost, 0, upstream.ErrRedirect},
	} {
		t.Run(row.name, func(t *testing.T) {
			timeout := time.Minute // a busy machine is no reason to fail
			if errors.Is(row.err, context.DeadlineExceeded) {
				timeout = 500 * time.Millisecond
			}
			c := upstream.New(upstream.Options{MaxBody: 1000, Timeout: timeout})
			answer, err := c.Do(t.Context(), request(t, server.URL+row.path+"?code=canary-code"), row.policy)
			if !errors.Is(err, row.err) {
				t.Fatalf("error %v, want %v", err, row.err)
			}
			if err != nil {
				if strings.Contains(err.Error(), "canary") {
					t.Errorf("the error tells a secret: %v", err)
				}
				return
			}
			if answer.Status != row.status {
				t.Errorf("status %d, want %d", answer.Status, row.status)
			}
		})
	}
	if collected != 0 {
		t.Errorf("the other host saw %d requests", collected)
	}
}

func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, err := upstream.New(upstream.Options{}).Do(ctx, request(t, server.URL), upstream.NoRedirects)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the caller's context", err)
	}
}

func TestRedirectToAUserIsNoSuch(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://canary-user:p@"+r.Host+"/", http.StatusFound)
	}))
	defer server.Close()
	answer, err := upstream.New(upstream.Options{}).Do(t.Context(), request(t, server.URL), upstream.SameHost)
	if err == nil {
		t.Errorf("followed to status %d", answer.Status)
	}
}
