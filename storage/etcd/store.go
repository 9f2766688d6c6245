// Package etcd stores users, accounts, sessions and tokens in etcd 3.4 or later.
//
//	store, err := etcd.Open("http://localhost:2379", etcd.Options{})
//
// [New] uses your own client. There are no tables to create.
package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// Store is a store in etcd: a [store.Store] that implements all optional interfaces too.
type Store struct{ *records }

// records is an alias to embed the type without an exported field.
type records = keyvalue.Store

// Close closes the client if Open created it. A client passed to New stays open.
func (s *Store) Close() error { return s.records.Close() }

// Ping checks the connection to the database.
func (s *Store) Ping(ctx context.Context) error { return s.records.Ping(ctx) }

// InTransaction implements [store.Transactor]: see [keyvalue.Store.InTransaction]. tx is a *Store.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	return s.records.InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
		return do(ctx, &Store{tx.(*keyvalue.Store)})
	})
}

// Options are the options of a Store. The zero value has the defaults.
type Options struct {
	// Prefix is the prefix of every key. The default is "latchkey/". Stores can share a cluster if neither prefix begins
	// with the other.
	Prefix string
}

const defaultPrefix = "latchkey/"

// Open returns a Store on its own client. endpoints are URLs, separated by commas, with https for TLS with the system's
// certificates. The first may contain a user and a password: "https://app:password@one:2379,https://two:2379". Open
// does not connect, except with a password: then it requests an authentication token. Close the Store when done. At
// most one Options is allowed.
func Open(endpoints string, options Options) (*Store, error) {
	config := clientv3.Config{
		Logger:      zap.NewNop(), // errors contain what matters
		DialTimeout: 5 * time.Second, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 5 * time.Second,
	}
	for _, text := range strings.Split(endpoints, ",") {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" { // the error may contain the password
			return nil, errors.New("etcd: open: malformed endpoint: use, for example, https://user:password@localhost:2379")
		}
		if password, ok := u.User.Password(); ok {
			config.Username, config.Password = u.User.Username(), password
		}
		config.Endpoints = append(config.Endpoints, u.Scheme+"://"+u.Host)
	}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, fmt.Errorf("etcd: open: %w", err)
	}
	return newStore(client, true, options), nil
}

// New returns a Store on an open client, which the caller closes. It sends nothing to the cluster.
func New(client *clientv3.Client, options Options) (*Store, error) {
	if client == nil {
		return nil, errors.New("etcd: no client: give New an open one")
	}
	return newStore(client, false, options), nil
}

func newStore(client *clientv3.Client, owned bool, options Options) *Store {
	e := &engine{client: client, owned: owned, prefix: cmp.Or(options.Prefix, defaultPrefix)}
	return &Store{keyvalue.New("etcd", e)}
}
