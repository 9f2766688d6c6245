// Package sessionrecord stores what the list of a user's active sessions shows: when a session started and was last
// used, and how and where the user signed in.
package sessionrecord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/internal/once"
	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// kind is the kind of session records. The key is the session ID.
const kind = "session"

const (
	// seenEvery is the interval between two writes of the last use of a session.
	seenEvery = time.Hour
	// seenTimeout is the timeout of that write. At most maxSeenWrites writes run concurrently in one process. When all are
	// in use, the write is skipped.
	seenTimeout   = 5 * time.Second
	maxSeenWrites = 8
	// maxSeen is the number of sessions that a process remembers as recently written. If there are more, some are written
	// more often than seenEvery.
	maxSeen = 1 << 16
)

// Options configure [New].
type Options struct {
	// Records stores the records.
	Records recordstore.Store
	// Now is the clock.
	Now func() time.Time
	// Failed receives the errors of operations that do not return them.
	Failed func(ctx context.Context, err error)
}

// Records stores a record of each session for the list of active sessions that users see. The session does not depend
// on it: it continues if the record is lost or cannot be written. It is safe for concurrent use. A nil *Records stores
// nothing.
type Records struct {
	Options
	recentlyWritten once.Memory[string, struct{}]
	slots           chan struct{}
}

// New returns Records. They are nil if there is no store for them.
func New(o Options) *Records {
	if o.Records == nil {
		return nil
	}
	r := &Records{Options: o, slots: make(chan struct{}, maxSeenWrites)}
	r.recentlyWritten.Now, r.recentlyWritten.Max = o.Now, maxSeen
	return r
}

// Note is the content of a session record. Times are in Unix seconds.
type Note struct {
	Made     int64    `json:"made"`
	Seen     int64    `json:"seen"`
	Ends     int64    `json:"ends"`
	Agent    string   `json:"agent,omitempty"`
	Peer     string   `json:"peer,omitempty"`
	Methods  []string `json:"methods,omitempty"`
	Provider string   `json:"provider,omitempty"`
	Epoch    int64    `json:"ep,omitempty"`
	Actor    string   `json:"actor,omitempty"` // who impersonates the user
}

// Read returns the content of a session record. It is zero if there is no record, or if the record cannot be read; the
// latter is logged.
func (r *Records) Read(ctx context.Context, id string) (note Note) {
	if r == nil || id == "" {
		return note
	}
	record, err := r.Records.Record(ctx, kind, id)
	if err == nil {
		err = json.Unmarshal(record.Value, &note)
	}
	if err != nil && !errors.Is(err, recordstore.ErrNotFound) {
		r.Failed(ctx, fmt.Errorf("read a session record: %w", err))
	}
	return note
}

// Add creates the record of a new session, or of a session that continues under a new ID. In the second case note has
// the original start. If the user is not in the store, it does nothing.
func (r *Records) Add(ctx context.Context, id, userID string, note Note) error {
	if r == nil || id == "" {
		return nil
	}
	now := r.Now()
	if note.Seen = now.Unix(); note.Made == 0 {
		note.Made = now.Unix()
	}
	value, err := json.Marshal(note)
	if err == nil {
		record := &recordstore.Record{Kind: kind, Key: id, UserID: userID, Value: value, Expires: note.expires()}
		err = r.Records.CreateRecord(ctx, record)
	}
	r.recentlyWritten.First(id, now.Add(seenEvery))
	if errors.Is(err, recordstore.ErrNotFound) {
		return nil
	}
	return err
}

// expires returns when the record can be deleted. The session may have been used and extended without a write for up to
// seenEvery.
func (n *Note) expires() time.Time { return time.Unix(n.Ends, 0).Add(2 * seenEvery) }

// Use stores the last use of a session, at most once an hour and in the background.
func (r *Records) Use(ctx context.Context, id string, ends time.Time) {
	if r == nil || id == "" {
		return
	}
	if _, noted := r.recentlyWritten.Get(id); noted {
		return
	}
	select {
	case r.slots <- struct{}{}:
	default:
		return
	}
	now := r.Now()
	if !r.recentlyWritten.First(id, now.Add(seenEvery)) {
		<-r.slots
		return
	}
	go func() {
		defer func() { <-r.slots }()
		ctx, end := context.WithTimeout(context.WithoutCancel(ctx), seenTimeout)
		defer end()
		err := r.touch(ctx, id, now, ends)
		if err != nil && !errors.Is(err, recordstore.ErrNotFound) && !errors.Is(err, recordstore.ErrConflict) {
			r.Failed(ctx, fmt.Errorf("update the last use in a session record: %w", err))
		}
	}()
}

// touch writes the last use, unless another process has written it within the hour.
func (r *Records) touch(ctx context.Context, id string, now, ends time.Time) error {
	record, err := r.Records.Record(ctx, kind, id)
	if err != nil {
		return err
	}
	var note Note
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
	return r.Records.UpdateRecord(ctx, record)
}

// Remove deletes the record of an ended session. It returns the user of the session, or "" if the user is unknown.
func (r *Records) Remove(ctx context.Context, id string) (userID string) {
	if r == nil || id == "" {
		return ""
	}
	record, err := r.Records.DeleteRecord(ctx, kind, id)
	if err != nil && !errors.Is(err, recordstore.ErrNotFound) {
		r.Failed(ctx, fmt.Errorf("delete the record of an ended session: %w", err))
	}
	if record == nil {
		return ""
	}
	return record.UserID
}

// OfUser returns the records of a user's sessions by session ID.
func (r *Records) OfUser(ctx context.Context, userID string) (map[string]Note, error) {
	if r == nil {
		return nil, nil
	}
	list, err := r.Records.UserRecords(ctx, userID, kind)
	notes := make(map[string]Note, len(list))
	for _, record := range list {
		var note Note
		if json.Unmarshal(record.Value, &note) == nil {
			notes[record.Key] = note
		}
	}
	return notes, err
}

// RemoveAll deletes the records of a user's sessions. It keeps the record of except, if that is not empty.
func (r *Records) RemoveAll(ctx context.Context, userID, except string) error {
	if r == nil {
		return nil
	}
	if except == "" {
		_, err := r.Records.DeleteUserRecords(ctx, userID, kind)
		return err
	}
	notes, err := r.OfUser(ctx, userID)
	for id := range notes {
		if id != except {
			r.Remove(ctx, id)
		}
	}
	return err
}
