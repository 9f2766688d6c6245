// Package sessiondata loads and caches the application's data for sessions, by user (Config.Data).
package sessiondata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/internal/flight"
	"github.com/latchkey-go/latchkey/internal/once"
	"github.com/latchkey-go/latchkey/internal/revocation"
)

const (
	// Claim is the claim of the session token that contains a copy of the data.
	Claim = "latchkey_data"
	// defaultMaxAge is the default of Options.MaxAge. loadTimeout is the timeout of a Load.
	defaultMaxAge = 5 * time.Minute
	loadTimeout   = 10 * time.Second
	// tick is the minimum difference between the time of newly loaded data and the last refresh, even if the clock
	// does not advance: the times of copies are in milliseconds.
	tick = 2 * time.Millisecond
	// largeSize is the size in bytes of data in a cookie that causes a warning. maxSize is the maximum size.
	largeSize = 2 << 10
	maxSize   = 8 << 10
	// maxUsers is the number of users whose copies, and whose refresh times, a process remembers.
	maxUsers = 1 << 14
)

// Options configure [New].
type Options struct {
	// Source identifies the origin of the data, for [Loaded.Source].
	Source any
	// Load returns the data of a user as JSON. user is the value that was passed to Of. It must not panic.
	Load func(ctx context.Context, user any) (json.RawMessage, error)
	// Public returns the part that the browser receives. It must not panic. It is nil if the browser receives nothing.
	Public func(json.RawMessage) (json.RawMessage, error)
	// MaxAge is the maximum age of a copy. The default is 5 minutes.
	MaxAge time.Duration
	// InCookie reports that copies are in session tokens, so that their size is limited. Large is called once if data has
	// 2 KiB or more.
	InCookie bool
	Large    func(ctx context.Context)
	// Now is the clock.
	Now func() time.Time
	// Revoked, if not nil, notifies other processes of a refresh.
	Revoked *revocation.List
}

// Keeper loads and caches the data of users. It is safe for concurrent use.
type Keeper struct {
	Options
	warned     atomic.Bool
	copies     once.Memory[string, userCopy]
	outdated   once.Memory[string, time.Time] // user to the time of the last refresh: earlier copies are invalid
	inProgress flight.Group[userCopy]
}

// New returns a Keeper with these options and an empty cache.
func New(o Options) *Keeper {
	if o.MaxAge == 0 {
		o.MaxAge = defaultMaxAge
	}
	k := &Keeper{Options: o}
	k.copies.Now, k.outdated.Now = o.Now, o.Now
	k.copies.Max, k.outdated.Max = maxUsers, maxUsers
	k.inProgress.Timeout = loadTimeout
	if o.Revoked != nil {
		o.Revoked.OnDataChange(k.invalidate)
	}
	return k
}

// userCopy is a copy of a user's data, with the time when it was loaded in Unix milliseconds. User is the user's
// UserKey: the jwt callback can change the user of a token, and then the copy must not be used for the new user.
type userCopy struct {
	User  string          `json:"u"`
	At    int64           `json:"at"`
	Value json.RawMessage `json:"v"`
}

// Loaded is the data of a session. Under the strategy jwt it has the copy in the token. Under the strategy database it
// is loaded on first use.
type Loaded struct {
	// Failed is the error that prevented loading the data.
	Failed error

	keeper *Keeper
	userID string
	user   any
	copied userCopy
}

// Of returns the data of a user, which is loaded on first use. user describes them for Options.Load.
func (k *Keeper) Of(userID string, user any) *Loaded {
	return &Loaded{keeper: k, userID: userID, user: user}
}

// Source returns Options.Source.
func (d *Loaded) Source() any { return d.keeper.Source }

// Raw returns the data as JSON.
func (d *Loaded) Raw(ctx context.Context) (json.RawMessage, error) {
	if d.Failed != nil || d.copied.Value != nil {
		return d.copied.Value, d.Failed
	}
	copied, err := d.keeper.of(ctx, d.userID, d.user, userCopy{})
	return copied.Value, err
}

// Show returns extra with the public part of the data as the member data, in a copy. It returns extra itself if it has
// this member or if the browser receives nothing. d may be nil.
func (d *Loaded) Show(ctx context.Context, extra map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	if _, taken := extra["data"]; taken || d == nil || d.keeper.Public == nil {
		return extra, nil
	}
	raw, err := d.Raw(ctx)
	if err == nil {
		raw, err = d.keeper.Public(raw)
	}
	if err != nil {
		return nil, err
	}
	extra = maps.Clone(extra) // the map may belong to the application
	if extra == nil {
		extra = map[string]json.RawMessage{}
	}
	extra["data"] = raw
	return extra, nil
}

