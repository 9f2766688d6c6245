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

// revocations has the StrategyJWT sessions that were ended before they expired, as far as this process knows. Each
// process writes the sessions that it ends to a log in the store (revocation_log.go), and the other processes read it.
// A request that arrives after half of Revocation.Every starts a poll of the log in the background. A request that
// arrives after all of it waits for the poll. So a process without requests does nothing, and nothing needs to be
// closed.
type revocations struct {
	records store.RecordStore
	// onRefresh, if not nil, is called with each user whose data another process has refreshed.
	onRefresh func(user string)
	every     time.Duration
	strict    bool
	lasts     time.Duration // the maximum lifetime of a token
	now       func() time.Time
	log       *reporter

	mu    sync.RWMutex
	ended map[[16]byte]int64 // session ID to the time when the entry can be deleted
	users map[string]userEnd

	lastRead atomic.Int64 // when the log was last read completely, in Unix nanoseconds; zero: never
	polling  sync.Mutex
	poll     *poll // the last poll; nil: none yet

	// The following fields belong to the poll in progress.
	read                  position
	unread                []unread
	lastSweep, lastLogged time.Time

	writing batches
}

// userEnd says that all sessions of a user have ended that started under an epoch lower than epoch, except one.
type userEnd struct {
	epoch  int64
	except [16]byte
	until  int64 // Unix seconds
}

// poll is one read of the log.
type poll struct {
	done    chan struct{}
	started time.Time
	// after is true if the previous poll failed. Then requests do not wait.
	after bool
	err   error // set when done is closed
}

// learn stores entries of the log in memory.
func (r *revocations) learn(entries ...revoked) {
	now := r.now().Unix()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range entries {
		switch {
		case e.until < now:
		case e.outdated:
			if r.onRefresh != nil {
				r.onRefresh(e.user)
			}
		case e.user == "":
			r.ended[e.id] = max(r.ended[e.id], e.until)
		case r.users[e.user].epoch < e.epoch:
			r.users[e.user] = userEnd{e.epoch, e.except, e.until}
		}
	}
}

// position is the end of the part of the log that was read.
type position struct {
	page    int64
	entries int
}

// unread is a range of unread pages: from next back to the position from.
type unread struct {
	next int64
	from position
}

// batches collects the entries of several requests while another request writes the log.
type batches struct {
	turn chan struct{} // held by the goroutine that writes
	mu   sync.Mutex
	open *batch
}

type batch struct {
	entries []revoked
	written bool
	err     error
}

const (
	// revocationEvery is the default of Revocation.Every.
	revocationEvery = 5 * time.Second
	// strictAfter is the time without a successful poll after which Revocation.Strict refuses requests.
	strictAfter = time.Minute
	// pollTime is the timeout of a poll. The first poll of a process reads the whole log. pollWait is the maximum time
	// that a request waits for a poll.
	pollTime = time.Minute
	pollWait = 2 * time.Second
	// revocationSkew is the clock difference between processes that is tolerated. It extends the lifetime of entries, so
	// that no process deletes one too early.
	revocationSkew = 2 * time.Hour
	// sweepEvery is the interval between two deletions of entries whose tokens have all expired.
	sweepEvery = time.Hour
)

func newRevocations(c *Config, records store.RecordStore, log *reporter) *revocations {
	if c.Session.Revocation.On != True || records == nil {
		return nil
	}
	every := c.Session.Revocation.Every
	if every == 0 {
		every = revocationEvery
	}
	return &revocations{
		records: records, every: every, strict: c.Session.Revocation.Strict, now: c.Now, log: log,
		lasts: max(c.JWT.MaxAge, c.Session.MaxAge) + revocationSkew,
		ended: map[[16]byte]int64{}, users: map[string]userEnd{}, lastSweep: c.Now(),
		writing: batches{turn: make(chan struct{}, 1)},
	}
}

var errEnded = mistake(errors.New("the session was ended"))

// check returns an error if the session of a token was ended. An error of type ErrSessionToken means that this is
// unknown.
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

