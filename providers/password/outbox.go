package password

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// senders is how many letters are decided on and sent at the same time, backlog how many may wait.
	senders = 4
	backlog = 256
	// sendTimeout bounds one letter: the look-ups, and its delivery.
	sendTimeout = 30 * time.Second
)

// outbox does after an answer what the answer must not tell by its time: whether somebody is known, and the letter that
// depends on it. It starts a goroutine when there is work, and none lives on when there is none.
type outbox struct {
	mu      sync.Mutex
	jobs    []job
	working int
	idle    chan struct{} // closed while nothing is to be done
}

type job struct {
	ctx context.Context
	log *slog.Logger
	do  func(ctx context.Context) error
}

func newOutbox() *outbox {
	idle := make(chan struct{})
	close(idle)
	return &outbox{idle: idle}
}

// add has a job done soon, with the values of ctx and a deadline of its own. It returns errBusy when too many wait
// already: the visitor is told, known or not.
func (o *outbox) add(ctx context.Context, log *slog.Logger, do func(ctx context.Context) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.jobs) >= backlog {
		return errBusy
	}
	if o.working == 0 && len(o.jobs) == 0 {
		o.idle = make(chan struct{})
	}
	o.jobs = append(o.jobs, job{context.WithoutCancel(ctx), log, do})
	if o.working < senders {
		o.working++
		go o.work()
	}
	return nil
}

// work does jobs until there are none.
func (o *outbox) work() {
	for {
		o.mu.Lock()
		if len(o.jobs) == 0 {
			if o.working--; o.working == 0 {
				o.jobs = nil
				close(o.idle)
			}
			o.mu.Unlock()
			return
		}
		next := o.jobs[0]
		o.jobs[0] = job{}
		o.jobs = o.jobs[1:]
		o.mu.Unlock()
		next.run()
	}
}

// run does a job. Nobody waits for it: what fails is logged.
func (j job) run() {
	ctx, cancel := context.WithTimeout(j.ctx, sendTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			j.log.ErrorContext(ctx, "password: a letter panicked", "panic", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
		}
	}()
	if err := j.do(ctx); err != nil {
		j.log.ErrorContext(ctx, "password: a letter was not sent", "error", err)
	}
}

// flush waits until nothing is to be done.
func (o *outbox) flush(ctx context.Context) error {
	o.mu.Lock()
	idle := o.idle
	o.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