// of returns a valid copy: the one in the session, one in memory, or a new one.
func (k *Keeper) of(ctx context.Context, userID string, user any, came userCopy) (userCopy, error) {
	if k.isValid(userID, came) {
		return came, nil
	}
	for range 3 { // a load that started before a refresh returns an invalid copy
		if copied, _ := k.copies.Get(userID); k.isValid(userID, copied) {
			return copied, nil
		}
		load := func(ctx context.Context) (userCopy, error) {
			if loaded, _ := k.copies.Get(userID); k.isValid(userID, loaded) { // another load has finished in the meantime
				return loaded, nil
			}
			return k.fetch(ctx, userID, user)
		}
		copied, err := k.inProgress.Do(ctx, userID, load)
		if err != nil || k.isValid(userID, copied) {
			return copied, err
		}
	}
	return userCopy{}, errors.New("core: Data.Refresh is called faster than Data.Load returns")
}

// isValid reports whether a copy may still be used.
func (k *Keeper) isValid(userID string, c userCopy) bool {
	if c.Value == nil {
		return false
	}
	at := time.UnixMilli(c.At)
	if age := k.Now().Sub(at); age >= k.MaxAge {
		return false
	}
	old, marked := k.outdated.Get(revocation.UserKey(userID))
	return !marked || at.After(old)
}

// fetch loads the data of a user. The copy has the time of the start of the load.
func (k *Keeper) fetch(ctx context.Context, userID string, user any) (userCopy, error) {
	at := k.Now()
	if old, marked := k.outdated.Get(revocation.UserKey(userID)); marked && !at.Truncate(time.Millisecond).After(old) {
		at = old.Add(tick) // the load started after the refresh, within the same millisecond
	}
	raw, err := k.Load(ctx, user)
	switch {
	case err != nil:
		return userCopy{}, err
	case k.InCookie && len(raw) > maxSize:
		return userCopy{}, fmt.Errorf("core: Data.Load returned %d bytes of JSON for a session cookie, at most %d fit: "+
			"return an ID instead, or use StrategyDatabase", len(raw), maxSize)
	case k.InCookie && len(raw) >= largeSize && k.warned.CompareAndSwap(false, true):
		k.Large(ctx)
	}
	copied := userCopy{User: revocation.UserKey(userID), At: at.UnixMilli(), Value: raw}
	k.copies.Put(userID, copied, at.Add(k.MaxAge))
	return copied, nil
}

// Refresh invalidates the copies of a user in this and in other processes.
func (k *Keeper) Refresh(ctx context.Context, userID string) error {
	k.invalidate(revocation.UserKey(userID))
	if k.Revoked == nil || userID == "" {
		return nil
	}
	return k.Revoked.DataChanged(ctx, userID, k.MaxAge)
}

// invalidate makes all current copies of a user invalid. user is a UserKey. The mark is later than any copy that was
// loaded after the previous mark, even if the clock does not advance.
func (k *Keeper) invalidate(user string) {
	now := k.Now()
	k.outdated.Update(user, now.Add(k.MaxAge+time.Minute), func(before time.Time) time.Time {
		if next := before.Add(tick); !before.IsZero() && now.Before(next) {
			return next
		}
		return now
	})
}

// Carry returns the claim [Claim] for the next token of a session. raw is the claim in the previous token. It is
// returned unchanged unless it is too old; then the data is loaded again, and changed is true. If that fails, raw is
// returned.
func (k *Keeper) Carry(
	ctx context.Context, userID string, user any, raw json.RawMessage,
) (next json.RawMessage, data *Loaded, changed bool) {
	var came userCopy
	if raw != nil && (json.Unmarshal(raw, &came) != nil || came.User != revocation.UserKey(userID)) {
		raw, came = nil, userCopy{}
	}
	data = k.Of(userID, user)
	data.copied, data.Failed = k.of(ctx, userID, user, came)
	if data.Failed != nil {
		return raw, data, false
	}
	if changed = data.copied.At != came.At; changed {
		raw, _ = json.Marshal(data.copied) // these types cannot fail
	}
	return raw, data, changed
}

// Forget drops the copy in memory, so that a sign-in loads the data again.
func (k *Keeper) Forget(userID string) { k.copies.Remove(userID) }
