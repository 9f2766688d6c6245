// Package emailcode creates and checks six-digit codes that are sent by email.
//
// A code is valid only in the browser that requested it. That browser has a random key, and a record under the hash of
// the key has a keyed hash of the code. So an attacker who requests codes for an address can guess only their own
// codes. Each code has five tries, which are counted before the comparison. All tries for one address together have a
// budget, which is stored too: it counts across codes, browsers, networks and processes.
package emailcode

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/purposekey"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/recordstore"
)

const (
	// kind is the kind of the records of codes.
	kind = "code"
	// digits is the number of digits of a code.
	digits = 6
	// tries is the number of wrong codes after which a code is no longer accepted.
	tries = 5
	// Life is the lifetime of a code (OWASP ASVS 5.0 section 6.5.5).
	Life = 10 * time.Minute
	// writes is the maximum number of attempts to write a record that concurrent requests change.
	writes = 20
)

// The refusals of Check. It also returns *WrongError and *TooManyError.
var (
	// ErrExpired says that this browser has no such code: it was used, has expired, or has no tries left.
	ErrExpired = errors.New("no such code in this browser: it was used, has expired, or has no tries left")
	// ErrBusy says that too many concurrent requests use one address.
	ErrBusy = errors.New("too many concurrent tries of codes for one address")
)

// WrongError is the refusal of a wrong code.
type WrongError struct {
	Left   int // remaining tries of the code
	UserID string
}

// Error returns a fixed text.
func (*WrongError) Error() string { return "the code is wrong" }

// TooManyError means that an attempt was refused because its budget is exhausted.
type TooManyError struct {
	Wait    time.Duration // until one more try is possible
	Address string
}

// Error returns a fixed text.
func (*TooManyError) Error() string { return "too many wrong codes for one address" }

// Codes creates and checks codes. It is safe for concurrent use.
type Codes struct {
	Records recordstore.Store
	// Secrets are the keys of the hashes, the current one first.
	Secrets []string
	Now     func() time.Time
	Rand    io.Reader
}

// Code is a code that was sent, without its digits.
type Code struct {
	// Purpose is the purpose of the code, such as a sign-in. A code for one purpose is not accepted for another.
	Purpose string `json:"p"`
	// Address is the recipient of the code, and UserID the user, if there is one.
	Address string `json:"a"`
	UserID  string `json:"u,omitempty"`
	// Data is returned to the caller that redeems the code, such as the digest of the email's link.
	Data string `json:"d,omitempty"`
	// Hash is the keyed hash of the code, and Tries the number of tries so far.
	Hash  string `json:"h"`
	Tries int    `json:"n,omitempty"`

	key     string // the key of the browser
	version int64
	expires time.Time
}

