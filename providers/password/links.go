package password

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
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

// drop deletes the record of a link that is not sent, so that it cannot be used. If that fails, the record expires.
func (l *links) drop(ctx context.Context, kind, key string) {
	_, err := l.records.DeleteRecord(ctx, kind, key)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		l.host.Logger.WarnContext(ctx, "password: could not delete a link that was not sent", "kind", kind, "error", err)
	}
}

// resetRecord is the record of a reset link. Its key is the digest of the token, its owner the user.
type resetRecord struct {
	// Made is the time the link was sent.
	Made time.Time `json:"made,omitzero"`
	// Was is the fingerprint of the password and Email the address at that time. If either changes, the link is void.
	Was   string `json:"was"`
	Email string `json:"email"`
}

// openReset is a valid reset link: its record, the user and the current password.
type openReset struct {
	record *store.Record
	user   *core.User
	old    *stored
}

// resetLinks creates, sends and opens reset links.
type resetLinks struct {
	*links
	passwords *passwords
	users     core.Store
	ttl       time.Duration
}

// digest returns the key of a link.
func (l *resetLinks) digest(token string) string { return l.host.Digest(kindReset, token) }

// recentlySent reports whether the user was recently sent a link that is still valid, other than the link of key.
func (l *resetLinks) recentlySent(ctx context.Context, userID, key string, now resetRecord) (bool, error) {
	records, err := l.records.UserRecords(ctx, userID, kindReset)
	if err != nil {
		return false, fmt.Errorf("password: list the links: %w", err)
	}
	for _, r := range records {
		var sent resetRecord
		if json.Unmarshal(r.Value, &sent) != nil || r.Key == key || sent.Was != now.Was ||
			sent.Email != now.Email {
			continue
		}
		age := now.Made.Sub(sent.Made)
		if age >= 0 && age < min(repeatAfter, l.ttl/2) && r.Expires.After(now.Made) {
			return true, nil
		}
	}
	return false, nil
}

// create stores the link of a token. With once, it returns nil if the user was sent a link within repeatAfter that is
// still valid.
func (l *resetLinks) create(ctx context.Context, user *core.User, token string, once bool) (*store.Record, error) {
	old, err := l.passwords.load(ctx, user.ID)
	if err != nil {
		return nil, err
	}
	link := resetRecord{Made: l.host.Now(), Was: fingerprint(old), Email: user.Email}
	if once {
		if again, err := l.recentlySent(ctx, user.ID, l.digest(token), link); err != nil || again {
			return nil, err
		}
	}
	record, err := l.keep(ctx, kindReset, token, user.ID, link, l.ttl)
	if errors.Is(err, core.ErrConflict) { // an earlier attempt stored it
		record, err = l.first(ctx, kindReset, []string{l.digest(token)})
	}
	if err == nil && record == nil {
		err = core.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("password: store the link: %w", err)
	}
	return record, nil
}

// open returns the reset of a link. It is nil if the link was used or has expired, or if the password or the address
// has changed since.
func (l *resetLinks) open(ctx context.Context, digest string) (*openReset, error) {
	record, err := l.first(ctx, kindReset, []string{digest})
	if err != nil || record == nil {
		return nil, err
	}
	var link resetRecord
	if err := json.Unmarshal(record.Value, &link); err != nil {
		return nil, fmt.Errorf("password: decode a link: %w", err)
	}
	user, err := userByID(ctx, l.users, record.UserID)
	if err != nil || user == nil {
		return nil, err
	}
	old, err := l.passwords.load(ctx, user.ID)
	if err != nil || user.Email != link.Email || fingerprint(old) != link.Was {
		return nil, err
	}
	return &openReset{record, user, old}, nil
}

// fingerprint identifies the current password without revealing it.
func fingerprint(p *stored) string {
	if p == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(strconv.FormatInt(p.version, 10) + " " + string(p.Hash)))
	return hex.EncodeToString(sum[:16])
}
