package secondfactor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// state is the value of a record of kind "factors". Its key is the user ID. All second factors of a user and the
// count of wrong codes are in one record, so that a single compare-and-set decides between concurrent requests: a
// time step is used once, no attempt is uncounted, and a factor is either enrolled or removed.
type state struct {
	// Version is random, and changes with each change of the factors. Trusted browsers are bound to it.
	Version string `json:"version,omitempty"`
	Apps    []app  `json:"apps,omitempty"`
	// Passkeys reports that the user's passkeys are a second factor.
	Passkeys bool `json:"passkeys,omitempty"`
	// Codes identifies the valid set of recovery codes. It is empty if there is none.
	Codes string `json:"codes,omitempty"`
	// Imported reports that the codes of the set are those of another system.
	Imported bool `json:"imported,omitempty"`
	// Saved reports that the user has confirmed that the recovery codes are saved.
	Saved bool `json:"saved,omitempty"`
	// Due is the end of the grace period for enrollment, in Unix seconds. Zero means that none has started.
	Due   int64 `json:"due,omitempty"`
	Tries []try `json:"tries,omitempty"`
}

// app is an authenticator app.
type app struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Sealed is the encrypted sealedKey. Key identifies the secret that encrypted it.
	Sealed string `json:"sealed"`
	Key    string `json:"key"`
	// Step is the last used time step. It and all earlier steps are rejected.
	Step int64 `json:"step"`
	// Made and Used are Unix seconds.
	Made int64 `json:"made"`
	Used int64 `json:"used,omitempty"`
}

// sealedKey is the encrypted part of an app. It contains the user, so that an attacker who can write to the store
// cannot give a user the app of another one.
type sealedKey struct {
	User string  `json:"u"`
	Key  totpKey `json:"k"`
}

const (
	kindFactors  = "factors"
	kindRecovery = "recovery"
	kindDevice   = "device" // a password change deletes records of this kind
	// maxApps is the maximum number of authenticator apps of a user. Each makes a guess more likely to be right, so an
	// attempt counts once for each app.
	maxApps = 4
	// maxWrites is the maximum number of attempts to write a record while other requests change it.
	maxWrites = 40
)

// enrolled reports whether the user has a second factor.
func (s *state) enrolled() bool { return s != nil && (len(s.Apps) > 0 || s.Passkeys) }

// states reads and writes the records of kind "factors".
type states struct {
	host    *core.PluginHost
	records store.RecordStore
}

// load returns the state of a user. It is empty if there is none.
func (s *states) load(ctx context.Context, userID string) (*state, error) {
	st, _, err := s.read(ctx, userID)
	return st, err
}

func (s *states) read(ctx context.Context, userID string) (*state, *store.Record, error) {
	r, err := s.records.Record(ctx, kindFactors, userID)
	if errors.Is(err, core.ErrNotFound) {
		return &state{}, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("secondfactor: read the factors of a user: %w", err)
	}
	st := new(state)
	if err := json.Unmarshal(r.Value, st); err != nil { // fails closed: the user is not treated as not enrolled
		return nil, nil, errors.New("secondfactor: a record of kind factors is malformed")
	}
	return st, r, nil
}

// errUnchanged is returned by the function passed to update if there is nothing to write.
var errUnchanged = errors.New("unchanged")

// update changes the state of a user by compare-and-set. It calls change again if another request was faster, so
// change must only depend on its argument. An error of change stops it; errUnchanged writes nothing and is no error.
func (s *states) update(ctx context.Context, userID string, change func(*state) error) (*state, error) {
	for n := range maxWrites {
		if n > 0 {
			if err := store.Pause(ctx, min(time.Duration(n)*2, 20)*time.Millisecond); err != nil {
				return nil, fmt.Errorf("secondfactor: %w", err)
			}
		}
		st, r, err := s.read(ctx, userID)
		if err != nil {
			return nil, err
		}
		if err := change(st); err != nil {
			if errors.Is(err, errUnchanged) {
				return st, nil
			}
			return nil, err
		}
		err = s.write(ctx, userID, st, r)
		switch {
		case err == nil:
			return st, nil
		case !errors.Is(err, core.ErrConflict) && !errors.Is(err, core.ErrNotFound):
			return nil, fmt.Errorf("secondfactor: write the factors of a user: %w", err)
		}
	}
	return nil, &core.Problem{
		Status: http.StatusServiceUnavailable, Code: codeBusy, Text: textBusy, RetryAfter: time.Second,
		Cause: errors.New("secondfactor: too many concurrent changes of one user's factors"),
	}
}

func (s *states) write(ctx context.Context, userID string, st *state, r *store.Record) error {
	value, err := json.Marshal(st)
	if err != nil {
		return err
	}
	if r != nil {
		r.Value = value
		return s.records.UpdateRecord(ctx, r)
	}
	return s.create(ctx, &store.Record{Kind: kindFactors, Key: userID, UserID: userID, Value: value})
}

// create stores a record of a user. A user who exists only in the application gets a record without an owner.
func (s *states) create(ctx context.Context, r *store.Record) error {
	err := s.records.CreateRecord(ctx, r)
	if errors.Is(err, core.ErrNotFound) && r.UserID != "" {
		r.UserID = ""
		err = s.records.CreateRecord(ctx, r)
	}
	return err
}

// changed gives the state a new version, which ends the trust in all browsers.
func (s *states) changed(st *state) error {
	token, err := s.host.NewToken()
	st.Version = token
	return err
}

const sealPurpose = "second factor totp"

// seal encrypts the key of an app with the newest secret.
func (s *states) seal(a *app, userID string, k *totpKey) (err error) {
	a.Key = s.keyID()
	a.Sealed, err = s.host.Encrypt(sealPurpose, sealedKey{userID, *k}, time.Time{})
	return err
}

// keyID identifies the newest secret of the configuration.
func (s *states) keyID() string { return s.host.Digest(sealPurpose, "key")[:8] }

// open decrypts the key of an app.
func (s *states) open(a *app, userID string) (*totpKey, error) {
	var k sealedKey
	if err := s.host.Decrypt(sealPurpose, a.Sealed, &k); err != nil {
		return nil, fmt.Errorf("secondfactor: decrypt an authenticator app; is its secret still in Config.Secrets? %w", err)
	}
	if k.User != userID {
		return nil, errors.New("secondfactor: an authenticator app belongs to another user")
	}
	return &k.Key, nil
}

// find returns the index of an app, or -1.
func (s *state) find(id string) int {
	return slices.IndexFunc(s.Apps, func(a app) bool { return a.ID == id })
}
