package store_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// nightly is a store with many expired sessions.
type nightly struct{}

func (nightly) DeleteExpired(context.Context, time.Time) (int, error) {
	return 500, &store.LeftError{Rows: 1200, Err: context.DeadlineExceeded}
}

// A cleanup job of the application continues with the remaining rows at its next run.
func ExampleLeftError() {
	var s store.Cleaner = nightly{}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rows, err := s.DeleteExpired(ctx, time.Now())
	var left *store.LeftError
	switch {
	case errors.As(err, &left):
		fmt.Printf("%d rows went, %d are left\n", rows, left.Rows)
	case err != nil:
		fmt.Println(err)
	}
	// Output: 500 rows went, 1200 are left
}
