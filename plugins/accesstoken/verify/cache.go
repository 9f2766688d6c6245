package verify

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// defaultAge is how long a key set is stored if the issuer does not say it. minAge and longestAge limit what it says.
	defaultAge = 10 * time.Minute
	minAge     = time.Minute
	longestAge = 24 * time.Hour
	// staleAge is how much longer a key set is used if the issuer does not respond.
	staleAge = time.Hour
	// unknownEvery is the minimum time between requests because of unknown key IDs, which attackers can make up.
	unknownEvery = 30 * time.Second
	// retryAfter is how long no request is sent after a failure.
	retryAfter = 5 * time.Second
	// staleWait is how long a request for a new key set delays tokens that the stored set can verify.
	staleWait = time.Second
)

// keyCache stores the key set. All concurrent callers share one request.
type keyCache struct {
	now   func() time.Time
	fetch func(context.Context) (map[string]*publicKey, time.Duration, error)

	mu      sync.Mutex
	keys    map[string]*publicKey // nil before the first response
	expires time.Time             // of keys
	fetched time.Time             // when the last request started
	failed  error                 // of the last request
	pending chan struct{}         // closed when the request in progress has ended; nil without one
}

// find returns the key with an ID.
func (c *keyCache) find(ctx context.Context, kid string) (*publicKey, error) {
	c.mu.Lock()
	now := c.now()
	key, age := c.keys[kid], now.Sub(c.fetched)
	due := c.keys == nil || !now.Before(c.expires) || key == nil && age >= unknownEvery
	usable := key != nil && now.Before(c.expires.Add(staleAge))
	if !due || c.failed != nil && age < retryAfter && c.pending == nil {
		defer c.mu.Unlock()
		return c.result(kid)
	}
	if c.pending == nil {
		c.pending, c.fetched = make(chan struct{}), now
		go c.load(context.WithoutCancel(ctx))
	}
	pending := c.pending
	c.mu.Unlock()

	var late <-chan time.Time
	if usable {
		timer := time.NewTimer(staleWait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-pending:
	case <-late:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result(kid)
}

// result returns the stored key. The caller holds mu.
func (c *keyCache) result(kid string) (*publicKey, error) {
	if c.keys == nil || !c.now().Before(c.expires.Add(staleAge)) {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, c.failed)
	}
	if key := c.keys[kid]; key != nil {
		return key, nil
	}
	if c.failed != nil { // a new key may not be known yet
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, c.failed)
	}
	return nil, ErrUnknownKey
}

// load sends the request.
func (c *keyCache) load(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	keys, age, err := c.request(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed = err; err == nil {
		c.keys, c.expires = keys, c.now().Add(age)
	}
	close(c.pending)
	c.pending = nil
}

// request calls fetch. A panic of Options.Keys is an error.
func (c *keyCache) request(ctx context.Context) (keys map[string]*publicKey, age time.Duration, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the request for the key set panicked: %.200q", fmt.Sprint(p))
		}
	}()
	return c.fetch(ctx)
}
