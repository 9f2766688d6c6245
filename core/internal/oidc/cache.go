package oidc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Limits of a cache.
const (
	maxEntries   = 256
	fetchTimeout = 15 * time.Second
	// documentTTL is how long a document is believed.
	documentTTL = time.Hour
	// refreshAhead is how long before that a document in use is fetched anew, while the old one still serves.
	refreshAhead = 5 * time.Minute
	// retryAfter is how long a failure is believed: long enough to shield a provider in trouble, short enough to recover alone.
	retryAfter = 3 * time.Second
	// maxStale is how old a document may get while a new one cannot be had.
	maxStale = 24 * time.Hour
	// renewAfter is the least time between two fetches because a document lacks something: a flood of tokens with made-up key IDs
	// reaches the provider as a trickle.
	renewAfter = 10 * time.Second
)

// cache keeps documents by address. Of any number of callers that need one, one fetches it; a caller that leaves does not disturb
// the others, and when the last has left, the fetch ends.
type cache[T any] struct {
	now  func() time.Time
	load func(ctx context.Context, address string) (T, error)
	// stale is told that a document could not be renewed and the old one serves. It is called without locks held.
	stale func(address string, err error)

	mu      sync.Mutex
	entries map[string]*entry[T]
	fetches uint64
}

// version tells the documents of an address apart, of all that the cache ever fetched.
type version uint64

type entry[T any] struct {
	value    T
	version  version // zero: there is no value
	fetched  time.Time
	err      error // of the last fetch, nil when it succeeded
	failed   time.Time
	renewed  time.Time // when renew last fetched
	underway *flight
}

// flight is a fetch under way.
type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int
	// alone: the fetch goes on when nobody waits.
	alone bool
}

// get returns the document of an address. While the provider cannot be reached an old one serves, at once: the attempts to
// renew it go on behind the callers' backs.
func (c *cache[T]) get(ctx context.Context, address string) (T, version, error) {
	for {
		if err := ctx.Err(); err != nil {
			var none T
			return none, 0, err
		}
		c.mu.Lock()
		e, now := c.entry(address), c.now()
		age := now.Sub(e.fetched)
		blocked := e.err != nil && now.Sub(e.failed) < retryAfter
		switch {
		case e.version != 0 && (age < documentTTL || e.err != nil && age < maxStale):
			if age >= documentTTL-refreshAhead && e.underway == nil && !blocked {
				c.start(e, address, true)
			}
			defer c.mu.Unlock()
			return e.value, e.version, nil
		case e.underway == nil && blocked:
			defer c.mu.Unlock()
			var none T
			return none, 0, e.err
		case e.underway == nil:
			c.start(e, address, false)
		}
		if err := c.wait(ctx, e); err != nil {
			var none T
			return none, 0, err
		}
	}
}

// holds tells whether a document of an address can be had without a fetch; an error is that of the last fetch, less than believed ago.
func (c *cache[T]) holds(address string, believed time.Duration) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[address]
	if e == nil {
		return false, nil
	}
	now := c.now()
	age := now.Sub(e.fetched)
	if e.version != 0 && (age < documentTTL || e.err != nil && age < maxStale) {
		return true, nil
	}
	if e.err != nil && now.Sub(e.failed) < believed {
		return false, e.err
	}
	return false, nil
}

// renew returns a document other than the one seen, if there is one or one may be fetched; else what is there. It fetches now
// and then, however often it is called.
func (c *cache[T]) renew(ctx context.Context, address string, seen version) (T, version, error) {
	c.mu.Lock()
	e := c.entry(address)
	if e.version == seen || e.version == 0 { // zero: it made room for another since it was seen
		if now := c.now(); e.underway == nil && (e.renewed.IsZero() || now.Sub(e.renewed) >= renewAfter) {
			e.renewed = now
			// Alone: whoever asks and hangs up would else use up the one fetch that others wait for.
			c.start(e, address, true)
		}
		if e.underway != nil {
			if err := c.wait(ctx, e); err != nil {
				var none T
				return none, 0, err
			}
			c.mu.Lock()
		}
	}
	defer c.mu.Unlock()
	switch {
	case e.version != 0:
		return e.value, e.version, nil
	case e.err != nil:
		return e.value, 0, e.err
	}
	return e.value, 0, errors.New("the document is not there")
}

// wait waits for the fetch under way. It is called with the lock held and returns without.
func (c *cache[T]) wait(ctx context.Context, e *entry[T]) error {
	f := e.underway
	f.waiters++
	c.mu.Unlock()
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiters--; f.waiters == 0 && !f.alone {
		f.cancel()
		if e.underway == f {
			e.underway = nil // who comes now gets a fetch of its own
		}
	}
	return ctx.Err()
}

// entry returns the entry of an address, making room when the cache is full.
func (c *cache[T]) entry(address string) *entry[T] {
	e := c.entries[address]
	if e == nil {
		if len(c.entries) >= maxEntries {
			c.evict()
		}
		e = &entry[T]{}
		if c.entries == nil {
			c.entries = map[string]*entry[T]{}
		}
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

// start fetches a document, in a goroutine that ends by itself.
func (c *cache[T]) start(e *entry[T], address string, alone bool) {
	// Not the context of the caller: it ends with a request, while others wait.
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	f := &flight{done: make(chan struct{}), cancel: cancel, alone: alone}
	e.underway = f
	go func() {
		var value T
		// What stays when load does not return: it runs the operator's transport, and neither a panic there nor a Goexit may end
		// the process or leave the callers waiting.
		err := errors.New("the HTTP client ended without an answer")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the HTTP client panicked: %.200q", fmt.Sprint(p))
			}
			cancel()
			c.land(e, f, address, value, err)
		}()
		value, err = c.load(ctx, address)
	}()
}

// land keeps what a fetch brought, unless everybody left before.
func (c *cache[T]) land(e *entry[T], f *flight, address string, value T, err error) {
	c.mu.Lock()
	kept, old := e.underway == f, e.version != 0
	if kept {
		e.underway = nil
		if err == nil {
			c.fetches++
			e.value, e.version, e.fetched, e.err = value, version(c.fetches), c.now(), nil
		} else {
			e.err, e.failed = err, c.now()
		}
	}
	c.mu.Unlock()
	close(f.done)
	if kept && old && err != nil {
		defer func() { _ = recover() }() // it calls the operator's log handler, on a goroutine of ours
		c.stale(address, err)
	}
}
