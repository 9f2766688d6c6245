package core

import (
	"context"
	"encoding/json"
	"errors"
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

// RevocationAge is how long ago this process has last learned which sessions were ended elsewhere; sessions that other
// processes have ended since are still good here. ok is false where Session.Revocation is off, for an Auth of
// [PerRequest], and before anybody has come: nothing is read without visitors, and the age grows while there are none.
func (a *Auth) RevocationAge() (age time.Duration, ok bool) {
	if a.sessions == nil || a.sessions.ended == nil || a.sessions.ended.learned.Load() == 0 {
		return 0, false
	}
	return a.sessions.ended.age(), true
}

// recordEpoch is the kind of the records that count how often all sessions of a user were ended; the key is the user.
const recordEpoch = "epoch"

type epochNote struct {
	N int64 `json:"n"`
}

// endSession ends one session.
func (r *revocations) endSession(ctx context.Context, id [16]byte) error {
	return r.add(ctx, revoked{id: id, until: r.now().Add(r.lasts).Unix()})
}

// endUser ends all sessions of a user, but for one where except is not zero. Sessions that begin from now on have the
// new epoch.
func (r *revocations) endUser(ctx context.Context, userID string, except [16]byte) error {
	epoch, err := r.raise(ctx, userID)
	if err != nil {
		return err
	}
	return r.add(ctx, revoked{
		user: logName(userID), epoch: epoch, except: except, until: r.now().Add(r.lasts).Unix(),
	})
}

// epochOf is the epoch under which a session of a user begins.
func (r *revocations) epochOf(ctx context.Context, userID string) (int64, error) {
	_, note, err := r.epochNote(ctx, userID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return 0, err
	}
	return max(note.N, r.known(userID)), nil
}

// known is the last epoch of a user that this process has heard of.
func (r *revocations) known(userID string) int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.users[logName(userID)].epoch
}

func (r *revocations) epochNote(ctx context.Context, userID string) (*store.Record, epochNote, error) {
	var note epochNote
	record, err := guarded("Store.Record", func() (*store.Record, error) {
		return present(r.records.Record(ctx, recordEpoch, epochKey(userID)))
	})
	if err == nil {
		err = json.Unmarshal(record.Value, &note)
	}
	return record, note, err
}

func epochKey(userID string) string {
	if store.IsRecordName(recordEpoch, userID) {
		return userID
	}
	return publicID(userID)
}

// raise begins a new epoch of a user. Epochs are counted, not dated: a session that begins in the same second is told
// apart. The count starts at the time, so that it goes on when a record was lost.
func (r *revocations) raise(ctx context.Context, userID string) (int64, error) {
	owner := userID
	for {
		record, note, err := r.epochNote(ctx, userID)
		absent := errors.Is(err, ErrNotFound)
		if err != nil && !absent {
			return 0, err
		}
		note.N = max(note.N+1, r.known(userID)+1, r.now().Unix())
		value, err := json.Marshal(note)
		if err != nil {
			return 0, err
		}
		if absent {
			record = &store.Record{Kind: recordEpoch, Key: epochKey(userID), UserID: owner, Value: value}
			err = guard("Store.CreateRecord", func() error { return r.records.CreateRecord(ctx, record) })
			if errors.Is(err, ErrNotFound) && owner != "" { // a user whom the application alone knows
				owner, err = "", ErrConflict
			}
		} else {
			record.Value = value
			err = guard("Store.UpdateRecord", func() error { return r.records.UpdateRecord(ctx, record) })
		}
		switch {
		case err == nil:
			return note.N, nil
		case !errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotFound):
			return 0, err
		case ctx.Err() != nil:
			return 0, ctx.Err()
		}
	}
}
