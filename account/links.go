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

// maxToken is longer than any token of ours: what is longer is looked for nowhere.
const maxToken = 64

// links are the records that the tokens of letters lead to.
type links struct {
	host    *core.Host // for the digests, the clock and the log
	records store.RecordStore
}

// remember keeps what a link is about.
func (l *links) remember(ctx context.Context, kind, token, userID string, ends time.Time, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("account: link of kind %s: %w", kind, err)
	}
	err = l.records.CreateRecord(ctx, &store.Record{
		Kind: kind, Key: l.host.Digest("account "+kind, token), UserID: userID, Value: value, Expires: ends,
	})
	if err != nil {
		return fmt.Errorf("account: keep a link of kind %s: %w", kind, err)
	}
	return nil
}

// withdraw removes a link whose letter did not go out, so that it is not counted among those that are under way. What
// stays behind an error is logged and expires: nobody knows its token.
func (l *links) withdraw(ctx context.Context, kind, token string) {
	_, err := l.records.DeleteRecord(context.WithoutCancel(ctx), kind, l.host.Digest("account "+kind, token))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		l.host.Logger.WarnContext(ctx, "account: a link that was not sent stays until it expires", "kind", kind,
			"error", err)
	}
}

// recall reads what a link is about into v, a pointer. [core.ErrNotFound]: there is no such link, or it has expired.
func (l *links) recall(ctx context.Context, kind, token string, v any) (*store.Record, error) {
	if token == "" || len(token) > maxToken {
		return nil, core.ErrNotFound
	}
	for _, key := range l.host.Digests("account "+kind, token) {
		r, err := l.records.Record(ctx, kind, key)
		switch {
		case errors.Is(err, core.ErrNotFound):
			continue
		case err != nil:
			return nil, fmt.Errorf("account: look a link of kind %s up: %w", kind, err)
		case !r.Expires.After(l.host.Now()) || json.Unmarshal(r.Value, v) != nil:
			return nil, core.ErrNotFound
		}
		return r, nil
	}
	return nil, core.ErrNotFound
}

// waiting is how many links of a kind a user has that work still.
func (l *links) waiting(ctx context.Context, userID, kind string) (n int, err error) {
	records, err := l.records.UserRecords(ctx, userID, kind)
	if err != nil {
		return 0, fmt.Errorf("account: list the links of kind %s: %w", kind, err)
	}
	for _, r := range records {
		if r.Expires.After(l.host.Now()) {
			n++
		}
	}
	return n, nil
}

// forget removes the links that an address has been sent, which is no longer the user's or is again: those that
// change it, and those that choose a new password. What stays behind an error is logged and expires.
func (l *links) forget(ctx context.Context, userID string) {
	for _, kind := range []string{kindChange, kindReset} {
		if _, err := l.records.DeleteUserRecords(ctx, userID, kind); err != nil {
			l.host.Logger.ErrorContext(ctx, "account: links to an old address stay until they expire",
				"kind", kind, "user_id", userID, "error", err)
		}
	}
}
