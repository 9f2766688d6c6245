package oidc

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/flight"
)

// Limits of a cache.
const (
	maxEntries   = 256
	fetchTimeout = 15 * time.Second
	// documentTTL is how long a document is believed.
	documentTTL = time.Hour
	// refreshAhead is how long before that a document in use is fetched anew, while the old one still serves.
	refreshAhead = 5 * time.Minute
	// retryAfter is how long a failure is believed: long enough to shield a provider in trouble, short enough to recover
	// alone.
	retryAfter = 3 * time.Second
	// maxStale is how old a document may get while a new one cannot be had.
	maxStale = 24 * time.Hour
	// renewAfter is the least time between two fetches because a document lacks something: a flood of tokens with made-up
	// key IDs reaches the provider as a trickle.
	renewAfter = 10 * time.Second
)

// cache keeps documents by address. Of any number of callers that need one, one fetches it; a caller that leaves does
// not disturb the others, and when the last has left, the fetch ends. Make it with newCache.
type cache[T any] struct {
	now  func() time.Time
	load func(ctx context.Context, address string) (T, error)
	// stale is called when a document could not be renewed and the old one is used on. It runs on a goroutine of its own.
	stale   func(address string, err error)
	flights flight.Group[string, document[T]]

	// mu is locked before the group's mutex, never after.
	mu      sync.Mutex
	entries map[string]*entry[T] // of fetches that have landed
	fetches version
}

// version tells the documents of an address apart, of all that the cache ever fetched.
type version uint64

type document[T any] struct {
	value   T
	version version // zero: there is no value
}

type entry[T any] struct {
	document[T]
	fetched time.Time
	err     error // of the last fetch, nil when it succeeded
	failed  time.Time
	renewed time.Time // when renew last fetched
}

func newCache[T any](
	now func() time.Time, load func(context.Context, string) (T, error), stale func(string, error),
) *cache[T] {
	c := &cache[T]{now: now, load: load, stale: stale, entries: map[string]*entry[T]{}}
	c.flights.Timeout, c.flights.Max, c.flights.Landed = fetchTimeout, maxEntries, c.land
	return c
}

// get returns the document of an address. While the provider cannot be reached an old one serves, at once: the attempts
// to renew it go on behind the callers' backs.
func (c *cache[T]) get(ctx context.Context, address string) (document[T], error) {
	if err := ctx.Err(); err != nil {
		return document[T]{}, err
	}
	c.mu.Lock()
	e, now := c.entries[address], c.now()
	if e.serves(now) {
		defer c.mu.Unlock()
		if now.Sub(e.fetched) >= documentTTL-refreshAhead && !e.blocked(now, retryAfter) {
			c.fetch(address).Keep()
		}
		return e.document, nil
	}
	f := c.flights.Find(address)
	if f == nil && e.blocked(now, retryAfter) {
		defer c.mu.Unlock()
		return document[T]{}, e.err
	}
	if f == nil {
		f = c.fetch(address)
	}
	c.mu.Unlock()
	got, err := f.Wait(ctx)
	if err == nil || ctx.Err() != nil {
		return got, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[address]; e.serves(c.now()) {
		return e.document, nil
	}
	return document[T]{}, err
}

// holds reports whether a document of an address can be had without a fetch; an error is that of the last fetch, less
// than believed ago.
func (c *cache[T]) holds(address string, believed time.Duration) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, now := c.entries[address], c.now()
	if e.serves(now) {
		return true, nil
	}
	if e.blocked(now, believed) {
		return false, e.err
	}
	return false, nil
}

// renew returns a document other than the one seen, if there is one or one may be fetched; else what is there. It
// fetches now and then, however often it is called.
func (c *cache[T]) renew(ctx context.Context, address string, seen version) (document[T], error) {
	c.mu.Lock()
	e := c.entry(address)
	if e.version == seen || e.version == 0 { // zero: it made room for another since it was seen
		f := c.flights.Find(address)
		if now := c.now(); f == nil && (e.renewed.IsZero() || now.Sub(e.renewed) >= renewAfter) {
			e.renewed = now
			// Kept: a caller that asks and hangs up would else use up the one fetch that others wait for.
			f = c.fetch(address).Keep()
		}
		if f != nil {
			c.mu.Unlock()
			if _, err := f.Wait(ctx); err != nil && ctx.Err() != nil {
				return document[T]{}, err
			}
			c.mu.Lock()
			e = c.entry(address)
		}
	}
	defer c.mu.Unlock()
	switch {
	case e.version != 0:
		return e.document, nil
	case e.err != nil:
		return document[T]{}, e.err
	}
	return document[T]{}, errors.New("the document is not there")
}

// serves reports whether the document of an entry is believed: for its time, and for longer while a new one cannot be
// had.
func (e *entry[T]) serves(now time.Time) bool {
	if e == nil || e.version == 0 {
		return false
	}
	age := now.Sub(e.fetched)
	return age < documentTTL || e.err != nil && age < maxStale
}

// blocked reports whether the last fetch failed less than believed ago.
func (e *entry[T]) blocked(now time.Time, believed time.Duration) bool {
	return e != nil && e.err != nil && now.Sub(e.failed) < believed
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
		if oldest == "" || e.fetched.Before(c.entries[oldest].fetched) {
			oldest = address
		}
	}
	delete(c.entries, oldest)
}

// fetch returns the fetch of a document that is under way, or starts one. It has no context of a caller: that ends with
// a request, while others wait.
func (c *cache[T]) fetch(address string) *flight.Flight[string, document[T]] {
	return c.flights.Join(context.Background(), address, func(ctx context.Context) (document[T], error) {
		value, err := c.load(ctx, address)
		if err != nil {
			return document[T]{}, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.fetches++
		return document[T]{value, c.fetches}, nil
	})
}

// land keeps what a fetch brought.
func (c *cache[T]) land(address string, got document[T], err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(address)
	if err == nil {
		e.document, e.fetched, e.err = got, c.now(), nil
		return
	}
	e.err, e.failed = err, c.now()
	if e.version != 0 {
		go func() {
			defer func() { _ = recover() }() // it calls the operator's log handler
			c.stale(address, err)
		}()
	}
}
