package core

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/flight"
)

const (
	// exchangeTimeout bounds an exchange, which continues when the browser disconnects: it may have used the code.
	exchangeTimeout = 30 * time.Second
	// exchangedFor is how long a repeated callback gets the result of the first one.
	exchangedFor = time.Minute
	// maxExchanged is the maximum number of results in memory. The oldest makes room.
	maxExchanged = 1000
)

// exchangeKey identifies a callback. A caller needs the flow cookie and the CSRF cookie of the browser to compute it.
type exchangeKey struct {
	flow     [sha256.Size]byte // a hash of the provider and the flow
	callback [sha256.Size]byte // a hash of the provider, the flow, the browser and the provider's answer
}

// exchangeResult is what a provider returned for a code. It is shared: callers get copies.
type exchangeResult struct {
	tokens  *TokenSet
	profile Profile
}

// exchanges makes a repeated callback join the first one: a code is valid once, and a browser repeats a callback after
// a reload or a lost connection. It is in the memory of one process and safe for concurrent use. The nil *exchanges
// remembers nothing.
type exchanges struct {
	now     func() time.Time
	pending flight.Group[*exchangeResult]

	mu    sync.Mutex
	known map[exchangeKey]*exchanged
	flows map[[sha256.Size]byte]bool // the flows with an exchange in progress
}

// exchanged is a result in memory.
type exchanged struct {
	*exchangeResult
	browser string
	userID  string // the user that it signed in; empty before
	until   time.Time
}

func newExchanges(now func() time.Time) *exchanges {
	x := &exchanges{now: now, known: map[exchangeKey]*exchanged{}, flows: map[[sha256.Size]byte]bool{}}
	x.pending.Timeout = exchangeTimeout
	return x
}

// do returns the result of an exchange: that of an earlier callback with this key, of the one that is pending, or of
// exchange. exchange continues when ctx ends. While it is in progress, a callback with another answer to the same flow
// is refused. If the maximum number of exchanges is pending, exchange ends with ctx instead.
func (x *exchanges) do(
	ctx context.Context, key exchangeKey, browser string,
	exchange func(context.Context) (*TokenSet, Profile, error),
) (*TokenSet, Profile, error) {
	result := x.find(key)
	if result == nil {
		once := func(ctx context.Context) (*exchangeResult, error) { return x.once(ctx, key, browser, exchange) }
		var err error
		result, err = x.pending.Do(ctx, string(key.flow[:])+string(key.callback[:]), once)
		if errors.Is(err, flight.ErrFull) {
			bounded, stop := context.WithTimeout(ctx, exchangeTimeout)
			result, err = once(bounded)
			stop()
		}
		if err != nil {
			if ctx.Err() != nil { // the browser has disconnected
				err = clientError(err)
			}
			return nil, nil, asError(err, ErrCallbackRoute)
		}
	}
	tokens := *result.tokens
	tokens.Claims, tokens.Extra = exactjson.CloneObject(tokens.Claims), maps.Clone(tokens.Extra)
	return &tokens, exactjson.CloneObject(result.profile), nil
}

// once calls exchange and stores its result, unless the result is known or the flow has an exchange in progress.
func (x *exchanges) once(
	ctx context.Context, key exchangeKey, browser string,
	exchange func(context.Context) (*TokenSet, Profile, error),
) (*exchangeResult, error) {
	if !x.start(key) {
		return nil, callbackErrorf(ErrInvalidCheck, reasonUsed, "another callback of the same sign-in is in progress")
	}
	defer x.finish(key)
	return guarded("exchange", func() (*exchangeResult, error) {
		if result := x.find(key); result != nil { // of an exchange that finished after the first lookup
			return result, nil
		}
		tokens, profile, err := exchange(ctx)
		if err != nil {
			return nil, err
		}
		result := &exchangeResult{tokens, profile}
		x.keep(key, browser, result)
		return result, nil
	})
}

// start reserves a flow for one exchange. It reports false if the flow has an exchange in progress: otherwise a client
// that invents codes starts any number of them with one flow cookie.
func (x *exchanges) start(key exchangeKey) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.flows[key.flow] {
		return false
	}
	x.flows[key.flow] = true
	return true
}

// finish releases the reservation of start.
func (x *exchanges) finish(key exchangeKey) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.flows, key.flow)
}

func (x *exchanges) find(key exchangeKey) *exchangeResult {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.known[key]; e != nil && e.until.After(x.now()) {
		return e.exchangeResult
	}
	return nil
}

// keep stores a result, and deletes expired ones, or else the oldest, to make room.
func (x *exchanges) keep(key exchangeKey, browser string, result *exchangeResult) {
	now := x.now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.known) >= maxExchanged {
		maps.DeleteFunc(x.known, func(_ exchangeKey, e *exchanged) bool { return !e.until.After(now) })
	}
	if len(x.known) >= maxExchanged {
		var oldest exchangeKey
		until := now.Add(exchangedFor + 1)
		for k, e := range x.known {
			if e.until.Before(until) {
				oldest, until = k, e.until
			}
		}
		delete(x.known, oldest)
	}
	x.known[key] = &exchanged{exchangeResult: result, browser: browser, until: now.Add(exchangedFor)}
}

// signedIn notes that the result under key has signed in a user, and erases the browser's results for other users.
func (x *exchanges) signedIn(key exchangeKey, browser, userID string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.known[key]; e != nil {
		e.userID = userID
	}
	maps.DeleteFunc(x.known, func(_ exchangeKey, e *exchanged) bool {
		return browser != "" && e.browser == browser && e.userID != userID
	})
}

// erase deletes the results of a browser, and those that signed in a user: after a sign-out, or when the user's
// sessions are revoked. Either may be empty.
func (x *exchanges) erase(browser, userID string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.known, func(_ exchangeKey, e *exchanged) bool {
		return browser != "" && e.browser == browser || userID != "" && e.userID == userID
	})
}

// browser identifies the browser of a request for [exchanges]: by its CSRF cookie. It is empty without one.
func (v *arrival) browser() string {
	if v.cookies == nil {
		return ""
	}
	value, _ := v.jar.Raw(v.cookies.csrf.name())
	return value
}

// exchangeKey identifies this callback. answer is the code, or with OAuth 1.0a token and verifier.
func (f *flowState) exchangeKey(c *call, answer string) exchangeKey {
	flow := c.providerID + "\x00" + f.Tag
	return exchangeKey{
		flow:     sha256.Sum256([]byte(flow)),
		callback: sha256.Sum256([]byte(flow + "\x00" + c.browser() + "\x00" + answer)),
	}
}
