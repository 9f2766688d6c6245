package challenges_test

import (
	"context"
	"errors"
	"net/http"
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
	errAway := errors.New("away")
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
			verify: func(context.Context, challenge.Params) error { return errAway }, want: errAway, skipped: true,
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
