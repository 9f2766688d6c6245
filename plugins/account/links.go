package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// maxToken is longer than any token. Longer values are rejected without a lookup.
const maxToken = 64

// links stores the records that the tokens in emailed links refer to.
type links struct {
	host    *core.PluginHost // for digests, the clock and logging
	records store.RecordStore
}

// save stores the record of a link.
func (l *links) save(ctx context.Context, kind, token, userID string, ends time.Time, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("account: link of kind %s: %w", kind, err)
	}
	err = l.records.CreateRecord(ctx, &store.Record{
		Kind: kind, Key: l.key(kind, token), UserID: userID, Value: value, Expires: ends,
	})
	if err != nil {
		return fmt.Errorf("account: store a link of kind %s: %w", kind, err)
	}
	return nil
}

// find decodes the record of a token into v, a pointer. It returns [core.ErrNotFound] if the link does not exist or
// has expired.
func (l *links) find(ctx context.Context, kind, token string, v any) (*store.Record, error) {
	if token == "" || len(token) > maxToken {
		return nil, core.ErrNotFound
	}
	return l.first(ctx, kind, l.host.Digests("account "+kind, token), v)
}

// key returns the key of the record of a token.
func (l *links) key(kind, token string) string { return l.host.Digest("account "+kind, token) }

// first decodes the first record with one of these keys.
func (l *links) first(ctx context.Context, kind string, keys []string, v any) (*store.Record, error) {
	r, err := l.host.FindRecord(ctx, l.records, kind, keys...)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("account: look up a link: %w", err)
	case json.Unmarshal(r.Value, v) != nil:
		return nil, core.ErrNotFound
	}
	return r, nil
}

// forget deletes the email-change and password-reset links that were sent to the user's previous address. If a deletion
// fails, the error is logged and the link stays valid until it expires.
func (l *links) forget(ctx context.Context, userID string) {
	for _, kind := range []string{kindChange, kindReset} {
		if _, err := l.records.DeleteUserRecords(ctx, userID, kind); err != nil {
			l.host.Logger.ErrorContext(ctx, "account: links to an old address stay valid until they expire",
				"kind", kind, "user_id", userID, "error", err)
		}
	}
}
