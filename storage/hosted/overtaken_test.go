package hosted_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/tables"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/hosted"
)

// rejecting is a database without records that rejects every write, as if another had always come first. It counts
// writes.
type rejecting struct{ writes int }

func (r *rejecting) RoundTrip(request *http.Request) (*http.Response, error) {
	_ = request.Body.Close()
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: request}
	answer.Body = io.NopCloser(strings.NewReader(`{"records":[]}`))
	if strings.HasSuffix(request.URL.Path, "/transaction") {
		r.writes++
		answer.StatusCode = http.StatusBadRequest
		answer.Body = io.NopCloser(strings.NewReader(`{"message":"rejected"}`))
	}
	return answer, nil
}

func openOn(t *testing.T, database http.RoundTripper) *hosted.Store {
	t.Helper()
	at := "https://database.test" + tables.Path
	s, err := hosted.New(hosted.Config{
		DatabaseURL: at, Branch: tables.Branch, APIKey: tables.APIKey, HTTP: &http.Client{Transport: database},
	})
	must(t, err)
	return s
}

// TestWaitsGrow checks that the pauses between attempts increase, so that many writers of the same record succeed one
// after another. Pauses of at most 50 ms each would end within a second.
func TestWaitsGrow(t *testing.T) {
	write := func(ctx context.Context, s store.Store) error {
		_, err := s.CreateUser(ctx, &store.User{ID: "u", Name: "Jane Doe"})
		return err
	}
	for name, call := range map[string]func(context.Context, *hosted.Store) error{
		"a write": func(ctx context.Context, s *hosted.Store) error { return write(ctx, s) },
		"a transaction": func(ctx context.Context, s *hosted.Store) error {
			return s.InTransaction(ctx, write)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				database := &rejecting{}
				s := openOn(t, database)
				began := time.Now()
				if err := call(t.Context(), s); err == nil {
					t.Fatal("a write that was rejected each time has no error")
				}
				if database.writes != 20 {
					t.Errorf("%d attempts, want 20", database.writes)
				}
				if waited := time.Since(began); waited < time.Second || waited > 10*time.Second {
					t.Errorf("waited for %s in all, want 1 to 10 seconds", waited)
				}
			})
		})
	}
}

// TestWaitsEnd checks that a pause ends with its context.
func TestWaitsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		s := openOn(t, &rejecting{})
		began := time.Now()
		if _, err := s.CreateUser(ctx, &store.User{ID: "u", Name: "Jane Doe"}); err == nil {
			t.Fatal("no error")
		}
		if waited := time.Since(began); waited != 500*time.Millisecond {
			t.Errorf("waited for %s, want 500 ms", waited)
		}
	})
}
