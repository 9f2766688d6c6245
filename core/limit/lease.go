package limit

import (
	"context"
	"sync"
	"time"
)

// leases are attempts that this process has taken from buckets in the store before they are made. Requests with a valid
// key are frequent and often concurrent: a write for each of them would be slow, and they would conflict.
type leases struct {
	mu  sync.Mutex
	all map[uint64]*lease
}

// lease is what this process knows about one bucket.
type lease struct {
	mu   sync.Mutex // held while the store is asked
	left int        // attempts that are taken and not yet made
	// until is when the store is asked again: err is its last error, or nil if the bucket was empty.
	until time.Time
	err   error
}

const (
	// leaseShare is the part of a bucket that a process takes at once: Burst/leaseShare attempts, at least one.
	leaseShare = 10
	// leaseRetry is how long an error of the store is the result of all attempts, so that they do not wait in turn for a
	// store that does not respond.
	leaseRetry = time.Second
)

// of returns the lease of a bucket. If there are too many, all are forgotten.
func (l *leases) of(key uint64) *lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil || len(l.all) >= maxLevels {
		l.all = map[uint64]*lease{}
	}
	found := l.all[key]
	if found == nil {
		found = &lease{}
		l.all[key] = found
	}
	return found
}

// spend counts an attempt in all its buckets, with attempts of leases.
func (s *Shared) spend(ctx context.Context, a Attempt, all []counted) (wait time.Duration, err error) {
	for i := range all {
		if wait, err = s.spendOne(ctx, a, &all[i]); wait == 0 && err == nil {
			continue
		}
		for _, spent := range all[:i] {
			l := s.leases.of(spent.key)
			l.mu.Lock()
			l.left++
			l.mu.Unlock()
		}
		return wait, err
	}
	return 0, nil
}

// spendOne counts an attempt in one bucket. If no attempt of the lease is left, it takes some from the store.
func (s *Shared) spendOne(ctx context.Context, a Attempt, b *counted) (wait time.Duration, err error) {
	l := s.leases.of(b.key)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left > 0 {
		l.left--
		return 0, nil
	}
	if wait := l.until.Sub(s.now()); wait > 0 {
		return wait, l.err
	}
	n, wait, err := s.takeSome(ctx, a, b, max(1, b.Burst/leaseShare))
	switch {
	case err != nil:
		l.until, l.err = s.now().Add(leaseRetry), err
	case wait > 0:
		l.until, l.err = s.now().Add(wait), nil
	default:
		l.left = n - 1
	}
	return wait, err
}

// takeSome takes up to n attempts from a bucket in the store, and returns their number.
func (s *Shared) takeSome(
	ctx context.Context, a Attempt, b *counted, n int,
) (taken int, wait time.Duration, err error) {
	r, err := s.read(ctx, a, b)
	for range budgetTries {
		if err != nil {
			return 0, 0, err
		}
		debt := b.debtOf(fullAt(r), s.now())
		if wait := b.waitTime(debt); wait > 0 {
			return 0, wait, nil
		}
		n = min(n, int((b.refillTime()-debt)/b.Every))
		done, err := s.write(ctx, b, r, time.Duration(n)*b.Every)
		if done || err != nil {
			return n, 0, err
		}
		r, err = s.again(ctx, r.Key)
		if err != nil {
			return 0, 0, err
		}
	}
	return 0, conflictWait, nil
}
