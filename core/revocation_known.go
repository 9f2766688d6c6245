package core

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// revocations are the sessions of the jwt strategy that were ended before their time, as far as this process knows.
// What one process ends it writes to a log in the store (revocation_log.go), which the others read: a request that
// finds that half of Revocation.Every is over starts a poll beside itself, and one that comes when all of it is over
// waits for the poll. So a process without visitors does nothing, and there is nothing to close.
type revocations struct {
	records store.RecordStore
	// outdates is told whose data other processes call old; nil: nobody asks.
	outdates func(user string)
	every    time.Duration
	strict   bool
	lasts    time.Duration // how long a token can live
	now      func() time.Time
	log      *reporter

	mu    sync.RWMutex
	ended map[[16]byte]int64 // sessions by ID, until when
	users map[string]userEnd

	learned atomic.Int64 // when the log was last read to its end, in nanoseconds since 1970; zero: never
	polling sync.Mutex
	poll    *poll // the last one; nil: none yet

	// What follows is of the poll that is under way.
	read              position
	unread            []unread
	swept, complained time.Time

	writing batches
}

// userEnd is that all sessions of a user have ended that began under an earlier epoch than this, but for one.
type userEnd struct {
	epoch  int64
	except [16]byte
	until  int64 // Unix seconds
}

// poll is one reading of the log.
type poll struct {
	done  chan struct{}
	begun time.Time
	// after is true where the poll before it failed: then nobody waits.
	after bool
	err   error // when it is over
}

// learn notes what has ended.
func (r *revocations) learn(entries ...revoked) {
	now := r.now().Unix()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range entries {
		switch {
		case e.until < now:
		case e.outdated:
			if r.outdates != nil {
				r.outdates(e.user)
			}
		case e.user == "":
			r.ended[e.id] = max(r.ended[e.id], e.until)
		case r.users[e.user].epoch < e.epoch:
			r.users[e.user] = userEnd{e.epoch, e.except, e.until}
		}
	}
}

// position is how far the log was read.
type position struct {
	page    int64
	entries int
}

// unread are pages of the log that were not read yet: from next back to what was read before.
type unread struct {
	next int64
	from position
}

// batches gathers what several requests add while the log is being written.
type batches struct {
	turn chan struct{} // whoever writes
	mu   sync.Mutex
	open *batch
}

type batch struct {
	entries []revoked
	written bool
	err     error
}
