package guest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// The kinds of records. The key of both is the guest's ID. A record of kindWork belongs to no user, because it is
// deleted after the guest.
const (
	kindGuest = "guest"
	kindWork  = "guest-work"
)

// phase is the phase of a guest's record. It never returns to active.
type phase string

const (
	active   phase = ""
	upgraded phase = "upgraded" // the user has a sign-in method now
	merging  phase = "merging"  // the guest's data moves to another user
	expired  phase = "expired"  // the guest is being deleted
)

// note is the content of a guest's record, in Unix seconds.
type note struct {
	Made  int64 `json:"made"`
	Phase phase `json:"phase,omitempty"`
	At    int64 `json:"at,omitempty"` // when Phase was set
	// Existing is the user whom the guest is merged into, in the phase merging.
	Existing string `json:"existing,omitempty"`
}

// work is what remains to do after a sign-in of a guest. If Existing is empty, the guest was upgraded, and the sessions
// of the guest must end. Otherwise the guest is merged into the user Existing and deleted.
type work struct {
	Existing string `json:"existing,omitempty"`
	Tries    int    `json:"tries,omitempty"`
	// Next is the time of the next attempt, in Unix seconds. Until then another process may be at work.
	Next int64 `json:"next"`
}

const (
	// upgradedFor is how long the record of an upgraded guest is stored: longer than any request that has started with a
	// session of the guest, and than Revocation.Every.
	upgradedFor = time.Hour
	// mergeTime is the maximum time of a merge within a sign-in. mergeLease is the time until another process tries.
	mergeTime  = 10 * time.Second
	mergeLease = 2 * time.Minute
	// maxMergePause is the maximum time between two attempts of a merge.
	maxMergePause = 6 * time.Hour
)

// mergePause returns the pause after an attempt: at least mergeLease, so that no two processes are at work.
func mergePause(tries int) time.Duration {
	return min(mergeLease<<min(tries, 10), maxMergePause)
}

// find returns the record of a guest. It is nil if the user was never a guest.
func find(ctx context.Context, records store.RecordStore, userID string) (*store.Record, *note, error) {
	if !store.IsRecordName(kindGuest, userID) {
		return nil, nil, nil
	}
	r, err := records.Record(ctx, kindGuest, userID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	n := new(note)
	if err := json.Unmarshal(r.Value, n); err != nil {
		return nil, nil, fmt.Errorf("the record of guest %s is malformed: %w", userID, err)
	}
	return r, n, nil
}

// change sets the phase of a guest's record. It returns store.ErrConflict if another request has changed the record.
func (g *Guests) change(
	ctx context.Context, records store.RecordStore, r *store.Record, n *note, to phase,
) (err error) {
	now := g.host.Now()
	n.Phase, n.At = to, now.Unix()
	if r.Value, err = json.Marshal(n); err != nil {
		return err
	}
	if to == upgraded {
		r.Expires = now.Add(upgradedFor)
	}
	err = records.UpdateRecord(ctx, r)
	if errors.Is(err, store.ErrNotFound) { // deleted in the meantime
		err = store.ErrConflict
	}
	return err
}

// addWork stores what remains to do. Until the lease is over, only this request works on it.
func (g *Guests) addWork(ctx context.Context, records store.RecordStore, guestID string, w work) error {
	w.Next = g.host.Now().Add(mergeLease).Unix()
	value, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return records.CreateRecord(ctx, &store.Record{Kind: kindWork, Key: guestID, Value: value})
}

// done deletes the record of finished work.
func (g *Guests) done(ctx context.Context, guestID string) error {
	_, err := g.host.Records().DeleteRecord(ctx, kindWork, guestID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// recordsOf returns the records of a transaction.
func recordsOf(tx core.Store) (store.RecordStore, error) {
	records, ok := tx.(store.RecordStore)
	if !ok {
		return nil, errors.New("guest: the store's transactions do not support records")
	}
	return records, nil
}
