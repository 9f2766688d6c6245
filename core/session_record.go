package core

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/once"
	"github.com/latchkey-go/latchkey/core/store"
)

// recordSession is the kind of the records of sessions; the key is the ID of the session.
const recordSession = "session"

const (
	// seenEvery is how often the last use of a session is written.
	seenEvery = time.Hour
	// seenTime bounds that write, seenAtOnce how many of them are under way in a process: beyond that a use is not noted.
	seenTime   = 5 * time.Second
	seenAtOnce = 8
	// maxSeen is how many sessions a process remembers as noted: of more, some are noted more often.
	maxSeen = 1 << 16
)

// sessionRecords keeps a record of each session, for people who look at where they are signed in. It is no part of the
// session: where it fails or is lost, the session goes on. nil: none are kept.
type sessionRecords struct {
	records store.RecordStore
	now     func() time.Time
	log     *reporter
	noted   once.Memory[string, struct{}]
	slots   chan struct{}
}

func newSessionRecords(records store.RecordStore, now func() time.Time, log *reporter) *sessionRecords {
	if records == nil {
		return nil
	}
	r := &sessionRecords{records: records, now: now, log: log, slots: make(chan struct{}, seenAtOnce)}
	r.noted.Now, r.noted.Max = now, maxSeen
	return r
}

// sessionNote is what the record of a session holds. Times are in Unix seconds.
type sessionNote struct {
	Made     int64    `json:"made"`
	Seen     int64    `json:"seen"`
	Ends     int64    `json:"ends"`
	Agent    string   `json:"agent,omitempty"`
	Peer     string   `json:"peer,omitempty"`
	Methods  []Method `json:"methods,omitempty"`
	Provider string   `json:"provider,omitempty"`
	Epoch    int64    `json:"ep,omitempty"`
}

// note is what the record of a session holds; zero: there is none, or it cannot be read, which is logged.
func (r *sessionRecords) note(ctx context.Context, id string) (note sessionNote) {
	if r == nil || id == "" {
		return note
	}
	err := guard("Store.Record", func() error {
		record, err := present(r.records.Record(ctx, recordSession, id))
		if err != nil {
			return err
		}
		return json.Unmarshal(record.Value, &note)
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		r.log.failure(ctx, errorf(ErrStore, "read the record of a session that goes on: %w", err))
	}
	return note
}

// begun keeps a record of a session that begins.
func (r *sessionRecords) begun(
	ctx context.Context, v *arrival, id *identity, who member, publicID string, note sessionNote,
) {
	note.Methods, note.Provider = id.proofs(), id.account.Provider
	r.add(ctx, v, publicID, who.user.ID, note)
}

// add notes a session that begins, or one that goes on under another ID, of which when and where it began are known. A
// failure is logged: the visitor is signed in all the same.
func (r *sessionRecords) add(ctx context.Context, v *arrival, id, userID string, note sessionNote) {
	if r == nil || id == "" {
		return
	}
	now := r.now()
	if note.Seen = now.Unix(); note.Made == 0 {
		note.Made, note.Agent = now.Unix(), printable(v.header("User-Agent"))
		if peer, _ := v.peer(v.r); peer.IsValid() {
			note.Peer = peer.String()
		}
	}
	record := &store.Record{Kind: recordSession, Key: id, UserID: userID, Expires: note.expires()}
	err := guard("Store.CreateRecord", func() (err error) {
		if record.Value, err = json.Marshal(note); err != nil {
			return err
		}
		return r.records.CreateRecord(ctx, record)
	})
	r.noted.First(id, now.Add(seenEvery))
	if err != nil && !errors.Is(err, ErrNotFound) { // ErrNotFound: a user whom the application alone knows
		v.log.failure(ctx, errorf(ErrStore, "note a session that began: %w", err), v.attrs()...)
	}
}

// expires is when the record of a session may go: the session may have been used, and so extended, for as long as a use
// goes without being noted.
func (n *sessionNote) expires() time.Time { return time.Unix(n.Ends, 0).Add(2 * seenEvery) }

// seen notes that a session is used, once an hour and beside the request.
func (r *sessionRecords) seen(ctx context.Context, id string, ends time.Time) {
	if r == nil || id == "" {
		return
	}
	if _, noted := r.noted.Get(id); noted {
		return
	}
	select {
	case r.slots <- struct{}{}:
	default:
		return
	}
	now := r.now()
	if !r.noted.First(id, now.Add(seenEvery)) {
		<-r.slots
		return
	}
	go func() {
		defer func() { <-r.slots }()
		ctx, end := context.WithTimeout(context.WithoutCancel(ctx), seenTime)
		defer end()
		err := guard("Store.UpdateRecord", func() error { return r.touch(ctx, id, now, ends) })
		if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrConflict) {
			r.log.failure(ctx, errorf(ErrStore, "note that a session is used: %w", err))
		}
	}()
}

