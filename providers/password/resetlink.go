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
	emails    *emails
	ttl       time.Duration
}

// newToken returns the token of a link, before the user is looked up.
func (l *resetLinks) newToken() (string, error) { return l.host.NewToken() }

// digest returns the key of a link.
func (l *resetLinks) digest(token string) string { return l.host.Digest(kindReset, token) }

// resetEmail is an email with a reset link.
type resetEmail struct {
	*resetLinks
	token string
	email core.Email // without recipient and expiry
	// once sends no email if one with a valid link was sent within repeatAfter.
	once bool
}

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

// write stores the link and returns the email.
func (e *resetEmail) write(ctx context.Context, user *core.User) (core.Email, error) {
	old, err := e.passwords.load(ctx, user.ID)
	if err != nil {
		return core.Email{}, err
	}
	link := resetRecord{Made: e.host.Now(), Was: fingerprint(old), Email: user.Email}
	if e.once {
		switch again, err := e.recentlySent(ctx, user.ID, e.digest(e.token), link); {
		case err != nil:
			return core.Email{}, err
		case again:
			return core.Email{}, nil
		}
	}
	record, err := e.keep(ctx, kindReset, e.token, user.ID, link, e.ttl)
	if errors.Is(err, core.ErrConflict) { // an earlier attempt stored it
		record, err = e.first(ctx, kindReset, []string{e.digest(e.token)})
	}
	if err == nil && record == nil {
		err = core.ErrNotFound
	}
	if err != nil {
		return core.Email{}, fmt.Errorf("password: store the link: %w", err)
	}
	email := e.email
	email.To, email.Expires = user.Email, record.Expires
	return email, nil
}

// undo deletes the link of an email that could not be sent.
func (e *resetEmail) undo(ctx context.Context) {
	_, err := e.records.DeleteRecord(ctx, kindReset, e.digest(e.token))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		e.host.Logger.WarnContext(ctx, "password: could not delete a reset link that was not sent", "error", err)
	}
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
