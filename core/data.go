package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
	"weak"
)

// Data gives sessions a T of the application's own: roles, a plan, a shop. Config.Data takes a pointer to it, and
// handlers and guards ask that pointer:
//
//	var app = &core.Data[App]{Load: loadApp}
//
//	r.GET("/admin", a.RequireSession(app.Is(func(d App) bool { return d.Role == "admin" })), admin)
//	session, data, err := app.From(ctx)
//
// T travels as JSON; what encoding/json leaves out is lost. Under StrategyJWT a copy is in the session cookie, sealed
// as the rest; the session is then larger by it, 8 KiB at most, and a warning tells from 2 KiB on. Under
// StrategyDatabase copies are in the memory of the process. Nothing that a visitor posts reaches it. It is safe for
// concurrent use once [New] has it; the fields must not change then.
type Data[T any] struct {
	// Load fills it: at sign-in, when Refresh asks, and where a copy is older than For. The user has the ID of the
	// session, and its name, e-mail address and image. An error is logged and returned by From; the session goes on, and
	// guards that need the data answer as for a session that could not be read. It has 10 seconds, and serves all
	// requests of the user that wait for it.
	Load func(ctx context.Context, user *User) (T, error)
	// For is how old a copy may be; zero: 5 minutes.
	For time.Duration
	// Public is what GET session shows of it under "data", which the browser reads; nil: nothing. A member of that name
	// that Callbacks.Session has set stays.
	Public func(T) any

	mu      sync.Mutex
	keepers []weak.Pointer[dataKeeper] // of each Auth that has it
}

func (d *Data[T]) attach(k *dataKeeper) error {
	switch {
	case d == nil:
		return errors.New("Data is a nil pointer: leave it out, or set it to &core.Data[T]{Load: …}")
	case d.Load == nil:
		return errors.New("Data.Load is nil: it has to return the data of a user")
	case d.For < 0:
		return fmt.Errorf("Data.For is %v: more than zero, or zero for 5 minutes", d.For)
	}
	k.source, k.lasts = d, d.For
	k.load = func(ctx context.Context, user *User) (json.RawMessage, error) {
		value, err := d.Load(ctx, user)
		if err != nil {
			return nil, fmt.Errorf("Data.Load: %w", err)
		}
		return json.Marshal(value)
	}
	if d.Public != nil {
		k.public = func(raw json.RawMessage) (json.RawMessage, error) {
			value, err := decodeData[T](raw)
			if err != nil {
				return nil, err
			}
			return json.Marshal(d.Public(value))
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keepers = append(living(d.keepers), weak.Make(k))
	return nil
}

// living leaves out the keepers of Auths that are gone.
func living(keepers []weak.Pointer[dataKeeper]) []weak.Pointer[dataKeeper] {
	out := keepers[:0:0]
	for _, k := range keepers {
		if k.Value() != nil {
			out = append(out, k)
		}
	}
	return out
}

func decodeData[T any](raw json.RawMessage) (value T, err error) {
	if err = json.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("core: the data of a session: %w", err)
	}
	return value, nil
}

// From returns the visitor's session and its data, nil and the zero value for nobody. With an error, which says that
// one of them is not known, both are so too. It needs the request hook, as [SessionFrom] does.
func (d *Data[T]) From(ctx context.Context) (*Session, T, error) {
	var none T
	session, err := SessionFrom(ctx)
	if err != nil || session == nil {
		return nil, none, err
	}
	value, err := d.Of(ctx, session)
	if err != nil {
		return nil, none, err
	}
	return session, value, nil
}

// Of returns the data of a session, one that [Auth.Session] returned for instance. Each call returns a value of its
// own.
func (d *Data[T]) Of(ctx context.Context, s *Session) (T, error) {
	var none T
	if s == nil || s.data == nil || s.data.keeper.source != SessionData(d) {
		return none, errorf(ErrInvalidConfig, "the session has no data of this Data: set Config.Data to it, in the Auth "+
			"that read the session")
	}
	raw, err := s.data.raw(ctx)
	if err != nil {
		return none, err
	}
	return decodeData[T](raw)
}

// Refresh has the data of a user loaded anew at their next request: call it where it has changed. It counts at once in
// this process and, where Session.Revocation is on, within Revocation.Every in the others; without that those go on
// with their copies until these are older than For. An error means that the others do not know.
func (d *Data[T]) Refresh(ctx context.Context, userID string) error {
	d.mu.Lock()
	d.keepers = living(d.keepers)
	keepers := d.keepers
	d.mu.Unlock()
	var all []error
	for _, weakly := range keepers {
		if k := weakly.Value(); k != nil {
			all = append(all, k.refresh(ctx, userID))
		}
	}
	return errors.Join(all...)
}

// Is is a guard that lets those pass whose data is allowed; others are refused with [ErrForbidden].
func (d *Data[T]) Is(allowed func(T) bool) Guard {
	return func(ctx context.Context, s *Session) error {
		value, err := d.Of(ctx, s)
		switch {
		case err != nil:
			return err
		case !allowed(value):
			return ErrForbidden
		}
		return nil
	}
}
