package core

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

const (
	// revocationEvery is Revocation.Every where it is zero.
	revocationEvery = 5 * time.Second
	// strictAfter is how long nothing may be learned before Revocation.Strict refuses.
	strictAfter = time.Minute
	// pollTime bounds a poll, which reads the whole log when a process starts, pollWait how long a request waits for it.
	pollTime = time.Minute
	pollWait = 2 * time.Second
	// revocationSkew is by how much the clocks of processes may differ before one forgets what has ended too early.
	revocationSkew = 2 * time.Hour
	// sweepEvery is how often what no token can have any more is forgotten.
	sweepEvery = time.Hour
)

func newRevocations(c *Config, records store.RecordStore, log *reporter) *revocations {
	if c.Session.Revocation.On != On || records == nil {
		return nil
	}
	every := c.Session.Revocation.Every
	if every == 0 {
		every = revocationEvery
	}
	return &revocations{
		records: records, every: every, strict: c.Session.Revocation.Strict, now: c.Now, log: log,
		lasts: max(c.JWT.MaxAge, c.Session.MaxAge) + revocationSkew,
		ended: map[[16]byte]int64{}, users: map[string]userEnd{}, swept: c.Now(),
		writing: batches{turn: make(chan struct{}, 1)},
	}
}

var errEnded = mistake(errors.New("the session was ended"))

// check refuses the token of a session that was ended. An error of type ErrSessionToken says that it could not be
// found out.
func (r *revocations) check(ctx context.Context, t *Token) error {
	if err := r.follow(ctx); err != nil {
		return err
	}
	if r.hasEnded(t.Subject, t.revocable(), t.epoch()) {
		return errEnded
	}
	return nil
}

func (r *revocations) hasEnded(userID string, id [16]byte, epoch int64) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if _, ended := r.ended[id]; ended {
		return true
	}
	if len(r.users) == 0 {
		return false
	}
	all, ended := r.users[logName(userID)]
	return ended && epoch < all.epoch && (id != all.except || id == [16]byte{})
}

// follow has the log read when it is time. It fails where Strict is set and nothing was learned for too long.
func (r *revocations) follow(ctx context.Context) error {
	age := r.age()
	if age < r.every/2 {
		return nil
	}
	p := r.start(ctx)
	if age < r.every {
		return nil
	}
	if !p.after {
		wait := time.NewTimer(pollWait)
		defer wait.Stop()
		select {
		case <-p.done:
		case <-wait.C:
		case <-ctx.Done():
		}
	}
	if r.strict && r.age() >= max(strictAfter, r.every) {
		return errorf(ErrSessionToken, "Session.Revocation is Strict, and for %v it could not be learned which sessions "+
			"have ended: %w", max(strictAfter, r.every), store.Unavailable(errors.New("the log of ended sessions is away")))
	}
	return nil
}

// age is how long ago the log was read. A clock that went back counts as long.
func (r *revocations) age() time.Duration {
	age := time.Duration(r.now().UnixNano() - r.learned.Load())
	if age < 0 || r.learned.Load() == 0 {
		return time.Duration(1<<63 - 1)
	}
	return age
}

// start returns the poll that is under way, and starts one where none is. After one that failed the next waits for half
// of Every.
func (r *revocations) start(ctx context.Context) *poll {
	r.polling.Lock()
	defer r.polling.Unlock()
	now := r.now()
	if last := r.poll; last != nil {
		since := now.Sub(last.begun)
		if !last.over() || last.err != nil && since >= 0 && since < r.every/2 {
			return last
		}
	}
	p := &poll{done: make(chan struct{}), begun: now, after: r.poll != nil && r.poll.err != nil}
	r.poll = p
	go r.run(context.WithoutCancel(ctx), p)
	return p
}

// over reports whether the poll has ended; err is set by then.
func (p *poll) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (r *revocations) run(ctx context.Context, p *poll) {
	defer close(p.done)
	ctx, end := context.WithTimeout(ctx, pollTime)
	defer end()
	if p.err = guard("Store.Record", func() error { return r.catchUp(ctx) }); p.err == nil {
		r.learned.Store(p.begun.UnixNano())
		r.sweep(p.begun)
		return
	}
	if since := p.begun.Sub(r.complained); since < 0 || since >= strictAfter {
		r.complained = p.begun
		r.log.failure(ctx, errorf(ErrStore, "learn which sessions have ended (Session.Revocation): %w", p.err))
	}
}

// sweep forgets what no token can have any more.
func (r *revocations) sweep(now time.Time) {
	if since := now.Sub(r.swept); since >= 0 && since < sweepEvery {
		return
	}
	r.swept = now
	var over [][16]byte
	r.mu.RLock() // requests go on meanwhile
	for id, until := range r.ended {
		if until < now.Unix() {
			over = append(over, id)
		}
	}
	r.mu.RUnlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range over {
		if r.ended[id] < now.Unix() {
			delete(r.ended, id)
		}
	}
	for user, end := range r.users {
		if end.until < now.Unix() {
			delete(r.users, user)
		}
	}
}
