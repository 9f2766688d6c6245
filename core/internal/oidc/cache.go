package oidc

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Limits of a cache.
const (
	maxEntries   = 256
	fetchTimeout = 15 * time.Second
	// retryAfter is how long a failure is believed: long enough to shield a provider in trouble, short enough to recover alone.
	retryAfter = 3 * time.Second
	// maxStale is how long an old document serves while a new one cannot be had.
	maxStale = 24 * time.Hour
)

// cache keeps documents by address. Of any number of callers that need one, one fetches it; a caller that leaves does not disturb
// the others, and when the last has left, the fetch ends.
type cache[T any] struct {
	now  func() time.Time
	load func(ctx context.Context, address string) (T, error)

	mu      sync.Mutex
	entries map[string]*entry[T]
}

type entry[T any] struct {
	value    T
	there    bool
	fetched  time.Time
	err      error
	failed   time.Time
	underway *flight
}

// flight is a fetch under way.
type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int
}

// get returns a document that is not older than maxAge. One that is older but not older than maxStale serves when the provider
// cannot be reached.
func (c *cache[T]) get(ctx context.Context, address string, maxAge time.Duration) (T, error) {
	for {
		c.mu.Lock()
		e := c.entry(address)
		now := c.now()
		switch {
		case e.there && now.Sub(e.fetched) < maxAge:
			defer c.mu.Unlock()
			return e.value, nil
		case e.underway == nil && e.err != nil && now.Sub(e.failed) < retryAfter:
			defer c.mu.Unlock()
			if e.there && now.Sub(e.fetched) < maxStale {
				return e.value, nil
			}
			return e.value, e.err
		case e.underway == nil:
			c.start(e, address)
		}
		f := e.underway
		f.waiters++
		c.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			c.mu.Lock()
			if f.waiters--; f.waiters == 0 {
				f.cancel()
			}
			c.mu.Unlock()
			var none T
			return none, ctx.Err()
		}
	}
}

// entry returns the entry of an address, making room when the cache is full.
func (c *cache[T]) entry(address string) *entry[T] {
	e := c.entries[address]
	if e == nil {
		if len(c.entries) >= maxEntries {
			c.evict()
		}
		e = &entry[T]{}
		c.entries[address] = e
	}
	return e
}

// evict drops the entry that was fetched longest ago.
func (c *cache[T]) evict() {
	oldest := ""
	for address, e := range c.entries {
		if e.underway == nil && (oldest == "" || e.fetched.Before(c.entries[oldest].fetched)) {
			oldest = address
		}
	}
	delete(c.entries, oldest)
}

func (c *cache[T]) start(e *entry[T], address string) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	f := &flight{done: make(chan struct{}), cancel: cancel}
	e.underway = f
	go func() {
		defer cancel()
		value, err := c.load(ctx, address)
		c.mu.Lock()
		defer c.mu.Unlock()
		e.underway = nil
		switch {
		case err == nil:
			e.value, e.there, e.fetched, e.err = value, true, c.now(), nil
		case !errors.Is(err, context.Canceled): // nobody waited any more: that says nothing of the provider
			e.err, e.failed = err, c.now()
		}
		close(f.done)
	}()
}
