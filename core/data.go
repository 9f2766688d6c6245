package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/internal/sessiondata"
)

// SessionData adds a value of the application's type T to sessions, for example roles, a plan or a shop. Set
// Config.Data to a pointer to it. Handlers and guards use the same pointer:
//
//	var app = &core.SessionData[App]{Load: loadApp}
//
//	r.GET("/admin", a.RequireSession(app.Guard(func(d App) bool { return d.Role == "admin" })), admin)
//	session, data, err := app.FromContext(ctx)
//
// T is stored as JSON; values that encoding/json omits are lost. Under StrategyJWT a copy is in the encrypted session
// cookie. Its maximum size is 8 KiB, and from 2 KiB the log has a warning. Under StrategyDatabase copies are in the
// memory of the process. A client cannot change the data. To use [HasRole], give T a method Roles() []string.
// SessionData is safe for concurrent use after [New]; do not change the fields then.
type SessionData[T any] struct {
	// Load returns the data of a user. It is called at sign-in, after Refresh, and when a copy is older than MaxAge.
	// The user has the ID, name, email and image of the session. Load has 10 seconds, and one call serves all requests
	// of the user that wait for it. An error is logged and returned by FromContext. The session stays valid, but
	// guards that need the data respond as if the session could not be read.
	Load func(ctx context.Context, user *User) (T, error)
	// MaxAge is the maximum age of a copy. The default is 5 minutes.
	MaxAge time.Duration
	// Public returns the part of the data that GET session sends to the browser, as the member "data". If Public is nil,
	// nothing is sent. A member "data" that Callbacks.Session has set takes precedence.
	Public func(T) any

	keepers sessiondata.Keepers // one for each Auth
}

func (d *SessionData[T]) options() (o sessiondata.Options, err error) {
	switch {
	case d == nil:
		return o, errors.New("the pointer Data is nil: leave it out, or set it to &core.SessionData[T]{Load: …}")
	case d.Load == nil:
		return o, errors.New("Data.Load is nil: set it to a function that returns the data of a user")
	case d.MaxAge < 0:
		return o, fmt.Errorf("Data.MaxAge is %v: set a positive duration, or zero for 5 minutes", d.MaxAge)
	}
	o = sessiondata.Typed(func(ctx context.Context, user any) (T, error) {
		own := *user.(*User) // the application may change it
		return d.Load(ctx, &own)
	}, d.Public)
	o.Source, o.MaxAge = d, d.MaxAge
	return o, nil
}

func (d *SessionData[T]) keptBy(k *sessiondata.Keeper) { d.keepers.Add(k) }

// FromContext returns the session in ctx and its data. Both are zero if no user is signed in or if err is not nil. An
// error means that the session or the data is unknown. FromContext needs the request hook, like [SessionFrom].
func (d *SessionData[T]) FromContext(ctx context.Context) (*Session, T, error) {
	var none T
	session, err := SessionFrom(ctx)
	if err != nil || session == nil {
		return nil, none, err
	}
	value, err := d.Get(ctx, session)
	if err != nil {
		return nil, none, err
	}
	return session, value, nil
}

// Get returns the data of a session, for example of a session that [Auth.Session] returned. Each call decodes a new
// value.
func (d *SessionData[T]) Get(ctx context.Context, s *Session) (T, error) {
	var none T
	if s == nil || s.data == nil || s.data.Source() != any(d) {
		return none, errorf(ErrInvalidConfig, "the session has no data of this Data: set Config.Data to it, in the Auth "+
			"that read the session")
	}
	raw, err := s.data.Raw(ctx)
	if err != nil {
		return none, err
	}
	return sessiondata.Decode[T](raw)
}

// Refresh discards the copies of a user's data, so that their next request loads it again. Call it after the data has
// changed. It takes effect immediately in this process, and within Revocation.Every in other processes if
// Session.Revocation is on. Otherwise the other processes use their copies until these are older than MaxAge. An error
// means that the other processes were not notified.
func (d *SessionData[T]) Refresh(ctx context.Context, userID string) error {
	return d.keepers.Refresh(ctx, userID)
}

// Guard returns a guard that lets a request pass if allowed returns true for its data. It refuses other requests with
// [ErrForbidden].
func (d *SessionData[T]) Guard(allowed func(T) bool) Guard {
	return func(ctx context.Context, s *Session) error {
		value, err := d.Get(ctx, s)
		switch {
		case err != nil:
			return err
		case !allowed(value):
			return ErrForbidden
		}
		return nil
	}
}

// HasRole returns a guard that allows users with at least one of the roles. The comparison is case-sensitive. The
// permissions of a role are best checked with a method of T and [SessionData.Guard].
func HasRole[T interface{ Roles() []string }](d *SessionData[T], anyOf ...string) Guard {
	anyOf = slices.Clone(anyOf)
	return d.Guard(func(data T) bool {
		return slices.ContainsFunc(data.Roles(), func(role string) bool { return slices.Contains(anyOf, role) })
	})
}