// touch writes the last use, unless another process has in this hour.
func (r *sessionRecords) touch(ctx context.Context, id string, now, ends time.Time) error {
	record, err := r.records.Record(ctx, recordSession, id)
	if err != nil {
		return err
	}
	var note sessionNote
	if err := json.Unmarshal(record.Value, &note); err != nil {
		return err
	}
	if now.Sub(time.Unix(note.Seen, 0)) < seenEvery {
		return nil
	}
	note.Seen, note.Ends = now.Unix(), ends.Unix()
	if record.Value, err = json.Marshal(note); err != nil {
		return err
	}
	record.Expires = note.expires()
	return r.records.UpdateRecord(ctx, record)
}

// remove removes the record of a session that has ended, and returns whose it was, as far as that is known.
func (r *sessionRecords) remove(ctx context.Context, id string) (userID string) {
	if r == nil || id == "" {
		return ""
	}
	record, err := guarded("Store.DeleteRecord", func() (*store.Record, error) {
		return r.records.DeleteRecord(ctx, recordSession, id)
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		r.log.failure(ctx, errorf(ErrStore, "remove the record of a session that has ended: %w", err))
	}
	if record == nil {
		return ""
	}
	return record.UserID
}

// ofUser returns the notes of a user's sessions by ID.
func (r *sessionRecords) ofUser(ctx context.Context, userID string) (map[string]sessionNote, error) {
	if r == nil {
		return nil, nil
	}
	list, err := guarded("Store.UserRecords", func() ([]*store.Record, error) {
		return r.records.UserRecords(ctx, userID, recordSession)
	})
	notes := make(map[string]sessionNote, len(list))
	for _, record := range list {
		var note sessionNote
		if json.Unmarshal(record.Value, &note) == nil {
			notes[record.Key] = note
		}
	}
	return notes, err
}

// removeAll removes the records of a user's sessions, but for one where except is not empty.
func (r *sessionRecords) removeAll(ctx context.Context, userID, except string) error {
	if r == nil {
		return nil
	}
	if except == "" {
		_, err := guarded("Store.DeleteUserRecords", func() (int, error) {
			return r.records.DeleteUserRecords(ctx, userID, recordSession)
		})
		return err
	}
	notes, err := r.ofUser(ctx, userID)
	for id := range notes {
		if id != except {
			r.remove(ctx, id)
		}
	}
	return err
}

// info is a session as its user sees it.
func (n *sessionNote) info(id string) SessionInfo {
	info := SessionInfo{
		ID: id, Made: time.Unix(n.Made, 0), Seen: time.Unix(n.Seen, 0), Expires: time.Unix(n.Ends, 0),
		Agent: n.Agent, Methods: slices.Clone(n.Methods), Provider: n.Provider,
	}
	info.Peer, _ = netip.ParsePrefix(n.Peer)
	return info
}

// SessionInfo is one session of a user, as the user may see it: "signed in on three devices". What is not known is
// zero: of a session that Auth.js began, or that began before a record of it was kept, ID and Expires are known.
type SessionInfo struct {
	// ID names the session in [EndOptions] and is that of [Session]. It is no secret.
	ID string
	// Current is true for the session of the request whose context was given.
	Current bool
	// Made is when it began, Seen when it was last used, within an hour.
	Made, Seen time.Time
	// Agent is the User-Agent with which it began: at most 256 printable ASCII characters, the others escaped. It is the
	// visitor's word.
	Agent string
	// Peer is the network from which it began, as [LimitParams] has it.
	Peer netip.Prefix
	// Methods are how the user proved who they are, Provider is the ID of the provider.
	Methods  []Method
	Provider string
	// Expires is when it ends unless it is used before. Under StrategyJWT it is as of Seen.
	Expires time.Time
}
