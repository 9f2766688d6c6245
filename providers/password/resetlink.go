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

// asked is the record of a link to choose a new password. Its key is the digest of the token, its owner the user.
type asked struct {
	// Made is when the link was sent.
	Made time.Time `json:"made,omitzero"`
	// Was says which password the person had, and Email which address, when the link was made. With another it is void.
	Was   string `json:"was"`
	Email string `json:"email"`
}

// opened is what a link is for that somebody opened: its record, the user, and the password that they have.
type opened struct {
	record *store.Record
	user   *core.User
	old    *stored
}

// resetLinks are the links to choose a new password.
type resetLinks struct {
	*links
	passwords *passwords
	users     core.Store
	letters   *letters
	life      time.Duration
}

// newToken makes the token of a link, before anything is known about who gets it.
func (l *resetLinks) newToken() (string, error) { return l.host.NewToken() }

// digest names the link of a token.
func (l *resetLinks) digest(token string) string { return l.host.Digest(kindReset, token) }

// resetEmail is an email with a link to choose a new password.
type resetEmail struct {
	*resetLinks
	token  string
	letter core.Letter // without recipient and expiry
	record *store.Record
	// once sends no email if one with a link that still works was sent within repeatAfter.
	once bool
}

// repeatAfter is how soon after an email with a link another one is sent. A request before that changes nothing: the
// link that was sent works, and an attacker cannot flood the mailbox.
const repeatAfter = 5 * time.Minute

// pending reports whether a user has just been sent a link that still works, other than the one of key.
func (l *resetLinks) pending(ctx context.Context, userID, key string, now asked) (bool, error) {
	records, err := l.records.UserRecords(ctx, userID, kindReset)
	if err != nil {
		return false, fmt.Errorf("password: list the links: %w", err)
	}
	for _, r := range records {
		var sent asked
		if json.Unmarshal(r.Value, &sent) != nil || r.Key == key || sent.Was != now.Was ||
			sent.Email != now.Email {
			continue
		}
		age := now.Made.Sub(sent.Made)
		if age >= 0 && age < min(repeatAfter, l.life/2) && r.Expires.After(now.Made) {
			return true, nil
		}
	}
	return false, nil
}

// write stores the link and returns the email.
func (e *resetEmail) write(ctx context.Context, user *core.User) (core.Letter, error) {
	old, err := e.passwords.of(ctx, user.ID)
	if err != nil {
		return core.Letter{}, err
	}
	link := asked{Made: e.host.Now(), Was: fingerprint(old), Email: user.Email}
	if e.once {
		switch again, err := e.pending(ctx, user.ID, e.digest(e.token), link); {
		case err != nil:
			return core.Letter{}, err
		case again:
			return core.Letter{}, nil
		}
	}
	e.record, err = e.keep(ctx, kindReset, e.token, user.ID, link, e.life)
	if errors.Is(err, core.ErrConflict) { // an earlier attempt stored it and got no response
		e.record, err = e.first(ctx, kindReset, []string{e.digest(e.token)})
	}
	if err == nil && e.record == nil {
		err = core.ErrNotFound
	}
	if err != nil {
		return core.Letter{}, fmt.Errorf("password: keep the link: %w", err)
	}
	letter := e.letter
	letter.To, letter.Expires = user.Email, e.record.Expires
	return letter, nil
}

// undo deletes the link of an email that was not sent.
func (e *resetEmail) undo(ctx context.Context) {
	if e.record == nil {
		return
	}
	if err := e.use(ctx, e.record); err != nil && !errors.Is(err, core.ErrNotFound) {
		e.host.Logger.WarnContext(ctx, "password: a reset link that was not sent stays until it expires", "error", err)
	}
}

// mail stores a link and sends it now. If that fails the link is deleted.
func (l *resetLinks) mail(ctx context.Context, user *core.User, token string, letter core.Letter) error {
	e := &resetEmail{resetLinks: l, token: token, letter: letter}
	letter, err := e.write(ctx, user)
	if err != nil {
		return err
	}
	if err := l.letters.send(ctx, letter); err != nil {
		e.undo(context.WithoutCancel(ctx))
		return err
	}
	return nil
}

// open finds what a link is for. nil: it is used, has expired, or the password or the address is another one by now.
func (l *resetLinks) open(ctx context.Context, digest string) (*opened, error) {
	record, err := l.first(ctx, kindReset, []string{digest})
	if err != nil || record == nil {
		return nil, err
	}
	var link asked
	if err := json.Unmarshal(record.Value, &link); err != nil {
		return nil, fmt.Errorf("password: a link cannot be read: %w", err)
	}
	user, err := userByID(ctx, l.users, record.UserID)
	if err != nil || user == nil {
		return nil, err
	}
	old, err := l.passwords.of(ctx, user.ID)
	if err != nil || user.Email != link.Email || fingerprint(old) != link.Was {
		return nil, err
	}
	return &opened{record, user, old}, nil
}

// fingerprint names the password that somebody has, and tells nothing of it.
func fingerprint(p *stored) string {
	if p == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(strconv.FormatInt(p.version, 10) + " " + string(p.Hash)))
	return hex.EncodeToString(sum[:16])
}
