// Package hosted keeps users, accounts, sessions and tokens in a hosted database that is spoken to over HTTP: tables,
// links and transactions of one request. The README names a service that has such an API.
//
//	store, err := hosted.New(hosted.Config{
//		DatabaseURL: "https://team.region.example/db/app", Branch: "main", APIKey: key,
//	})
//
// The tables have to be there; the README names their columns and which of them must be unique.
package hosted

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Options change what is seldom changed. The zero value is the default.
type Options struct {
	// Prefix begins the names of all tables; empty: "svc_".
	Prefix string
	// HTTP sends the requests; nil: a client whose requests end after 30 seconds.
	HTTP *http.Client
}

// Store is a store in a hosted database: a [store.Store] with all the interfaces beside it. It is safe for concurrent
// use.
//
// Errors begin with "hosted" and the operation and never hold a value. A taken key is [store.ErrConflict], absence is
// [store.ErrNotFound].
type Store struct {
	client *client
	tables tables
	tx     *transaction // nil outside transactions
}

type tables struct{ users, accounts, sessions, usersAccounts, usersSessions, tokens, passkeys, records string }

var (
	_ store.SessionStore           = (*Store)(nil)
	_ store.VerificationTokenStore = (*Store)(nil)
	_ store.AuthenticatorStore     = (*Store)(nil)
	_ store.AuthenticatorDeleter   = (*Store)(nil)
	_ store.Transactor             = (*Store)(nil)
	_ store.AccountStore           = (*Store)(nil)
	_ store.UserDeleter            = (*Store)(nil)
	_ store.SessionLister          = (*Store)(nil)
	_ store.Cleaner                = (*Store)(nil)
	_ store.RecordStore            = (*Store)(nil)
)

// New returns a Store on a database. It sends nothing. At most one Options is given.
func New(config Config, options ...Options) (*Store, error) {
	o := Options{}
	if len(options) > 1 {
		return nil, errors.New("hosted: more than one Options")
	}
	for _, o = range options {
	}
	if o.Prefix == "" {
		o.Prefix = "svc_"
	}
	if strings.ContainsFunc(o.Prefix, func(c rune) bool {
		return c > 'z' || !strings.ContainsRune("_-~", c) && (c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a')
	}) {
		return nil, errors.New("hosted: a prefix has letters, digits, _, - and ~ only")
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: 30 * time.Second}
	}
	c, err := newClient(config, o.HTTP)
	if err != nil {
		return nil, fmt.Errorf("hosted: %w", err)
	}
	return &Store{client: c, tables: tables{
		o.Prefix + "users", o.Prefix + "accounts", o.Prefix + "sessions",
		o.Prefix + "users_accounts", o.Prefix + "users_sessions",
		o.Prefix + "verificationTokens", o.Prefix + "authenticators", o.Prefix + "records",
	}}, nil
}

// attempts is how often an operation is tried that the database rejected: because another call came before, as a rule,
// which the next look shows.
const attempts = 20

// step is one operation: it reads, and then says what to write. It may run several times, and must not depend on
// anything that its caller may change meanwhile.
type step func(ctx context.Context, v *view) ([]record, error)

// run runs an operation and writes what it wants written.
func (s *Store) run(ctx context.Context, operation string, do step) ([]record, error) {
	if s.tx != nil {
		out, err := s.tx.run(ctx, s, do)
		return out, s.failed(ctx, operation, err)
	}
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, s.failed(ctx, operation, err)
		}
		v := s.view()
		out, err := do(ctx, v)
		if err == nil {
			err = v.commit(ctx)
		}
		if err == nil {
			return out, nil
		}
		var rejected *rejectedError
		if !errors.As(err, &rejected) || n == attempts || len(v.ops) == 0 {
			return nil, s.failed(ctx, operation, err)
		}
		if n > 1 {
			_ = giveWay(ctx, n-1) // the next look at the context ends it
		}
	}
}

// failed names the operation and turns errors into those of the contract.
func (s *Store) failed(ctx context.Context, operation string, err error) error {
	return store.OpError(ctx, "hosted", operation, err)
}

// one is run for an operation that returns one record.
func one[T any](ctx context.Context, s *Store, operation string, read func(record) (T, error), do step) (T, error) {
	var none T
	out, err := s.run(ctx, operation, do)
	if err != nil {
		return none, err
	}
	v, err := read(out[0])
	return v, s.failed(ctx, operation, err)
}

// list is run for an operation that returns records of one kind.
func list[T any](ctx context.Context, s *Store, operation string, read func(record) (T, error), do step) ([]T, error) {
	out, err := s.run(ctx, operation, do)
	if err != nil {
		return nil, err
	}
	var all []T
	for _, r := range out {
		v, err := read(r)
		if err != nil {
			return nil, s.failed(ctx, operation, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// first is the one record that a query has found.
func first(list []record, err error) (record, error) {
	if err == nil && len(list) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}
