package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/revocation"
	"github.com/latchkey-go/latchkey/internal/flight"
	"github.com/latchkey-go/latchkey/internal/once"
)

const (
	// claimData is the claim of the session token that contains a copy of the data.
	claimData = "latchkey_data"
	// dataLasts is the default of Data.MaxAge. dataTime is the timeout of a Load.
	dataLasts = 5 * time.Minute
	dataTime  = 10 * time.Second
	// dataTick is the minimum difference between the time of newly loaded data and the last refresh, even if the clock
	// does not advance: the times of copies are in milliseconds.
	dataTick = 2 * time.Millisecond
	// dataWarn is the size in bytes of data in a cookie that causes a warning. dataMax is the maximum size.
	dataWarn = 2 << 10
	dataMax  = 8 << 10
	// maxDataUsers is the number of users whose copies, and whose refresh times, a process remembers.
	maxDataUsers = 1 << 14
)

// dataKeeper loads and caches the session data of an Auth, by user.
type dataKeeper struct {
	source dataSource
	load   func(ctx context.Context, user *User) (json.RawMessage, error)
	public func(json.RawMessage) (json.RawMessage, error) // nil: GET session does not contain it
	maxAge time.Duration

	inCookie bool // StrategyJWT
	now      func() time.Time
	log      *reporter
	revoked  *revocation.List // nil: other processes are not notified
	warned   atomic.Bool

	copies     once.Memory[string, dataCopy]
	outdated   once.Memory[string, time.Time] // user to the time of the last refresh: earlier copies are invalid
	inProgress flight.Group[dataCopy]
}

// dataCopy is a copy of a user's data, with the time when it was loaded in Unix milliseconds. User is the user's
// UserKey: the jwt callback can change the user of a token, and then the copy must not be used for the new user.
type dataCopy struct {
	User  string          `json:"u"`
	At    int64           `json:"at"`
	Value json.RawMessage `json:"v"`
}

// dataSource is implemented by *[SessionData] of any type.
type dataSource interface {
	// attach sets the keeper's functions from the Data, or returns a configuration error.
	attach(k *dataKeeper) error
}

// newDataKeeper returns the keeper of Config.Data. It is nil if Config.Data is not set.
func newDataKeeper(c *Config, log *reporter, faults *ConfigError) *dataKeeper {
	if c.Data == nil {
		return nil
	}
	k := &dataKeeper{now: c.Now, log: log, inCookie: c.Session.Strategy == StrategyJWT}
	if err := c.Data.attach(k); err != nil {
		faults.add(ErrInvalidConfig, "%v", err)
		return nil
	}
	if k.maxAge == 0 {
		k.maxAge = dataLasts
	}
	k.copies.Now, k.outdated.Now = c.Now, c.Now
	k.copies.Max, k.outdated.Max = maxDataUsers, maxDataUsers
	k.inProgress.Timeout = dataTime
	return k
}

// notifyOthers connects the keeper with the revocation log, so that a refresh reaches the other processes. list is nil
// if Session.Revocation is off.
func (k *dataKeeper) notifyOthers(list *revocation.List) {
	if k.revoked = list; list != nil {
		list.OnDataChange(k.invalidate)
	}
}

// loadedData is the data of a session. Under StrategyJWT it has the copy in the token. Under StrategyDatabase it is
// loaded on first use.
type loadedData struct {
	keeper *dataKeeper
	user   User
	copied dataCopy
	failed error
}

// raw returns the data as JSON.
func (d *loadedData) raw(ctx context.Context) (json.RawMessage, error) {
	if d.failed != nil || d.copied.Value != nil {
		return d.copied.Value, d.failed
	}
	copied, err := d.keeper.of(ctx, &d.user, dataCopy{})
	return copied.Value, err
}

// of returns a valid copy: the one in the session, one in memory, or a new one.
func (k *dataKeeper) of(ctx context.Context, user *User, came dataCopy) (dataCopy, error) {
	if k.isValid(user.ID, came) {
		return came, nil
	}
	for range 3 { // a load that started before a refresh returns an invalid copy
		if copied, _ := k.copies.Get(user.ID); k.isValid(user.ID, copied) {
			return copied, nil
		}
		own := *user
		load := func(ctx context.Context) (dataCopy, error) {
			if copied, _ := k.copies.Get(own.ID); k.isValid(own.ID, copied) { // another load has finished in the meantime
				return copied, nil
			}
			return guarded("Data.Load", func() (dataCopy, error) { return k.fetch(ctx, &own) })
		}
		copied, err := k.inProgress.Do(ctx, user.ID, load)
		if err != nil || k.isValid(user.ID, copied) {
			return copied, err
		}
	}
	return dataCopy{}, errors.New("core: Data.Refresh is called faster than Data.Load returns")
}

// isValid reports whether a copy may still be used.
func (k *dataKeeper) isValid(userID string, c dataCopy) bool {
	if c.Value == nil {
		return false
	}
	at := time.UnixMilli(c.At)
	if age := k.now().Sub(at); age >= k.maxAge {
		return false
	}
	old, marked := k.outdated.Get(revocation.UserKey(userID))
	return !marked || at.After(old)
}

