package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/flight"
	"github.com/latchkey-go/latchkey/core/internal/once"
)

const (
	// claimData is the claim of a session token with a copy of the data.
	claimData = "latchkey_data"
	// dataLasts is Data.For where it is zero, dataTime bounds a Load.
	dataLasts = 5 * time.Minute
	dataTime  = 10 * time.Second
	// dataTick is by how much data that is loaded after a mark is newer than it, whatever the clock: copies have
	// milliseconds.
	dataTick = 2 * time.Millisecond
	// dataWarn and dataMax are how many bytes of data in a cookie are told, and refused.
	dataWarn = 2 << 10
	dataMax  = 8 << 10
	// maxDataUsers is of how many users a process keeps copies, and marks of copies that are old.
	maxDataUsers = 1 << 14
)

// dataKeeper loads and keeps the data of the sessions of an Auth, by user.
type dataKeeper struct {
	source SessionData
	load   func(ctx context.Context, user *User) (json.RawMessage, error)
	public func(json.RawMessage) (json.RawMessage, error) // nil: GET session shows nothing
	lasts  time.Duration

	inCookie bool // strategy jwt
	now      func() time.Time
	log      *reporter
	ended    *revocations // nil: other processes are not told
	warned   atomic.Bool

	copies   once.Memory[string, dataCopy]
	outdated once.Memory[string, time.Time] // by user: copies loaded until then are old
	underWay flight.Group[string, dataCopy]
}

// dataCopy is a copy of a user's data, with the time at which it was read in milliseconds since 1970. User is the
// user's logName: the jwt callback can change the user of a token, and the copy of another user must not be used.
type dataCopy struct {
	User  string          `json:"u"`
	At    int64           `json:"at"`
	Value json.RawMessage `json:"v"`
}

// SessionData is a pointer to a [Data], of whatever type.
type SessionData interface {
	// attach hands over what a keeper needs, or says what is wrong.
	attach(k *dataKeeper) error
}

// newDataKeeper returns the keeper of Config.Data, nil without.
func newDataKeeper(c *Config, log *reporter, faults *ConfigError) *dataKeeper {
	if c.Data == nil {
		return nil
	}
	k := &dataKeeper{now: c.Now, log: log, inCookie: c.Session.Strategy == StrategyJWT}
	if err := c.Data.attach(k); err != nil {
		faults.add(ErrInvalidConfig, "%v", err)
		return nil
	}
	if k.lasts == 0 {
		k.lasts = dataLasts
	}
	k.copies.Now, k.outdated.Now = c.Now, c.Now
	k.copies.Max, k.outdated.Max = maxDataUsers, maxDataUsers
	k.underWay.Timeout = dataTime
	return k
}

// toldBy has the keeper told of what other processes refresh, and tell them; nil: neither.
func (k *dataKeeper) toldBy(ended *revocations) {
	if k.ended = ended; ended != nil {
		ended.outdates = k.outdate
	}
}

// sessionData is the data of a session: a copy that came with it or, under the database strategy, none yet.
type sessionData struct {
	keeper *dataKeeper
	user   User
	copied dataCopy
	failed error
}

// raw is the data as JSON.
func (d *sessionData) raw(ctx context.Context) (json.RawMessage, error) {
	if d.failed != nil || d.copied.Value != nil {
		return d.copied.Value, d.failed
	}
	copied, err := d.keeper.of(ctx, &d.user, dataCopy{})
	return copied.Value, err
}

// of returns a copy that counts: the one that came with the session, one that is in memory, or a fresh one.
func (k *dataKeeper) of(ctx context.Context, user *User, came dataCopy) (dataCopy, error) {
	if k.counts(user.ID, came) {
		return came, nil
	}
	for range 3 { // a flight that began before Refresh was called brings what does not count
		if copied, _ := k.copies.Get(user.ID); k.counts(user.ID, copied) {
			return copied, nil
		}
		own := *user
		fly := func(ctx context.Context) (dataCopy, error) {
			if copied, _ := k.copies.Get(own.ID); k.counts(own.ID, copied) { // a flight landed since this caller looked
				return copied, nil
			}
			return guarded("Data.Load", func() (dataCopy, error) { return k.fetch(ctx, &own) })
		}
		copied, err := k.underWay.Join(ctx, user.ID, fly).Wait(ctx)
		if err != nil || k.counts(user.ID, copied) {
			return copied, err
		}
	}
	return dataCopy{}, errors.New("core: Data.Refresh is called faster than Data.Load returns")
}

