package password

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

const (
	// waitingPerSlot is the number of requests that may wait for each slot, and longestWait is their longest wait.
	waitingPerSlot = 64
	longestWait    = 3 * time.Second
)

// errBusy is returned to a request that would have to wait too long.
var errBusy = errors.New("password: too many passwords are being checked at once")

// priority is the order in which requests get a slot. Each has its own places to wait, so that a flood of one does not
// take those of another.
type priority int

const (
	unidentified priority = iota // clients without a known address: half of the places
	identified                   // half of the places; one network may take only a part of them
	// known browsers, signed-in users and owners of a link: as many places again; one network may take only a part
	known
	priorities
)

// queue bounds how many hashes are computed at the same time. A hash needs its memory and a processor for tens of
// milliseconds, so an unbounded number of them is an attack on both. A request that waits takes no other resources.
//
// Known clients get three slots for each one that others get, while both wait: a user with an account can make
// many browsers known, so these must not keep others out. Of the others, identified clients get three slots for each
// one that unidentified clients get.
//
// The memory of a hash is garbage when it is done, and the garbage collector comes late: on a busy machine six times
// the memory of a hash were taken by two slots. So the queue counts the garbage, and collects it when it is as much as
// the slots use: the hashes take at most 2 × slots × memory of a hash, in addition to the rest of the process.
type queue struct {
	wait   time.Duration
	memory uint64 // of a hash, in bytes
	// collect is runtime.GC. roomy returns what the process has alive: garbage of less than half of that is left alone, as
	// collecting costs in proportion to what lives.
	collect func()
	roomy   func() uint64

	mu      sync.Mutex
	garbage uint64
	slots   int
	busy    int
	refused uint64
	lines   [priorities][]*waiter
	// networks counts the clients that wait, by line and network. Known clients without an address are those of the zero
	// Prefix.
	networks map[lineShare]int
	// turns counts the slots that identified clients got in a row while unidentified ones waited, knownTurns those that
	// known clients got while others waited.
	turns, knownTurns int
}

// turnsInARow is how many slots the first of two lines gets for each one of the other.
const turnsInARow = 3

// lineShare is a network in a line: in each line it has its own share of the places.
type lineShare struct {
	priority
	network netip.Prefix
}

// waiter is a request that waits.
type waiter struct {
	granted chan struct{} // closed with q.mu locked when it has a slot
	shares  []lineShare
}

func newQueue(slots int, memory uint64) *queue {
	return &queue{slots: slots, wait: longestWait, memory: memory, collect: runtime.GC, roomy: alive}
}

// alive is how many bytes lived when the garbage collector looked last.
func alive() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// place is the place of a request in the queue.
type place struct {
	priority priority
	networks []netip.Prefix // of a client whose address is known
}

type placeKey struct{}

// withPriority returns a context for a client that has proved that it owns the account. Its hashes get the priority
// known.
func withPriority(ctx context.Context, c *core.Call) context.Context {
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

// do runs work when there is a slot. It returns errBusy when too many requests wait already or the wait takes too long,
// and the context's error when the client has left.
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
	defer q.addGarbage() // while the slot is still taken
	work()
	return nil
}

// load returns the load of the queue.
func (q *queue) load() core.HashLoad {
	q.mu.Lock()
	defer q.mu.Unlock()
	return core.HashLoad{Slots: q.slots, Busy: q.busy, Waiting: q.waiting(), Refused: q.refused}
}

// waiting returns how many requests wait. q.mu is locked.
func (q *queue) waiting() (n int) {
	for _, line := range q.lines {
		n += len(line)
	}
	return n
}

// addGarbage counts the garbage of a hash.
func (q *queue) addGarbage() {
	q.mu.Lock()
	q.garbage += q.memory
	most := uint64(q.slots) * q.memory //nolint:gosec // at least one slot
	full := q.garbage >= most && q.garbage >= q.roomy()/2
	if full {
		q.garbage = 0
	}
	q.mu.Unlock()
	if full {
		q.collect()
	}
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
	if ctx.Err() != nil { // it got the slot at the same moment
		q.leave()
		return err
	}
	return nil
}

// join takes a slot, or a place to wait. The waiter is nil for a request that has a slot, or an error.
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
	for i, network := range networks { // a /64, then a /56 and a /48, which may have more
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

// giveUp removes a request that waits. It returns false if the request has got a slot meanwhile.
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

// forget removes a waiter from the counts of its networks. q.mu is locked.
func (q *queue) forget(w *waiter) {
	for _, share := range w.shares {
		if q.networks[share]--; q.networks[share] <= 0 {
			delete(q.networks, share)
		}
	}
}

// leave hands a slot to the next request.
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

// next returns the priority that gets the next slot, or a negative value if no request waits. q.mu is locked.
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
