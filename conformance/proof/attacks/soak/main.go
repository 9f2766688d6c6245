// Command soak sends many requests of all kinds to an application behind each adapter, over real connections: sessions,
// pages, sign-ins, wrong passwords, sign-outs, malformed requests and oversized requests. Meanwhile other clients read
// and write slowly, and send endless headers. At the end the process must be as before: heap, goroutines, file
// descriptors and stored sessions. In a second run, attackers guess API keys, codes and refresh tokens. Limits and the
// number of store calls must hold, and valid keys and apps must continue to work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
)

func main() {
	s := soak{out: os.Stdout, deadline: 5 * time.Second}
	adapter := flag.String("adapter", "all", strings.Join(wire.Adapters(), ", ")+", or all")
	flag.IntVar(&s.requests, "n", 1_000_000, "requests for each adapter")
	flag.IntVar(&s.visitors, "visitors", 16, "number of concurrent clients")
	flag.IntVar(&s.slow, "slow", 16, "slow or endless connections of each kind")
	flag.DurationVar(&s.enough, "for", 0, "stop after this time, even with fewer requests; 0 means no limit")
	flag.DurationVar(&s.within, "within", 2*time.Hour, "time limit for each adapter")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	adapters := []string{*adapter}
	if *adapter == "all" {
		adapters = wire.Adapters()
	}
	for _, s.adapter = range adapters {
		for _, s.open = range []opening{openSite, openGuessed} {
			if err := s.run(ctx); err != nil {
				fmt.Fprintf(os.Stderr, "soak: %s: %v\n", s.adapter, err)
				os.Exit(1) //nolint:gocritic // nothing is left to undo
			}
		}
	}
}

// opening opens an application behind an adapter.
type opening func(ctx context.Context, adapter string, deadline time.Duration) (*site, error)

// soak is one run against one adapter.
type soak struct {
	out      io.Writer
	open     opening
	adapter  string
	requests int
	visitors int
	slow     int           // slow connections of each kind
	deadline time.Duration // the server's timeout for a request and a response
	within   time.Duration // for the whole run
	enough   time.Duration // after which clients stop; 0 means after all requests
}

// Limits for the difference after a run.
const (
	// mayGrow is the allowed growth of the heap. It covers reused buffers and caches, which have their own limits.
	mayGrow = 24 << 20
	// mayPeak is the maximum heap of the server, the clients and the attackers together.
	mayPeak = 512 << 20
	// mayStay is the number of goroutines that the runtime may start.
	mayStay = 4
)

// run warms the process up, measures it, sends the requests, and measures again. Goroutines and file descriptors must
// be as before the first request. The heap must be as after the warm-up, because the first requests create caches.
func (s *soak) run(ctx context.Context) error {
	if !slices.Contains(wire.Adapters(), s.adapter) {
		return fmt.Errorf("there is no adapter %q", s.adapter)
	}
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	began := time.Now()
	site, err := s.open(ctx, s.adapter, s.deadline)
	if err != nil {
		return err
	}
	defer site.close()
	idle, err := look()
	if err != nil {
		return err
	}
	if err := s.send(ctx, site, max(s.requests/20, 20*s.visitors), &counts{}); err != nil {
		return fmt.Errorf("warming up: %w", err)
	}
	before, err := settled(ctx, idle)
	if err != nil {
		return err
	}
	before.goroutines, before.descriptors = idle.goroutines, idle.descriptors
	peak := watchHeap()
	count := &counts{kinds: site.kinds}
	err = s.send(ctx, site, s.requests, count)
	highest := peak()
	if err != nil {
		return err
	}
	after, err := settled(ctx, before)
	if err != nil {
		return err
	}
	left, err := site.sessions(ctx)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(s.out, "%s: %s; took %v; heap %s before, %s at its highest, %s after; goroutines %d, %d; "+
		"descriptors %d, %d; sessions left %d\n", s.adapter, count, time.Since(began).Round(time.Second),
		megabytes(before.heap), megabytes(highest), megabytes(after.heap), before.goroutines, after.goroutines,
		before.descriptors, after.descriptors, left)
	err = verdict(before, after, highest, left)
	if site.guessed != nil {
		err = errors.Join(err, site.verdict())
	}
	return err
}

// verdict describes the differences.
func verdict(before, after figures, peak uint64, sessions int) error {
	var faults []error
	if after.heap > before.heap+mayGrow {
		faults = append(faults, fmt.Errorf("the heap grew from %s to %s", megabytes(before.heap), megabytes(after.heap)))
	}
	if peak > mayPeak {
		faults = append(faults, fmt.Errorf("the heap had %s", megabytes(peak)))
	}
	if after.goroutines > before.goroutines+mayStay {
		faults = append(faults, fmt.Errorf("%d goroutines were %d", after.goroutines, before.goroutines))
	}
	if after.descriptors > before.descriptors {
		faults = append(faults, fmt.Errorf("%d descriptors were %d", after.descriptors, before.descriptors))
	}
	if sessions > 0 {
		faults = append(faults, fmt.Errorf("%d sessions are stored, although all users have signed out", sessions))
	}
	return errors.Join(faults...)
}

func megabytes(n uint64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