// fetch loads the data of a user. The copy has the time of the start of the load.
func (k *dataKeeper) fetch(ctx context.Context, user *User) (dataCopy, error) {
	at := k.now()
	if old, marked := k.outdated.Get(revocation.UserKey(user.ID)); marked && !at.Truncate(time.Millisecond).After(old) {
		at = old.Add(dataTick) // the load started after the refresh, within the same millisecond
	}
	raw, err := k.load(ctx, user)
	switch {
	case err != nil:
		return dataCopy{}, err
	case k.inCookie && len(raw) > dataMax:
		return dataCopy{}, fmt.Errorf("core: Data.Load returned %d bytes of JSON for a session cookie, at most %d fit: "+
			"return an ID instead, or use StrategyDatabase", len(raw), dataMax)
	case k.inCookie && len(raw) >= dataWarn && k.warned.CompareAndSwap(false, true):
		k.log.warn(ctx, warnDataLarge)
	}
	copied := dataCopy{User: revocation.UserKey(user.ID), At: at.UnixMilli(), Value: raw}
	k.copies.Put(user.ID, copied, at.Add(k.maxAge))
	return copied, nil
}

// refresh invalidates the copies of a user in this and in other processes.
func (k *dataKeeper) refresh(ctx context.Context, userID string) error {
	k.invalidate(revocation.UserKey(userID))
	if k.revoked == nil || userID == "" {
		return nil
	}
	return k.revoked.DataChanged(ctx, userID, k.maxAge)
}

// invalidate makes all current copies of a user invalid. user is a UserKey. The mark is later than any copy that was
// loaded after the previous mark, even if the clock does not advance.
func (k *dataKeeper) invalidate(user string) {
	now := k.now()
	k.outdated.Update(user, now.Add(k.maxAge+time.Minute), func(before time.Time) time.Time {
		if next := before.Add(dataTick); !before.IsZero() && now.Before(next) {
			return next
		}
		return now
	})
}

// carry adds the data to the token of a session: the copy in the previous token, or a newer one. A change that the jwt
// callback made to the claim is discarded. It reports whether the copy is a newer one.
func (k *dataKeeper) carry(ctx context.Context, v *arrival, before, token *Token) (*Token, *loadedData, bool) {
	var came dataCopy
	raw := before.Extra[claimData]
	if raw != nil && (json.Unmarshal(raw, &came) != nil || came.User != revocation.UserKey(token.Subject)) {
		raw, came = nil, dataCopy{}
	}
	user := User{ID: token.Subject, Name: token.Name, Email: token.Email, Image: token.Picture}
	data := &loadedData{keeper: k, user: user}
	data.copied, data.failed = k.of(ctx, &user, came)
	if data.failed != nil {
		v.log.failure(ctx, asError(data.failed, ErrAuth, serverError), v.attrs()...)
		return withData(token, raw), data, false
	}
	changed := data.copied.At != came.At
	if changed {
		raw, _ = json.Marshal(data.copied) // these types cannot fail
	}
	return withData(token, raw), data, changed
}

// withData returns the token with this copy of the data, whatever the jwt callback has set. A nil raw removes the
// claim.
func withData(t *Token, raw json.RawMessage) *Token {
	if string(t.Extra[claimData]) == string(raw) {
		return t
	}
	t = t.Clone()
	if raw == nil {
		delete(t.Extra, claimData)
		return t
	}
	if t.Extra == nil {
		t.Extra = Members{}
	}
	t.Extra[claimData] = raw
	return t
}

// begin loads the data for a new session and adds it to the token. If the data cannot be loaded, the sign-in still
// succeeds.
func (k *dataKeeper) begin(ctx context.Context, v *arrival, token *Token) *Token {
	k.forget(token.Subject)
	token, _, _ = k.carry(ctx, v, &Token{}, token)
	return token
}

// forget drops the copy in memory, so that a sign-in loads the data again.
func (k *dataKeeper) forget(userID string) { k.copies.Put(userID, dataCopy{}, k.now()) }

// show adds the public part of the data to the response of GET session.
func (k *dataKeeper) show(ctx context.Context, v *arrival, s *Session) {
	if _, taken := s.Extra["data"]; taken || k.public == nil || s.data == nil {
		return
	}
	shown, err := guarded("Data.Public", func() (json.RawMessage, error) {
		raw, err := s.data.raw(ctx)
		if err != nil {
			return nil, err
		}
		return k.public(raw)
	})
	if err != nil {
		if s.data.failed == nil { // otherwise it is already logged
			v.log.failure(ctx, asError(err, ErrAuth, serverError), v.attrs()...)
		}
		return
	}
	extra := maps.Clone(s.Extra) // the map may belong to the application
	if extra == nil {
		extra = Members{}
	}
	extra["data"], s.Extra = shown, extra
}
