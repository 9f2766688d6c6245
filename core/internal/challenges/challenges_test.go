package challenges_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/internal/challenges"
	"github.com/latchkey-go/latchkey/core/internal/observed"
)

func verifier(allow bool, verify func(ctx context.Context, p challenge.Params) error) *challenges.Verifier {
	c := challenge.Challenge{AllowOutage: allow, Verify: verify}
	return challenges.New(c, http.DefaultClient, observed.Calls{})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	errUnavailable := errors.New("unavailable")
	for name, row := range map[string]struct {
		verify   func(ctx context.Context, p challenge.Params) error
		token    string
		want     error // nil: any error of the service
		accepted bool
		skipped  bool // if AllowOutage is set
	}{
		"accepted": {verify: func(context.Context, challenge.Params) error { return nil }, accepted: true},
		"refused": {
			verify: func(context.Context, challenge.Params) error { return challenge.ErrRefused }, want: challenge.ErrRefused,
		},
		"unavailable": {
			verify: func(context.Context, challenge.Params) error { return errUnavailable }, want: errUnavailable, skipped: true,
		},
		"a panic": {verify: func(context.Context, challenge.Params) error { panic("x") }, skipped: true},
		"too long": {
			verify: func(context.Context, challenge.Params) error { return nil },
			token:  strings.Repeat("x", challenge.MaxToken+1), want: challenge.ErrRefused,
		},
		"no client": {verify: func(_ context.Context, p challenge.Params) error {
			if p.Client == nil || p.Token != "t" {
				return challenge.ErrRefused
			}
			return nil
		}, token: "t", accepted: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, allow := range []bool{false, true} {
				err := verifier(allow, row.verify).Check(t.Context(), challenge.Params{Token: row.token})
				var skipped *challenges.SkippedError
				if (err == nil) != row.accepted || row.want != nil && !errors.Is(err, row.want) ||
					errors.As(err, &skipped) != (allow && row.skipped) {
					t.Errorf("allowed %v: %v", allow, err)
				}
				if skipped != nil && !strings.Contains(err.Error(), "skipped") {
					t.Error(err)
				}
			}
		})
	}
}

// TestLimits checks the deadline of the service, the number of concurrent calls, and that neither a client that
// disconnects nor many requests skip the challenge.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := verifier(true, func(ctx context.Context, _ challenge.Params) error { <-ctx.Done(); return ctx.Err() })
		var skipped *challenges.SkippedError
		began, out := time.Now(), make(chan error)
		for range 64 {
			go func() { out <- v.Check(context.WithoutCancel(t.Context()), challenge.Params{}) }()
		}
		synctest.Wait()
		if err := v.Check(t.Context(), challenge.Params{}); err == nil || errors.As(err, &skipped) {
			t.Errorf("one too many: %v", err)
		}
		for range 64 {
			if err := <-out; !errors.As(err, &skipped) || time.Since(began) != challenge.Timeout {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		skipped = nil
		if err := v.Check(gone, challenge.Params{}); err == nil || errors.As(err, &skipped) {
			t.Errorf("a client that disconnects: %v", err)
		}
	})
}

// TestClient checks the limits of the client that the service is asked with: no redirects, and small responses.
func TestClient(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/small", http.StatusTemporaryRedirect)
		case "/large":
			_, _ = io.WriteString(w, strings.Repeat("x", 64<<10+1))
		default:
			_, _ = io.WriteString(w, "x")
		}
	}))
	defer service.Close()
	for path, want := range map[string]int{
		"/small": http.StatusOK, "/redirect": http.StatusTemporaryRedirect, "/large": 0, // not read to its end
	} {
		status := 0
		_ = verifier(false, func(ctx context.Context, p challenge.Params) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, service.URL+path, nil)
			if err != nil {
				return err
			}
			response, err := p.Client.Do(request)
			if err != nil {
				return err
			}
			if _, err = io.ReadAll(response.Body); err == nil {
				status = response.StatusCode
			}
			return errors.Join(err, response.Body.Close())
		}).Check(t.Context(), challenge.Params{})
		if status != want {
			t.Errorf("%s: status %d", path, status)
		}
	}
}
