package password

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// service is the provider in one Auth.
type service struct {
	*Provider
	o       *Options
	h       *core.Host
	records store.RecordStore
	users   core.Store
}

// The kinds of records.
const (
	kindPassword   = "password"
	kindSignUp     = "signup"
	kindReset      = "reset"
	kindInvitation = "invite"
	kindDevice     = "device"
)

// secret is the record of a password. Its key is the user's ID.
type secret struct {
	Hash string    `json:"hash"`
	Set  time.Time `json:"set"`
	// Unproved is true where the password was set before anybody had proved the user's address: it may be a stranger's,
	// and ends when somebody proves the address in another way than with it.
	Unproved bool `json:"unproved,omitempty"`
}

// stored is a password's record with its version.
type stored struct {
	secret
	version int64
}

// password reads the password of a user; nil: they have none. For nobody, the empty ID, it asks the store all the same,
// so that it has as much to do.
func (s *service) password(ctx context.Context, userID string) (*stored, error) {
	key := userID
	if key == "" {
		key = "-"
	}
	record, err := s.records.Record(ctx, kindPassword, key)
	switch {
	case errors.Is(err, core.ErrNotFound), err == nil && record.UserID != userID:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("password: read the password: %w", err)
	}
	out := &stored{version: record.Version}
	if err := json.Unmarshal(record.Value, &out.secret); err != nil {
		return nil, fmt.Errorf("password: the record of user %q cannot be read: %w", userID, err)
	}
	return out, nil
}

// passwordOf is the password that somebody may sign in with, nil for nobody.
func (s *service) passwordOf(ctx context.Context, user *core.User) (*stored, error) {
	if user == nil {
		return s.password(ctx, "")
	}
	old, err := s.password(ctx, user.ID)
	if old != nil && old.Unproved && !user.EmailVerified.IsZero() {
		return nil, err
	}
	return old, err
}

// setFor is the secret of a password that is set now.
func (s *service) setFor(hash string, unproved bool) secret {
	return secret{Hash: hash, Set: s.h.Now().UTC().Truncate(time.Second), Unproved: unproved}
}

// set writes the password of a user in place of old, nil where they had none. core.ErrConflict: it has changed since it
// was read.
func (s *service) set(ctx context.Context, records store.RecordStore, userID string, p secret, old *stored) error {
	value, err := json.Marshal(p)
	if err != nil {
		return err
	}
	record := &store.Record{Kind: kindPassword, Key: userID, UserID: userID, Value: value}
	if old == nil {
		return records.CreateRecord(ctx, record)
	}
	record.Version = old.version
	err = records.UpdateRecord(ctx, record)
	if errors.Is(err, core.ErrNotFound) {
		return core.ErrConflict
	}
	return err
}

// hash makes the hash of a new password, when there is a slot for it.
func (s *service) hash(ctx context.Context, password string) (hash string, err error) {
	busy := s.hashing.do(ctx, func() { hash, err = s.o.Hash.hash(s.h.Rand, []byte(password)) })
	return hash, errors.Join(busy, err)
}

// matches reports whether a password is the stored one, and a hash to store in its place where that was made with other
// costs or by another system. Without a stored one it computes as much, for nothing: the time must not tell.
func (s *service) matches(ctx context.Context, password string, old *stored) (ok bool, better string, err error) {
	busy := s.hashing.do(ctx, func() { ok, better, err = s.compute(password, old) })
	if busy != nil {
		return false, "", busy
	}
	return ok, better, err
}

func (s *service) compute(password string, old *stored) (ok bool, better string, err error) {
	if old == nil {
		s.computeForNothing(password)
		return false, "", nil
	}
	current := false
	if e, bad := parse(old.Hash); bad == nil {
		if err = e.affordable(s.o.Hash); err == nil {
			ok, current = e.matches([]byte(password)), e.params == s.o.Hash
		}
	} else if verifier := s.verifier(old.Hash); verifier != nil {
		ok, err = verifier.Verify(old.Hash, []byte(password))
	} else {
		err = errors.New("password: the stored hash is of a format that nobody knows: add its Verifier to Options.Import")
	}
	if err != nil {
		s.computeForNothing(password)
		return false, "", err
	}
	if !ok || current {
		return ok, "", nil
	}
	better, err = s.o.Hash.hash(s.h.Rand, []byte(password))
	return true, better, err
}

// computeForNothing takes the time of a comparison.
func (s *service) computeForNothing(password string) {
	nobody := encoded{params: s.o.Hash, salt: make([]byte, saltLength), key: make([]byte, keyLength)}
	nobody.matches([]byte(password))
}

// verifier is the first that knows a hash.
func (s *service) verifier(encoded string) Verifier {
	for _, v := range s.o.Import {
		if v.Knows(encoded) {
			return v
		}
	}
	return nil
}

// userByEmail finds a user, nil where there is none.
func (s *service) userByEmail(ctx context.Context, address string) (*core.User, error) {
	user, err := s.users.UserByEmail(ctx, address)
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("password: find the user: %w", err)
	}
	return user, nil
}

// user finds a user by ID, nil where there is none.
func (s *service) user(ctx context.Context, id string) (*core.User, error) {
	user, err := s.users.User(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("password: find the user: %w", err)
	}
	return user, nil
}

// breached asks Options.Breached, a panic of which is an error.
func (s *service) breached(ctx context.Context, password string) (breached bool, err error) {
	defer func() {
		if v := recover(); v != nil { // its value may hold the password
			err = fmt.Errorf("password: Breached panicked with a %T", v)
		}
	}()
	return s.o.Breached(ctx, core.Secret(password))
}

// explained makes a full queue an answer that says when to come back.
func explained(err error) error {
	if !errors.Is(err, errBusy) {
		return err
	}
	return &core.Problem{
		Status: http.StatusServiceUnavailable, Code: codeBusy, RetryAfter: longestWait,
		Detail: textBusy.English, Text: textBusy, Cause: err,
	}
}
