// Package revocation knows which StrategyJWT sessions have been revoked. It needs a record store and a clock.
package revocation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/internal/recordstore"
	"github.com/latchkey-go/latchkey/internal/sessionid"
)

// Options configure a List.
type Options struct {
	// Records stores the log of revoked sessions and the epochs of users.
	Records recordstore.Store
	// Every is the interval between two polls of the log. The default is 5 seconds.
	Every time.Duration
	// Strict makes Refresh fail if the log could not be read for a minute, or for Every if that is longer.
	Strict bool
	// TokenAge is the maximum lifetime of a session token.
	TokenAge time.Duration
	// Now is the clock.
	Now func() time.Time
	// Failed receives the error of a poll in the background, at most once a minute.
	Failed func(ctx context.Context, err error)
}

// List has the sessions that were ended before they expired, as far as this process knows. Each process writes the
// sessions that it ends to a log in the store (log.go), and the other processes read it. A request that arrives after
// half of Every starts a poll of the log in the background. A request that arrives after all of it waits for the poll.
// So a process without requests does nothing, and nothing needs to be closed. A List is safe for concurrent use.
type List struct {
	Options
	onDataChange func(user string)

	mu    sync.RWMutex
	ended map[sessionid.ID]int64 // the time when the entry can be deleted
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
	except sessionid.ID
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

// New returns a List of the revoked sessions in o.Records.
func New(o Options) *List {
	if o.Every == 0 {
		o.Every = defaultEvery
	}
	return &List{
		Options: o, ended: map[sessionid.ID]int64{}, users: map[string]userEnd{}, lastSweep: o.Now(),
		writing: batches{turn: make(chan struct{}, 1)},
	}
}

// OnDataChange sets the function that is called with each user whose data another process has changed (see
// [List.DataChanged]). The user is the result of [UserKey]. Call it before the List is used.
func (l *List) OnDataChange(changed func(user string)) { l.onDataChange = changed }

// expiry returns when all tokens that exist now have expired, in Unix seconds.
func (l *List) expiry() int64 { return l.Now().Add(l.TokenAge + skew).Unix() }

// learn stores entries of the log in memory.
func (l *List) learn(entries ...entry) {
	now := l.Now().Unix()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		switch {
		case e.until < now:
		case e.dataChanged:
			if l.onDataChange != nil {
				l.onDataChange(e.user)
			}
		case e.user == "":
			l.ended[e.id] = max(l.ended[e.id], e.until)
		case l.users[e.user].epoch < e.epoch:
			l.users[e.user] = userEnd{e.epoch, e.except, e.until}
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
	entries []entry
	written bool
	err     error
}

const (
	// defaultEvery is the default of Options.Every.
	defaultEvery = 5 * time.Second
	// strictAfter is the time without a successful poll after which Options.Strict refuses requests.
	strictAfter = time.Minute
	// pollTime is the timeout of a poll. The first poll of a process reads the whole log. pollWait is the maximum time
	// that a request waits for a poll.
	pollTime = time.Minute
	pollWait = 2 * time.Second
	// skew is the clock difference between processes that is tolerated. It extends the lifetime of entries, so
	// that no process deletes one too early.
	skew = 2 * time.Hour
	// sweepEvery is the interval between two deletions of entries whose tokens have all expired.
	sweepEvery = time.Hour
)

// Has reports whether a session was revoked, as far as this process knows. epoch is the epoch of the user at the start
// of the session.
func (l *List) Has(userID string, id sessionid.ID, epoch int64) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if _, ended := l.ended[id]; ended {
		return true
	}
	if len(l.users) == 0 {
		return false
	}
	all, ended := l.users[UserKey(userID)]
	return ended && epoch < all.epoch && (id != all.except || id == sessionid.ID{})
}

// Refresh reads the log if it is time to. It returns an error if Strict is set and the last successful poll is too long
// ago. The error matches [recordstore.ErrUnavailable].
func (l *List) Refresh(ctx context.Context) error {
	age := l.age()
	if age < l.Every/2 {
		return nil
	}
	p := l.start(ctx)
	if age < l.Every {
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
	if l.Strict && l.age() >= max(strictAfter, l.Every) {
		return fmt.Errorf("Session.Revocation is Strict, and the list of ended sessions was not read "+
			"for %v: %w", max(strictAfter, l.Every), recordstore.Unavailable(errors.New("the revocation log is unavailable")))
	}
	return nil
}

// Age returns the time since the log was read. ok is false if it was never read.
func (l *List) Age() (age time.Duration, ok bool) { return l.age(), l.lastRead.Load() != 0 }

// age returns the time since the log was read. It is the maximum if the log was never read or the clock went back.
func (l *List) age() time.Duration {
	age := time.Duration(l.Now().UnixNano() - l.lastRead.Load())
	if age < 0 || l.lastRead.Load() == 0 {
		return time.Duration(1<<63 - 1)
	}
	return age
}

// start returns the poll in progress. If there is none, it starts one. After a failed poll, the next one starts after
// half of Every at the earliest.
func (l *List) start(ctx context.Context) *poll {
	l.polling.Lock()
	defer l.polling.Unlock()
	now := l.Now()
	if last := l.poll; last != nil {
		since := now.Sub(last.started)
		if !last.over() || last.err != nil && since >= 0 && since < l.Every/2 {
			return last
		}
	}
	p := &poll{done: make(chan struct{}), started: now, after: l.poll != nil && l.poll.err != nil}
	l.poll = p
	go l.run(context.WithoutCancel(ctx), p)
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

func (l *List) run(ctx context.Context, p *poll) {
	defer close(p.done)
	ctx, end := context.WithTimeout(ctx, pollTime)
	defer end()
	if p.err = l.catchUp(ctx); p.err == nil {
		l.lastRead.Store(p.started.UnixNano())
		l.sweep(p.started)
		return
	}
	if since := p.started.Sub(l.lastLogged); since < 0 || since >= strictAfter {
		l.lastLogged = p.started
		if l.Failed != nil {
			l.Failed(ctx, p.err)
		}
	}
}

// sweep deletes entries whose tokens have all expired.
func (l *List) sweep(now time.Time) {
	if since := now.Sub(l.lastSweep); since >= 0 && since < sweepEvery {
		return
	}
	l.lastSweep = now
	var over []sessionid.ID
	l.mu.RLock() // requests can continue meanwhile
	for id, until := range l.ended {
		if until < now.Unix() {
			over = append(over, id)
		}
	}
	l.mu.RUnlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range over {
		if l.ended[id] < now.Unix() {
			delete(l.ended, id)
		}
	}
	for user, end := range l.users {
		if end.until < now.Unix() {
			delete(l.users, user)
		}
	}
}

// recordEpoch is the kind of the records that contain a user's revocation epoch. The key is the user ID.
const recordEpoch = "epoch"

type epochNote struct {
	N int64 `json:"n"`
}

// EndSession revokes one session. It continues if the request is canceled.
func (l *List) EndSession(ctx context.Context, id sessionid.ID) error {
	return l.add(ctx, entry{id: id, until: l.expiry()})
}

// DataChanged notifies the other processes that their copies of a user's data are outdated. lasts is the maximum
// lifetime of a copy.
func (l *List) DataChanged(ctx context.Context, userID string, lasts time.Duration) error {
	return l.add(ctx, entry{user: UserKey(userID), dataChanged: true, until: l.Now().Add(lasts + skew).Unix()})
}

// EndUser revokes all sessions of a user. It keeps the session except, if that is not zero. New sessions of the user
// start under the new epoch.
func (l *List) EndUser(ctx context.Context, userID string, except sessionid.ID) error {
	epoch, err := l.nextEpoch(ctx, userID)
	if err != nil {
		return err
	}
	return l.add(ctx, entry{user: UserKey(userID), epoch: epoch, except: except, until: l.expiry()})
}

// Epoch returns the epoch for a new session of a user.
func (l *List) Epoch(ctx context.Context, userID string) (int64, error) {
	_, note, err := l.epochNote(ctx, userID)
	if err != nil && !errors.Is(err, recordstore.ErrNotFound) {
		return 0, err
	}
	return max(note.N, l.known(userID)), nil
}

// known returns the highest epoch of a user that this process has learned.
func (l *List) known(userID string) int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.users[UserKey(userID)].epoch
}

func (l *List) epochNote(ctx context.Context, userID string) (*recordstore.Record, epochNote, error) {
	var note epochNote
	record, err := l.record(ctx, recordEpoch, epochKey(userID), &note)
	return record, note, err
}

func epochKey(userID string) string {
	if recordstore.IsName(recordEpoch, userID) {
		return userID
	}
	return sessionid.Of(userID).String()
}

// nextEpoch increases a user's epoch and returns it. The epoch is a counter and not a time, so that it distinguishes
// sessions that start in the same second as the revocation. The counter starts at the current Unix time, so that it
// still increases if the record was lost.
func (l *List) nextEpoch(ctx context.Context, userID string) (int64, error) {
	owner := userID
	for {
		record, note, err := l.epochNote(ctx, userID)
		absent := errors.Is(err, recordstore.ErrNotFound)
		if err != nil && !absent {
			return 0, err
		}
		note.N = max(note.N+1, l.known(userID)+1, l.Now().Unix())
		value, err := json.Marshal(note)
		if err != nil {
			return 0, err
		}
		if absent {
			record = &recordstore.Record{Kind: recordEpoch, Key: epochKey(userID), UserID: owner, Value: value}
			err = l.Records.CreateRecord(ctx, record)
			if errors.Is(err, recordstore.ErrNotFound) && owner != "" { // the user is not in the store
				owner, err = "", recordstore.ErrConflict
			}
		} else {
			record.Value = value
			err = l.Records.UpdateRecord(ctx, record)
		}
		switch {
		case err == nil:
			return note.N, nil
		case !errors.Is(err, recordstore.ErrConflict) && !errors.Is(err, recordstore.ErrNotFound):
			return 0, err
		case ctx.Err() != nil:
			return 0, ctx.Err()
		}
	}
}
