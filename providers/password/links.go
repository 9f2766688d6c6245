package password

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// maxTokenLength is the maximum length of a token from a request. Longer ones are rejected before hashing.
const maxTokenLength = 128

// links stores the records that emailed tokens refer to. Their keys are digests of the tokens.
type links struct {
	host    *core.PluginHost // for digests, the clock and logging
	records store.RecordStore
}

// keep stores the record of a token for a limited time. userID may be empty.
func (l *links) keep(
	ctx context.Context, kind, token, userID string, value any, ttl time.Duration,
) (*store.Record, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	record := &store.Record{
		Kind: kind, Key: l.host.Digest(kind, token), UserID: userID, Value: encoded, Expires: l.host.Now().Add(ttl),
	}
	return record, l.records.CreateRecord(ctx, record)
}

// keys returns the digests of a token under all secrets, or nil if the token cannot be valid.
func (l *links) keys(kind, token string) []string {
	if token == "" || len(token) > maxTokenLength {
		return nil
	}
	return l.host.Digests(kind, token)
}

// first returns the first unexpired record with one of these keys, or nil.
func (l *links) first(ctx context.Context, kind string, keys []string) (*store.Record, error) {
	record, err := l.host.FindRecord(ctx, l.records, kind, keys...)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("password: %w", err)
	}
	return record, nil
}

// use deletes a record. It returns core.ErrNotFound if another request has used it.
func (l *links) use(ctx context.Context, record *store.Record) error {
	_, err := l.records.DeleteRecord(ctx, record.Kind, record.Key)
	return err
}

// restore writes a used record back after a failure.
func (l *links) restore(ctx context.Context, record *store.Record) {
	again := *record
	again.Version = 0
	if err := l.records.CreateRecord(context.WithoutCancel(ctx), &again); err != nil {
		l.host.Logger.WarnContext(ctx, "password: could not restore a link after a failure", "kind", record.Kind,
			"error", err)
	}
}
