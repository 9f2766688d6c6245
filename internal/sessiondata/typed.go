package sessiondata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"weak"

	"github.com/latchkey-go/latchkey/internal/panics"
)

// Typed returns the options for a value of the application's type. load and public are functions of the application.
// public may be nil.
func Typed[T any](load func(ctx context.Context, user any) (T, error), public func(T) any) (o Options) {
	o.Load = func(ctx context.Context, user any) (json.RawMessage, error) {
		return panics.Call("Data.Load", func() (json.RawMessage, error) {
			value, err := load(ctx, user)
			if err != nil {
				return nil, fmt.Errorf("Data.Load: %w", err)
			}
			return json.Marshal(value)
		})
	}
	if public == nil {
		return o
	}
	o.Public = func(raw json.RawMessage) (json.RawMessage, error) {
		return panics.Call("Data.Public", func() (json.RawMessage, error) {
			value, err := Decode[T](raw)
			if err != nil {
				return nil, err
			}
			return json.Marshal(public(value))
		})
	}
	return o
}

// Decode parses data.
func Decode[T any](raw json.RawMessage) (value T, err error) {
	if err = json.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("core: the data of a session: %w", err)
	}
	return value, nil
}

// Keepers are the keepers of one kind of data. It does not keep them in memory. It is safe for concurrent use.
type Keepers struct {
	mu   sync.Mutex
	list []weak.Pointer[Keeper]
}

// Add adds a keeper.
func (ks *Keepers) Add(k *Keeper) {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	ks.list = append(ks.existing(), weak.Make(k))
}

// existing returns the keepers that still exist.
func (ks *Keepers) existing() []weak.Pointer[Keeper] {
	out := ks.list[:0:0]
	for _, k := range ks.list {
		if k.Value() != nil {
			out = append(out, k)
		}
	}
	return out
}

// Refresh calls [Keeper.Refresh] of each.
func (ks *Keepers) Refresh(ctx context.Context, userID string) error {
	ks.mu.Lock()
	ks.list = ks.existing()
	list := ks.list
	ks.mu.Unlock()
	var all []error
	for _, weakly := range list {
		if k := weakly.Value(); k != nil {
			all = append(all, k.Refresh(ctx, userID))
		}
	}
	return errors.Join(all...)
}
