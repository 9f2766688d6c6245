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

// longestToken bounds what is hashed of a link that somebody made up.
const longestToken = 128

// links are the records that tokens lead to, those of letters above all. Their keys are digests of the tokens.
type links struct {
	host    *core.Host // for the digests, the clock and the log
	records store.RecordStore
}

// in are the same links in the records of a transaction.
func (l *links) in(records store.RecordStore) *links { return &links{l.host, records} }

// keep keeps what a token stands for, for a time. userID is empty for nobody.
func (l *links) keep(
	ctx context.Context, kind, token, userID string, value any, life time.Duration,
) (*store.Record, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	record := &store.Record{
		Kind: kind, Key: l.host.Digest(kind, token), UserID: userID, Value: encoded, Expires: l.host.Now().Add(life),
	}
	return record, l.records.CreateRecord(ctx, record)
}

// keys are the digests of a token by all secrets. None: nobody was given such a token.
func (l *links) keys(kind, token string) []string {
	if token == "" || len(token) > longestToken {
		return nil
	}
	return l.host.Digests(kind, token)
}

// first is the first record of these keys that has not expired; nil: there is none.
func (l *links) first(ctx context.Context, kind string, keys []string) (*store.Record, error) {
	for _, key := range keys {
		record, err := l.records.Record(ctx, kind, key)
		if err == nil && record.Expires.After(l.host.Now()) {
			return record, nil
		}
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return nil, fmt.Errorf("password: find a record of kind %q: %w", kind, err)
		}
	}
	return nil, nil
}

// use uses a record up. core.ErrNotFound: somebody else has.
func (l *links) use(ctx context.Context, record *store.Record) error {
	_, err := l.records.DeleteRecord(ctx, record.Kind, record.Key)
	return err
}

// restore puts back a record that was used up for nothing.
func (l *links) restore(ctx context.Context, record *store.Record) {
	again := *record
	again.Version = 0
	if err := l.records.CreateRecord(context.WithoutCancel(ctx), &again); err != nil {
		l.host.Logger.WarnContext(ctx, "password: a link that was not used does not work any more", "kind", record.Kind,
			"error", err)
	}
}
