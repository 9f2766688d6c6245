package core

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/latchkey-go/latchkey/core/store"
)

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
