package apikey

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

const (
	// usageInterval is how often the time of use of a key is stored: a write for each request would make reads writes.
	usageInterval = 10 * time.Minute
	// maxCounted is the maximum number of keys with requests that are not stored yet. More are not counted.
	maxCounted = 10_000
	// usageTimeout limits a write.
	usageTimeout = 5 * time.Second
)

// usage counts the requests of each key, and writes them in the background, so that no response waits.
type usage struct {
	now     func() time.Time
	log     *slog.Logger
	change  func(ctx context.Context, id string, edit func(*keyRecord) bool) error
	writing sync.WaitGroup

	mu    sync.Mutex
	calls map[string]*calls
}

// calls are the requests of a key since the last write.
type calls struct {
	n       int64
	last    time.Time
	writing bool
}

func (u *usage) init(k *Keys) {
	u.now, u.log, u.calls, u.change = k.host.Now, k.host.Logger, map[string]*calls{}, k.change
}

// count counts a request with a key.
func (u *usage) count(ctx context.Context, key *keyRecord) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c := u.calls[key.ID]
	if c == nil {
		if len(u.calls) >= maxCounted {
			return
		}
		c = &calls{}
		u.calls[key.ID] = c
	}
	c.n, c.last = c.n+1, u.now()
	if c.last.Sub(key.Used) < usageInterval || c.writing {
		return
	}
	c.writing = true
	u.writing.Go(func() { u.write(context.WithoutCancel(ctx), key.ID) })
}

// write stores the requests of a key.
func (u *usage) write(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, usageTimeout)
	defer cancel()
	u.mu.Lock()
	n, last := u.calls[id].n, u.calls[id].last
	u.mu.Unlock()
	err := u.change(ctx, id, func(k *keyRecord) bool {
		k.Uses += n
		if last.After(k.Used) {
			k.Used = last
		}
		return true
	})
	u.mu.Lock()
	defer u.mu.Unlock()
	c := u.calls[id]
	c.writing = false
	if err == nil || errors.Is(err, core.ErrNotFound) {
		c.n -= n
	} else {
		u.log.WarnContext(ctx, "apikey: could not store the time of use", "key", id, "error", err)
	}
	if c.n == 0 {
		delete(u.calls, id)
	}
}

// flush writes all requests that are not stored yet.
func (u *usage) flush(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		u.writing.Wait()
		u.mu.Lock()
		var ids []string
		for id, c := range u.calls {
			if !c.writing {
				c.writing = true
				ids = append(ids, id)
			}
		}
		u.mu.Unlock()
		for _, id := range ids {
			u.write(ctx, id)
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
