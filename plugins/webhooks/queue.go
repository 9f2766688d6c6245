package webhooks

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// The limits of the queue. What does not fit stays in the store for the periodic task.
const (
	sendersPerEndpoint = 4
	waitingPerEndpoint = 64
	maxBackground      = 64
)

// queue sends deliveries in the background. Each endpoint has its own senders, so that a slow endpoint delays no other
// one. Its goroutines end when no delivery waits.
type queue struct {
	hooks *Webhooks

	mu         sync.Mutex
	lanes      map[string]*lane
	held       map[string]bool // keys of the deliveries in memory
	background int             // events that are being assigned
	total      int             // deliveries and events that are not finished
	idle       chan struct{}   // closed while total is zero
}

// lane is the queue of an endpoint.
type lane struct {
	ready         []*job
	working, held int
}

func (q *queue) init(w *Webhooks) {
	q.hooks, q.lanes, q.held, q.idle = w, map[string]*lane{}, map[string]bool{}, make(chan struct{})
	close(q.idle)
}

// begin counts work that wait waits for. The caller holds q.mu.
func (q *queue) begin() {
	if q.total == 0 {
		q.idle = make(chan struct{})
	}
	q.total++
}

func (q *queue) end() {
	if q.total--; q.total == 0 {
		close(q.idle)
	}
}

// start runs f in the background, unless too much runs already.
func (q *queue) start(f func(ctx context.Context) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.background >= maxBackground {
		return
	}
	q.background++
	q.begin()
	go func() {
		ctx := context.Background()
		q.log(ctx, f(ctx))
		q.mu.Lock()
		defer q.mu.Unlock()
		q.background--
		q.end()
	}()
}

func (q *queue) holds(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held[key]
}

// reserve reports whether a delivery fits in the queue of its endpoint.
func (q *queue) reserve(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lanes[j.endpoint]
	if l == nil {
		l = &lane{}
		q.lanes[j.endpoint] = l
	}
	if l.held >= waitingPerEndpoint || q.held[j.record.Key] {
		return false
	}
	l.held++
	q.held[j.record.Key] = true
	q.begin()
	return true
}

// ready sends a delivery that was reserved and claimed.
func (q *queue) ready(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lanes[j.endpoint]
	l.ready = append(l.ready, j)
	if l.working < sendersPerEndpoint {
		l.working++
		go q.work(l)
	}
}

// work sends deliveries until none is ready.
func (q *queue) work(l *lane) {
	for {
		q.mu.Lock()
		if len(l.ready) == 0 {
			l.working--
			q.mu.Unlock()
			return
		}
		next := l.ready[0]
		l.ready = l.ready[1:]
		q.mu.Unlock()
		ctx := context.Background()
		q.log(ctx, q.hooks.attempt(ctx, next))
		q.finish(next)
	}
}

// finish removes a delivery from the queue.
func (q *queue) finish(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.held, j.record.Key)
	if l := q.lanes[j.endpoint]; l != nil {
		if l.held--; l.held == 0 {
			delete(q.lanes, j.endpoint)
		}
	}
	q.end()
}

// later sends a delivery after a short wait, if it is due then and no other process has sent it.
func (q *queue) later(wait time.Duration, key string) {
	time.AfterFunc(wait, func() {
		ctx := context.Background()
		r, err := q.hooks.records.Record(ctx, deliveryKind, key)
		if err == nil {
			err = q.hooks.adopt(ctx, r)
		}
		if !errors.Is(err, core.ErrNotFound) {
			q.log(ctx, err)
		}
	})
}

// wait waits until no work is left, or until ctx is done.
func (q *queue) wait(ctx context.Context) error {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *queue) log(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, errClaimed) && !errors.Is(err, errFull) {
		q.hooks.host.Logger.ErrorContext(ctx, "webhooks: a step failed and will be repeated", "error", err)
	}
}