// follow reads the log if it is time to. It returns an error if Strict is set and the last successful poll is too long
// ago.
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
		return errorf(ErrSessionToken, "Session.Revocation is Strict, and the list of ended sessions was not read "+
			"for %v: %w", max(strictAfter, r.every), store.Unavailable(errors.New("the revocation log is unavailable")))
	}
	return nil
}

// age returns the time since the log was read. If the clock went back, the age is the maximum.
func (r *revocations) age() time.Duration {
	age := time.Duration(r.now().UnixNano() - r.lastRead.Load())
	if age < 0 || r.lastRead.Load() == 0 {
		return time.Duration(1<<63 - 1)
	}
	return age
}

// start returns the poll in progress. If there is none, it starts one. After a failed poll, the next one starts after
// half of Every at the earliest.
func (r *revocations) start(ctx context.Context) *poll {
	r.polling.Lock()
	defer r.polling.Unlock()
	now := r.now()
	if last := r.poll; last != nil {
		since := now.Sub(last.started)
		if !last.over() || last.err != nil && since >= 0 && since < r.every/2 {
			return last
		}
	}
	p := &poll{done: make(chan struct{}), started: now, after: r.poll != nil && r.poll.err != nil}
	r.poll = p
	go r.run(context.WithoutCancel(ctx), p)
	return p
}

// over reports whether the poll has ended. Then err is set.
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
		r.lastRead.Store(p.started.UnixNano())
		r.sweep(p.started)
		return
	}
	if since := p.started.Sub(r.lastLogged); since < 0 || since >= strictAfter {
		r.lastLogged = p.started
		r.log.failure(ctx, errorf(ErrStore, "read the list of ended sessions (Session.Revocation): %w", p.err))
	}
}

// sweep deletes entries whose tokens have all expired.
func (r *revocations) sweep(now time.Time) {
	if since := now.Sub(r.lastSweep); since >= 0 && since < sweepEvery {
		return
	}
	r.lastSweep = now
	var over [][16]byte
	r.mu.RLock() // requests can continue meanwhile
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

// RevocationAge returns the time since this process last read the revocation list. Sessions that other processes have
// ended since then are still accepted here. ok is false if Session.Revocation is off, if nothing was read yet, and for
// an Auth of [PerRequest]. The list is read when requests arrive, so the age grows while there are none.
func (a *Auth) RevocationAge() (age time.Duration, ok bool) {
	if a.sessions == nil || a.sessions.ended == nil || a.sessions.ended.lastRead.Load() == 0 {
		return 0, false
	}
	return a.sessions.ended.age(), true
}

// recordEpoch is the kind of the records that contain a user's revocation epoch. The key is the user ID.
const recordEpoch = "epoch"

type epochNote struct {
	N int64 `json:"n"`
}

// endSession ends one session.
func (r *revocations) endSession(ctx context.Context, id [16]byte) error {
	return r.add(ctx, revoked{id: id, until: r.now().Add(r.lasts).Unix()})
}

// endUser ends all sessions of a user. It keeps the session except, if that is not zero. New sessions of the user start
// under the new epoch.
func (r *revocations) endUser(ctx context.Context, userID string, except [16]byte) error {
	epoch, err := r.nextEpoch(ctx, userID)
	if err != nil {
		return err
	}
	return r.add(ctx, revoked{
		user: logName(userID), epoch: epoch, except: except, until: r.now().Add(r.lasts).Unix(),
	})
}

// epochOf returns the epoch for a new session of a user.
func (r *revocations) epochOf(ctx context.Context, userID string) (int64, error) {
	_, note, err := r.epochNote(ctx, userID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return 0, err
	}
	return max(note.N, r.known(userID)), nil
}

// known returns the highest epoch of a user that this process has learned.
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

// nextEpoch increases a user's epoch and returns it. The epoch is a counter and not a time, so that it distinguishes
// sessions that start in the same second as the revocation. The counter starts at the current Unix time, so that it
// still increases if the record was lost.
func (r *revocations) nextEpoch(ctx context.Context, userID string) (int64, error) {
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
			if errors.Is(err, ErrNotFound) && owner != "" { // the user is not in the store
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