// counts reports whether a copy is one that may still be used.
func (k *dataKeeper) counts(userID string, c dataCopy) bool {
	if c.Value == nil {
		return false
	}
	at := time.UnixMilli(c.At)
	if age := k.now().Sub(at); age >= k.lasts {
		return false
	}
	old, marked := k.outdated.Get(logName(userID))
	return !marked || at.After(old)
}

// fetch loads the data of a user. It is as of when the loading begins.
func (k *dataKeeper) fetch(ctx context.Context, user *User) (dataCopy, error) {
	at := k.now()
	if old, marked := k.outdated.Get(logName(user.ID)); marked && !at.Truncate(time.Millisecond).After(old) {
		at = old.Add(dataTick) // it was asked for after the mark, within the same millisecond
	}
	raw, err := k.load(ctx, user)
	switch {
	case err != nil:
		return dataCopy{}, err
	case k.inCookie && len(raw) > dataMax:
		return dataCopy{}, fmt.Errorf("core: Data.Load returned %d bytes of JSON for a session cookie, and %d are "+
			"taken: keep an id in it, or use StrategyDatabase", len(raw), dataMax)
	case k.inCookie && len(raw) >= dataWarn && k.warned.CompareAndSwap(false, true):
		k.log.warn(ctx, warnDataLarge)
	}
	copied := dataCopy{User: logName(user.ID), At: at.UnixMilli(), Value: raw}
	k.copies.Put(user.ID, copied, at.Add(k.lasts))
	return copied, nil
}

// refresh marks the copies of a user as old, here and in the other processes.
func (k *dataKeeper) refresh(ctx context.Context, userID string) error {
	k.outdate(logName(userID))
	if k.ended == nil || userID == "" {
		return nil
	}
	until := k.now().Add(k.lasts + revocationSkew).Unix()
	return k.ended.add(ctx, revoked{user: logName(userID), outdated: true, until: until})
}

// outdate marks the copies of a user, by their name in the log, that there are by now as old. A mark is later than what
// was loaded by the one before it, though the clock stood still.
func (k *dataKeeper) outdate(user string) {
	now := k.now()
	k.outdated.Update(user, now.Add(k.lasts+time.Minute), func(before time.Time) time.Time {
		if next := before.Add(dataTick); !before.IsZero() && now.Before(next) {
			return next
		}
		return now
	})
}

// carry puts the data into the token of a session: the copy of the token before it, whatever the jwt callback made of
// that, or a newer one. It reports whether it is another copy.
func (k *dataKeeper) carry(ctx context.Context, v *arrival, before, token *Token) (*Token, *sessionData, bool) {
	var came dataCopy
	raw := before.Extra[claimData]
	if raw != nil && (json.Unmarshal(raw, &came) != nil || came.User != logName(token.Subject)) {
		raw, came = nil, dataCopy{}
	}
	user := User{ID: token.Subject, Name: token.Name, Email: token.Email, Image: token.Picture}
	data := &sessionData{keeper: k, user: user}
	data.copied, data.failed = k.of(ctx, &user, came)
	if data.failed != nil {
		v.log.failure(ctx, asError(data.failed, ErrAuth, fault), v.attrs()...)
		return token.withData(raw), data, false
	}
	changed := data.copied.At != came.At
	if changed {
		raw, _ = json.Marshal(data.copied) // both members marshal
	}
	return token.withData(raw), data, changed
}

// withData is the token with this copy of the data and no other, whatever the jwt callback has put there; nil: none.
func (t *Token) withData(raw json.RawMessage) *Token {
	if string(t.Extra[claimData]) == string(raw) {
		return t
	}
	t = t.clone()
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

// begin has the data loaded for a session that begins, and puts it into its token, where it has one. It is no reason
// to refuse a sign-in that it could not be loaded.
func (k *dataKeeper) begin(ctx context.Context, v *arrival, token *Token) *Token {
	k.forget(token.Subject)
	token, _, _ = k.carry(ctx, v, &Token{}, token)
	return token
}

// forget drops the copy in memory: a sign-in has the data loaded anew.
func (k *dataKeeper) forget(userID string) { k.copies.Put(userID, dataCopy{}, k.now()) }

// show puts what the browser may know of the data into the session that GET session shows.
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
		if s.data.failed == nil { // else it is in the log
			v.log.failure(ctx, asError(err, ErrAuth, fault), v.attrs()...)
		}
		return
	}
	extra := maps.Clone(s.Extra) // the map may be the application's
	if extra == nil {
		extra = Members{}
	}
	extra["data"], s.Extra = shown, extra
}
