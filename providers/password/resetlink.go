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

// mail keeps a link and mails it. A letter that cannot be sent leaves none behind.
func (l *resetLinks) mail(ctx context.Context, user *core.User, token string, letter core.Letter) error {
	old, err := l.passwords.of(ctx, user.ID)
	if err != nil {
		return err
	}
	link := asked{Was: fingerprint(old), Email: user.Email}
	record, err := l.keep(ctx, kindReset, token, user.ID, link, l.life)
	if err != nil {
		return fmt.Errorf("password: keep the link: %w", err)
	}
	letter.To, letter.Expires = user.Email, record.Expires
	if err := l.letters.send(ctx, letter); err != nil {
		return errors.Join(err, l.use(context.WithoutCancel(ctx), record))
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