// recordKey returns the key of a record. It is a hash, so that an attacker who reads the store cannot forge the key of
// a browser.
func (c *Code) recordKey() string {
	sum := sha256.Sum256([]byte("code\x00" + c.Purpose + "\x00" + c.key))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (s *Codes) digest(c *Code, secret, code string) string {
	return purposekey.Digest(secret, kind, c.key+"\x00"+c.Purpose+"\x00"+c.Address+"\x00"+code)
}

// Issue stores a new code and returns its digits, and the key for the browser. old is the browser's previous key for
// the same purpose, or empty: its code is no longer accepted.
func (s *Codes) Issue(ctx context.Context, old string, c Code) (text, key string, expires time.Time, err error) {
	if old != "" {
		if err := s.Delete(ctx, c.Purpose, old); err != nil {
			return "", "", expires, err
		}
	}
	if c.key, err = random.Text(s.Rand); err != nil {
		return "", "", expires, err
	}
	if text, err = s.newText(); err != nil {
		return "", "", expires, err
	}
	c.Hash, c.Tries = s.digest(&c, s.Secrets[0], text), 0
	value, err := json.Marshal(c)
	if err != nil {
		return "", "", expires, err
	}
	expires = s.Now().Add(Life)
	r := &recordstore.Record{Kind: kind, Key: c.recordKey(), UserID: c.UserID, Value: value, Expires: expires}
	if err := s.Records.CreateRecord(ctx, r); err != nil {
		return "", "", expires, fmt.Errorf("store a code: %w", err)
	}
	return text, c.key, expires, nil
}

// newText returns random digits, each with the same probability.
func (s *Codes) newText() (string, error) {
	const codes = 1_000_000
	for {
		b, err := random.Bytes(s.Rand, 4)
		if err != nil {
			return "", err
		}
		if n := binary.BigEndian.Uint32(b); n < 1<<32/codes*codes {
			return fmt.Sprintf("%0*d", digits, n%codes), nil
		}
	}
}

// Delete deletes a code. It returns nil if there is none.
func (s *Codes) Delete(ctx context.Context, purpose, key string) error {
	_, err := s.Records.DeleteRecord(ctx, kind, (&Code{Purpose: purpose, key: key}).recordKey())
	if err != nil && !errors.Is(err, recordstore.ErrNotFound) {
		return fmt.Errorf("delete a code: %w", err)
	}
	return nil
}

// Find returns the code of a browser. It returns ErrExpired if there is none or it has expired. It changes nothing.
func (s *Codes) Find(ctx context.Context, purpose, key string) (*Code, error) {
	if key == "" {
		return nil, ErrExpired
	}
	c := &Code{Purpose: purpose, key: key}
	stored, err := s.Records.Record(ctx, kind, c.recordKey())
	switch {
	case errors.Is(err, recordstore.ErrNotFound):
		return nil, ErrExpired
	case err != nil:
		return nil, fmt.Errorf("read a code: %w", err)
	case !stored.Expires.After(s.Now()):
		return nil, ErrExpired
	}
	found := &Code{}
	if err := json.Unmarshal(stored.Value, found); err != nil || found.Purpose != purpose {
		return nil, errors.New("a stored code is malformed")
	}
	found.key, found.version, found.expires = key, stored.Version, stored.Expires
	return found, nil
}

// Check compares typed digits with the code of a browser, and consumes the code if they are right. Of concurrent
// requests with the right digits one succeeds.
func (s *Codes) Check(ctx context.Context, purpose, key, typed string) (*Code, error) {
	c, err := s.Find(ctx, purpose, key)
	if err != nil {
		return nil, err
	}
	typed = plain(typed)
	if len(typed) != digits { // a slip of the user, which is no help to a guesser
		return nil, c.wrong()
	}
	if err := s.take(ctx, c); err != nil {
		return nil, err
	}
	if c, err = s.count(ctx, c); err != nil {
		return nil, err
	}
	right := false
	for _, secret := range s.Secrets {
		if random.Same(c.Hash, s.digest(c, secret, typed)) {
			right = true
		}
	}
	if !right {
		return nil, c.wrong()
	}
	if err := s.giveBack(ctx, c); err != nil { // before the code is used up, so that it is not lost
		return nil, err
	}
	_, err = s.Records.DeleteRecord(ctx, kind, c.recordKey())
	switch {
	case errors.Is(err, recordstore.ErrNotFound): // another request was faster
		return nil, ErrExpired
	case err != nil:
		return nil, fmt.Errorf("consume a code: %w", err)
	}
	return c, nil
}

// Restore makes a code valid again that Check has consumed, because the caller could not do what the code is for.
func (s *Codes) Restore(ctx context.Context, c *Code) error {
	again := *c
	again.Tries-- // it was right
	value, err := json.Marshal(again)
	if err != nil {
		return err
	}
	return s.Records.CreateRecord(ctx, &recordstore.Record{
		Kind: kind, Key: c.recordKey(), UserID: c.UserID, Value: value, Expires: c.expires,
	})
}

func (c *Code) wrong() error { return &WrongError{tries - c.Tries, c.UserID} }

// plain removes what people and mail programs put between digits.
func plain(typed string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		if r == ' ' || r == '-' || r == '\u00a0' || r == '\t' || r == '\r' || r == '\n' || r == '\u200b' {
			return -1
		}
		return 'x'
	}, typed)
}

// count counts one try of a code before it is compared, so that concurrent requests have no more tries.
func (s *Codes) count(ctx context.Context, c *Code) (*Code, error) {
	for range writes {
		if c.Tries >= tries {
			return nil, ErrExpired
		}
		c.Tries++
		value, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		err = s.Records.UpdateRecord(ctx, &recordstore.Record{
			Kind: kind, Key: c.recordKey(), UserID: c.UserID, Value: value, Expires: c.expires, Version: c.version,
		})
		switch {
		case err == nil:
			return c, nil
		case errors.Is(err, recordstore.ErrConflict):
		case errors.Is(err, recordstore.ErrNotFound):
			return nil, ErrExpired
		default:
			return nil, fmt.Errorf("count a try of a code: %w", err)
		}
		if c, err = s.Find(ctx, c.Purpose, c.key); err != nil {
			return nil, err
		}
	}
	return nil, ErrBusy
}
