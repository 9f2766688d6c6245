package memory

import (
	"context"
	"maps"
	"sync"

	"github.com/latchkey-go/latchkey/core/store"
)

// sharedData is the data that the parts of a Store share, protected by a mutex.
type sharedData struct {
	mu sync.Mutex
	data
}

// locked runs do on the data, unless ctx has ended.
func (s *sharedData) locked(ctx context.Context, do func(d *data) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return do(&s.data)
}

// data is all data of a Store. It is copied by value, so that a transaction can restore the previous state.
type data struct {
	users          map[string]store.User
	byEmail        map[string]string // email address to user ID
	accounts       map[accountKey]store.Account
	sessions       map[string]store.Session
	tokens         map[tokenKey]store.VerificationToken
	authenticators map[string]store.Authenticator
	records        map[recordKey]store.Record
}

func (d *data) clone() data {
	return data{
		users: maps.Clone(d.users), byEmail: maps.Clone(d.byEmail), accounts: maps.Clone(d.accounts),
		sessions: maps.Clone(d.sessions), tokens: maps.Clone(d.tokens), authenticators: maps.Clone(d.authenticators),
		records: maps.Clone(d.records),
	}
}

// get returns the row with this key, or ErrNotFound.
func get[K comparable, V any](rows map[K]V, key K) (*V, error) {
	v, ok := rows[key]
	if !ok {
		return nil, store.ErrNotFound
	}
	return &v, nil
}
