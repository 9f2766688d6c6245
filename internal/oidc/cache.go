package oidc

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/internal/flight"
)

// Limits of a cache.
const (
	maxEntries   = 256
	fetchTimeout = 15 * time.Second
	// documentTTL is how long a document is valid.
	documentTTL = time.Hour
	// refreshAhead is how long before the end of that time a document in use is fetched again. The old one is used
	// meanwhile.
	refreshAhead = 5 * time.Minute
	// retryAfter is how long an error is cached: long enough to protect a provider in trouble, and short enough to recover
	// quickly.
	retryAfter = 3 * time.Second
	// maxStale is the maximum age of a document while a new one cannot be fetched.
	maxStale = 24 * time.Hour
	// renewAfter is the minimum time between two fetches because a document lacks something. It protects the provider from
	// many tokens with forged key IDs.
	renewAfter = 10 * time.Second
)

// cache contains documents by URL. Concurrent callers share one fetch, which continues when they leave: a flood of
// callers that disconnect cannot cancel the fetch that others wait for. Create it with newCache.
type cache[T any] struct {
	now  func() time.Time
	load func(ctx context.Context, address string) (T, error)
	// stale is called if a document could not be renewed and the old one is still used. It runs in its own goroutine.
	stale   func(address string, err error)
	fetches flight.Group[document[T]]

	mu      sync.Mutex
	entries map[string]*entry[T]
	last    version
}

// version distinguishes all documents that the cache has ever fetched.
type version uint64

type document[T any] struct {
	value   T
	version version // zero if there is no value
}

type entry[T any] struct {
	document[T]
	pending bool // a fetch is in progress
	fetched time.Time
	err     error // the error of the last fetch; nil if it succeeded
	failed  time.Time
	renewed time.Time // when renew last started a fetch
}

func newCache[T any](
	now func() time.Time, load func(context.Context, string) (T, error), stale func(string, error),
) *cache[T] {
	c := &cache[T]{now: now, load: load, stale: stale, entries: map[string]*entry[T]{}}
	c.fetches.Timeout = fetchTimeout
	return c
}

// get returns the document of a URL. While the provider is unreachable, it returns the old one immediately, and the
// document is renewed in the background.
func (c *cache[T]) get(ctx context.Context, address string) (document[T], error) {
	if err := ctx.Err(); err != nil {
		return document[T]{}, err
	}
	c.mu.Lock()
	e, now := c.entries[address], c.now()
	if e.serves(now) {
		defer c.mu.Unlock()
		if now.Sub(e.fetched) >= documentTTL-refreshAhead && !e.blocked(now, retryAfter) {
			c.fetch(address)
		}
		return e.document, nil
	}
	if e.blocked(now, retryAfter) && !e.pending {
		defer c.mu.Unlock()
		return document[T]{}, e.err
	}
	wait := c.fetch(address)
	c.mu.Unlock()
	got, err := wait(ctx)
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

// holds reports whether the document of a URL is available without a fetch. It returns the error of the last fetch if
// that is younger than believed.
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

// renew returns a document other than the one with the version seen. It fetches one unless the last such fetch was too
// recent; then it returns the current one.
func (c *cache[T]) renew(ctx context.Context, address string, seen version) (document[T], error) {
	c.mu.Lock()
	e := c.entry(address)
	if e.version == seen || e.version == 0 { // zero: the entry was evicted since
		now := c.now()
		due := e.renewed.IsZero() || now.Sub(e.renewed) >= renewAfter
		if !e.pending && due {
			e.renewed = now
		}
		if e.pending || due {
			wait := c.fetch(address)
			c.mu.Unlock()
			if _, err := wait(ctx); err != nil && ctx.Err() != nil {
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

// serves reports whether the document may be used: while it is valid, and longer while no new one can be fetched.
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

// entry returns the entry of a URL. If the cache is full, it evicts another one.
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

// evict removes the entry with the oldest fetch.
func (c *cache[T]) evict() {
	oldest := ""
	for address, e := range c.entries {
		if oldest == "" || e.fetched.Before(c.entries[oldest].fetched) {
			oldest = address
		}
	}
	delete(c.entries, oldest)
}

// fetch starts to fetch a document, unless a fetch is pending, and returns a function that waits for it. It does not
// use a caller's context, which ends with its request while others wait. The caller holds c.mu.
func (c *cache[T]) fetch(address string) (wait func(context.Context) (document[T], error)) {
	c.entry(address).pending = true
	return c.fetches.Start(context.Background(), address, func(ctx context.Context) (got document[T], err error) {
		err = errors.New("the fetch ended without a result") // if load panics
		defer func() { c.store(address, got, err) }()
		value, err := c.load(ctx, address)
		if err != nil {
			return document[T]{}, err
		}
		return document[T]{value, c.nextVersion()}, nil
	})
}

func (c *cache[T]) nextVersion() version {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return c.last
}

// store stores the result of a fetch.
func (c *cache[T]) store(address string, got document[T], err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(address)
	e.pending = false
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
