package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"time"
)

// figures are the resources of the process.
type figures struct {
	heap                    uint64 // bytes in use after a garbage collection
	goroutines, descriptors int
}

// look collects garbage and measures. It collects three times, because a sync.Pool keeps its contents
// for one collection.
func look() (f figures, err error) {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return f, errors.Join(err, errors.New("the system does not tell open files: this runs on Linux"))
	}
	return figures{m.HeapAlloc, runtime.NumGoroutine(), len(open)}, nil
}

// patience is the maximum time in which closed connections must end. fasthttp's workers end after ten seconds without a
// connection, and it checks for such workers every ten seconds.
const patience = 40 * time.Second

// settled measures until the numbers of goroutines and descriptors are at most the wanted ones, or for a limited time,
// because servers notice closed connections late. Then it returns the last measurement.
func settled(ctx context.Context, wanted figures) (f figures, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		f, err = look()
		if err != nil || f.goroutines <= wanted.goroutines+mayStay && f.descriptors <= wanted.descriptors {
			return f, err
		}
		select {
		case <-ctx.Done():
			return f, nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// watchHeap records the maximum heap, including garbage, until highest is called.
func watchHeap() (highest func() uint64) {
	ask, answer := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		var top uint64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			top = max(top, m.HeapAlloc)
			select {
			case <-ask:
				answer <- top
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 { close(ask); return <-answer }
}
