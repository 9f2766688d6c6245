package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/internal/deadline"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

// slow responds after a delay, or fails when the request's context ends.
type slow time.Duration

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.NewTimer(time.Duration(s)).C:
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// TestRequestsOfASeries: each request of a series has a timeout, which the duration of earlier requests does not
// reduce.
func TestRequestsOfASeries(t *testing.T) {
	t.Parallel()
	const limit = 10 * time.Second
	for name, row := range map[string]struct{ first, least, most time.Duration }{
		"after a quick one":   {0, limit, limit},
		"after one that took": {limit / 20, limit * 9 / 10, limit},
		"after a slow one":    {limit - 1, limit, limit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				series := deadline.InSeries(t.Context())
				defer series.End()
				ask := func(takes time.Duration) error {
					c := upstream.New(upstream.Options{Timeout: limit, HTTP: &http.Client{Transport: slow(takes)}})
					_, err := c.Do(series, request(t, "https://op.example/token"), upstream.NoRedirects)
					return err
				}
				if err := ask(row.first); err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				err := ask(time.Hour)
				if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took < row.least || took > row.most {
					t.Errorf("ended after %v: %v", took, err)
				}
			})
		})
	}
}
