package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// passkeyNote is the value of a record of kind "passkey". The record's key is the passkey's public ID.
type passkeyNote struct {
	Name string    `json:"name"`
	Made time.Time `json:"made,omitzero"`
	Used time.Time `json:"used,omitzero"`
}

// seen sets the time a passkey was first seen, once.
func (n *passkeyNote) seen(at time.Time) {
	if n.Made.IsZero() {
		n.Made = at
	}
}

// passkeyNotes stores the names and times of passkeys. Credentials are stored elsewhere.
type passkeyNotes struct {
	records store.RecordStore
	log     *slog.Logger
}

// write updates the note of a passkey. It retries after write conflicts, so that no concurrent update is lost.
func (p *passkeyNotes) write(ctx context.Context, userID, id string, change func(*passkeyNote)) error {
	for range 3 {
		err := p.try(ctx, userID, id, change)
		if !errors.Is(err, core.ErrConflict) && !errors.Is(err, core.ErrNotFound) {
			return err
		}
	}
	return errBusy
}

func (p *passkeyNotes) try(ctx context.Context, userID, id string, change func(*passkeyNote)) error {
	kept, err := p.records.Record(ctx, kindPasskey, id)
	absent := errors.Is(err, core.ErrNotFound)
	if err != nil && !absent {
		return fmt.Errorf("account: read the name of a passkey: %w", err)
	}
	var n passkeyNote
	if absent {
		kept = &store.Record{Kind: kindPasskey, Key: id, UserID: userID}
	} else if err := json.Unmarshal(kept.Value, &n); err != nil {
		n = passkeyNote{} // not written by this version
	}
	change(&n)
	if kept.Value, err = json.Marshal(n); err != nil {
		return fmt.Errorf("account: encode the note of a passkey: %w", err)
	}
	if absent {
		return p.records.CreateRecord(ctx, kept)
	}
	return p.records.UpdateRecord(ctx, kept)
}

// note calls write and only logs a failure.
func (p *passkeyNotes) note(ctx context.Context, userID, id string, change func(*passkeyNote)) {
	if err := p.write(ctx, userID, id, change); err != nil {
		p.log.WarnContext(ctx, "account: could not write the note of a passkey", "error", err)
	}
}
