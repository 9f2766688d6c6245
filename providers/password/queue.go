package password

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/observe"
)

const (
	// waitingPerSlot is the maximum number of waiting requests for each slot, and maxWait their maximum wait.
	waitingPerSlot = 64
	maxWait        = 3 * time.Second
)

// errBusy is returned if a request would wait too long.
var errBusy = errors.New("password: too many concurrent password checks")

// priority is the order in which requests get a slot. Each priority has its own waiting places, so that a flood of one
// does not take those of another.
type priority int

const (
	unidentified priority = iota // clients without a known address: half of the waiting places
	identified                   // half of the waiting places; each network may take only a part of them
	// known browsers, signed-in users and owners of a link: the same number of places again; each network may take only a
	// part of them
	known
	priorities
)

// queue limits the number of concurrent hash computations. A hash needs its memory and a processor for tens of
// milliseconds, so that without a limit a flood of sign-ins exhausts both. A waiting request takes no other resources.
//
// While both wait, known clients get three slots for each slot of the others. Known clients must not keep the others
// out, because a user with an account can make many browsers known. Of the others, identified clients get three slots
// for each slot of unidentified clients.
//
// It is not golang.org/x/sync/semaphore, which has no priorities and no shares of networks.
type queue struct {
	wait time.Duration

	mu      sync.Mutex
	slots   int
	busy    int
	refused uint64
	lines   [priorities][]*waiter
	// networks counts the waiting clients by line and network. Known clients without an address count under the zero
	// Prefix.
	networks map[lineShare]int
	// turns counts the consecutive slots of identified clients while unidentified ones waited, knownTurns those of known
	// clients while others waited.
	turns, knownTurns int
}

// turnsInARow is the number of slots that the preferred line gets for each slot of the other.
const turnsInARow = 3

// lineShare identifies a network in a line. Each network has a share of the waiting places in each line.
type lineShare struct {
	priority
	network netip.Prefix
}

// waiter is a waiting request.
type waiter struct {
	granted chan struct{} // closed when the waiter gets a slot; q.mu is locked
	shares  []lineShare
}

// place is the priority of a request and the networks it counts for.
type place struct {
	priority priority
	networks []netip.Prefix // empty if the address of the client is unknown
}

type placeKey struct{}

// withPriority returns a context for a client that has shown that it owns the account. Its hashes get the priority
// known.
func withPriority(ctx context.Context, c *core.ActionRequest) context.Context {
	client := core.ClientFromContext(c.WithClient(ctx, ""))
	client.Known = true
	return context.WithValue(ctx, placeKey{}, placeFor(client))
}

// placeOf returns the place of a request.
func placeOf(ctx context.Context) place {
	if p, ok := ctx.Value(placeKey{}).(place); ok {
		return p
	}
	return placeFor(core.ClientFromContext(ctx))
}

func placeFor(client core.Client) place {
	switch {
	case client.Known:
		return place{known, client.Networks}
	case len(client.Networks) > 0:
		return place{identified, client.Networks}
	}
	return place{}
}

// do runs work in a slot. It returns errBusy if too many requests wait or the wait is too long, and the context's error
// if the client disconnects.
func (q *queue) do(ctx context.Context, work func()) error {
	if err := q.enter(ctx); err != nil {
		if errors.Is(err, errBusy) {
			q.mu.Lock()
			q.refused++
			q.mu.Unlock()
		}
		return err
	}
	defer q.leave()
	work()
	return nil
}

func (q *queue) stats() observe.HashStats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return observe.HashStats{Slots: q.slots, Busy: q.busy, Waiting: q.waiting(), Refused: q.refused}
}

// waiting returns the number of waiting requests. The caller holds q.mu.
func (q *queue) waiting() (n int) {
	for _, line := range q.lines {
		n += len(line)
	}
	return n
}

// enter waits for a slot.
func (q *queue) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	at := placeOf(ctx)
	w, err := q.join(at.priority, at.networks)
	if w == nil {
		return err
	}
	soon := time.NewTimer(q.wait)
	defer soon.Stop()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-soon.C:
		err = errBusy
	}
	if q.giveUp(at.priority, w) {
		return err
	}
	if ctx.Err() != nil { // it got a slot at the same moment
		q.leave()
		return err
	}
	return nil
}

// join takes a slot or a waiting place. The waiter is nil if the request has a slot, or if err is not nil.
func (q *queue) join(p priority, networks []netip.Prefix) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy < q.slots {
		q.busy++
		return nil, nil
	}
	places := waitingPerSlot * q.slots / 2
	if p == known {
		places *= 2
	}
	if len(q.lines[p]) >= places {
		return nil, errBusy
	}
	w := &waiter{granted: make(chan struct{})}
	for i, network := range networks { // a /64, then its /56 and its /48, which have larger shares
		share := lineShare{p, network}
		if q.networks[share] >= max(1, places*(i+2)/8) {
			return nil, errBusy
		}
		w.shares = append(w.shares, share)
	}
	if p == known && len(networks) == 0 {
		share := lineShare{priority: known}
		if q.networks[share] >= places/2 {
			return nil, errBusy
		}
		w.shares = append(w.shares, share)
	}
	if q.networks == nil {
		q.networks = map[lineShare]int{}
	}
	for _, share := range w.shares {
		q.networks[share]++
	}
	q.lines[p] = append(q.lines[p], w)
	return w, nil
}

// giveUp removes a waiting request. It returns false if the request has a slot by now.
func (q *queue) giveUp(p priority, w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.lines[p], w)
	if i < 0 {
		return false
	}
	q.lines[p] = slices.Delete(q.lines[p], i, i+1)
	q.forget(w)
	return true
}

// forget removes a waiter from the counts of its networks. The caller holds q.mu.
func (q *queue) forget(w *waiter) {
	for _, share := range w.shares {
		if q.networks[share]--; q.networks[share] <= 0 {
			delete(q.networks, share)
		}
	}
}

// leave passes a slot to the next request.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.next()
	if p < 0 {
		q.busy--
		return
	}
	w := q.lines[p][0]
	q.lines[p] = slices.Delete(q.lines[p], 0, 1)
	q.forget(w)
	close(w.granted)
}

// next returns the priority that gets the next slot, or a negative value if no request waits. The caller holds q.mu.
func (q *queue) next() priority {
	others := len(q.lines[unidentified])+len(q.lines[identified]) > 0
	if len(q.lines[known]) > 0 && (!others || q.knownTurns < turnsInARow) {
		if others {
			q.knownTurns++
		}
		return known
	}
	q.knownTurns = 0
	switch {
	case len(q.lines[unidentified]) > 0 && (len(q.lines[identified]) == 0 || q.turns >= turnsInARow):
		q.turns = 0
		return unidentified
	case len(q.lines[identified]) > 0:
		q.turns++
		return identified
	}
	return -1
}
