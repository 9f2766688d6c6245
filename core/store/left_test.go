package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/latchkey-go/latchkey/core/store"
)

func TestWithLeft(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	failure, broken := errors.New("e"), errors.New("counting failed")
	for name, tt := range map[string]struct {
		ctx    context.Context
		err    error
		rows   int
		more   bool
		failed error
		want   string
		counts bool
	}{
		"nothing went wrong": {ended, nil, 3, false, nil, "", false},
		"the context lasts":  {t.Context(), failure, 3, false, nil, "e", false},
		"some are left":      {ended, failure, 3, false, nil, "e: 3 expired rows are left for the next call", true},
		"more than may be counted": {
			ended, failure, 9, true, nil, "e: at least 9 expired rows are left for the next call", true,
		},
		"they cannot be counted": {ended, failure, 0, false, broken, "e", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counted := false
			err := store.WithLeft(tt.ctx, tt.err, func(ctx context.Context) (int, bool, error) {
				counted = true
				if _, bounded := ctx.Deadline(); !bounded || ctx.Err() != nil {
					t.Errorf("rows are counted in a context with the error %v, bounded: %v", ctx.Err(), bounded)
				}
				return tt.rows, tt.more, tt.failed
			})
			if counted != tt.counts || !errors.Is(err, tt.err) {
				t.Errorf("error %v, counted: %v", err, counted)
			}
			if err != nil && err.Error() != tt.want {
				t.Errorf("error %q, want %q", err, tt.want)
			}
			var left *store.LeftError
			is := errors.As(err, &left)
			if is != (tt.counts && tt.failed == nil) || is && (left.Rows != tt.rows || left.More != tt.more) {
				t.Errorf("left: %+v", left)
			}
		})
	}
}
