package once_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/internal/once"
)

func TestResults(t *testing.T) {
	t.Parallel()
	var r once.Results
	var calls int
	failed := errors.New("failed")
	count := func() (any, error) {
		calls++
		return calls, failed
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if v, err := r.Do("a", count); v != 1 || !errors.Is(err, failed) {
				t.Errorf("%v, %v", v, err)
			}
		})
	}
	all.Wait()
	v, err := r.Do("b", func() (any, error) { return r.Do("a", count) }) // another key within it
	if v != 1 || !errors.Is(err, failed) {
		t.Errorf("%v, %v", v, err)
	}
	if v, _ := r.Do("c", count); v != 2 {
		t.Errorf("%v for another key", v)
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	var v once.Value[int]
	var calls int
	failed := errors.New("failed")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			n, err := v.Do(func() (int, error) {
				calls++
				return calls, failed
			})
			if n != 1 || !errors.Is(err, failed) {
				t.Errorf("%v, %v", n, err)
			}
		})
	}
	all.Wait()
}
