package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"time"
)

// figures are what a process has.
type figures struct {
	heap                    uint64 // bytes that are in use after a collection
	goroutines, descriptors int
}

// look collects garbage and looks. Pools of the standard library keep what they have for one collection more.
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

// patience is how long connections that were closed may take to go. The workers of fasthttp go after ten seconds
// without a connection, and it looks for such every ten seconds.
const patience = 40 * time.Second

// settled looks until goroutines and descriptors are as few as wanted, for a while: servers learn of closed connections
// a moment later. What is left then is what the process has.
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

// watchHeap notes how large the heap becomes, garbage included, until it is asked.
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
