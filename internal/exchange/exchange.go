// Package exchange makes a repeated request for an exchange that is possible once, such as that of an authorization
// code, join the first one: a browser repeats a callback after a reload or a lost connection.
package exchange

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/internal/flight"
)

const (
	// timeout bounds an exchange, which continues when the browser disconnects: it may have used the code.
	timeout = 30 * time.Second
	// keptFor is how long a repeated callback gets the result of the first one.
	keptFor = time.Minute
	// maxKept is the maximum number of results in memory. The oldest makes room.
	maxKept = 1000
)

// ErrInProgress means that another callback of the same flow is in progress.
var ErrInProgress = errors.New("another callback of the same sign-in is in progress")

// Key identifies a callback. A caller needs the flow cookie and the CSRF cookie of the browser to compute it.
type Key struct {
	flow     [sha256.Size]byte // a hash of the flow
	callback [sha256.Size]byte // a hash of the flow, the browser and the authorization response
}

// KeyOf returns the key of a callback. flow identifies the flow and its provider, browser identifies the browser, and
// answer is the authorization response.
func KeyOf(flow, browser, answer string) Key {
	return Key{
		flow:     sha256.Sum256([]byte(flow)),
		callback: sha256.Sum256([]byte(flow + "\x00" + browser + "\x00" + answer)),
	}
}

// Exchanges remembers the results of exchanges for a minute, at most 1,000 of them. It is in the memory of one process
// and safe for concurrent use. Results are shared: callers copy them before they change one. The nil *Exchanges
// remembers nothing.
type Exchanges[T any] struct {
	now     func() time.Time
	pending flight.Group[T]

	mu    sync.Mutex
	known map[Key]*result[T]
	flows map[[sha256.Size]byte]bool // the flows with an exchange in progress
}

// result is a result in memory.
type result[T any] struct {
	value   T
	browser string
	userID  string // the user that it signed in; empty before
	until   time.Time
}

// New returns empty Exchanges. They read the time from now.
func New[T any](now func() time.Time) *Exchanges[T] {
	x := &Exchanges[T]{now: now, known: map[Key]*result[T]{}, flows: map[[sha256.Size]byte]bool{}}
	x.pending.Timeout = timeout
	return x
}

// Do returns the result of an exchange: that of an earlier callback with this key, of the one that is pending, or of
// exchange. exchange continues when ctx ends. While it is in progress, a callback with another answer to the same flow
// gets [ErrInProgress]. If the maximum number of exchanges is pending, exchange ends with ctx instead.
func (x *Exchanges[T]) Do(
	ctx context.Context, key Key, browser string, exchange func(context.Context) (T, error),
) (T, error) {
	if value, found := x.find(key); found {
		return value, nil
	}
	once := func(ctx context.Context) (T, error) { return x.once(ctx, key, browser, exchange) }
	value, err := x.pending.Do(ctx, string(key.flow[:])+string(key.callback[:]), once)
	if errors.Is(err, flight.ErrFull) {
		bounded, stop := context.WithTimeout(ctx, timeout)
		defer stop()
		return once(bounded)
	}
	return value, err
}

// once calls exchange and stores its result, unless the result is known or the flow has an exchange in progress.
func (x *Exchanges[T]) once(
	ctx context.Context, key Key, browser string, exchange func(context.Context) (T, error),
) (value T, err error) {
	if !x.start(key) {
		return value, ErrInProgress
	}
	defer x.finish(key)
	if value, found := x.find(key); found { // of an exchange that finished after the first lookup
		return value, nil
	}
	if value, err = exchange(ctx); err == nil {
		x.keep(key, browser, value)
	}
	return value, err
}

// start reserves a flow for one exchange. It reports false if the flow has an exchange in progress: otherwise a client
// that invents codes starts any number of them with one flow cookie.
func (x *Exchanges[T]) start(key Key) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.flows[key.flow] {
		return false
	}
	x.flows[key.flow] = true
	return true
}

// finish releases the reservation of start.
func (x *Exchanges[T]) finish(key Key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.flows, key.flow)
}

// find returns the result under key, if it has not expired.
func (x *Exchanges[T]) find(key Key) (value T, found bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.known[key]; e != nil && e.until.After(x.now()) {
		return e.value, true
	}
	return value, false
}

// keep stores a result, and deletes expired ones, or else the oldest, to make room.
func (x *Exchanges[T]) keep(key Key, browser string, value T) {
	now := x.now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.known) >= maxKept {
		maps.DeleteFunc(x.known, func(_ Key, e *result[T]) bool { return !e.until.After(now) })
	}
	if len(x.known) >= maxKept {
		var oldest Key
		until := now.Add(keptFor + 1)
		for k, e := range x.known {
			if e.until.Before(until) {
				oldest, until = k, e.until
			}
		}
		delete(x.known, oldest)
	}
	x.known[key] = &result[T]{value: value, browser: browser, until: now.Add(keptFor)}
}

// SignedIn notes that the result under key has signed in a user, and erases the browser's results for other users.
func (x *Exchanges[T]) SignedIn(key Key, browser, userID string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.known[key]; e != nil {
		e.userID = userID
	}
	maps.DeleteFunc(x.known, func(_ Key, e *result[T]) bool {
		return browser != "" && e.browser == browser && e.userID != userID
	})
}

// Erase deletes the results of a browser, and those that signed in a user: after a sign-out, or when the user's
// sessions are revoked. Either may be empty.
func (x *Exchanges[T]) Erase(browser, userID string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.known, func(_ Key, e *result[T]) bool {
		return browser != "" && e.browser == browser || userID != "" && e.userID == userID
	})
}
