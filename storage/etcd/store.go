// Package etcd keeps users, accounts, sessions and tokens in etcd 3.4 or later.
//
//	store, err := etcd.Open("http://localhost:2379")
//
// [New] takes a client of your own. There are no tables to make.
package etcd

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// Store is a store in etcd: a [store.Store] with all the interfaces beside it.
type Store = keyvalue.Store

// Options say how keys are named. The zero value is the default.
type Options struct {
	// Prefix begins every key; empty: "latchkey/". Stores with different prefixes share a cluster without noticing each
	// other, as long as neither prefix begins with the other.
	Prefix string
}

const defaultPrefix = "latchkey/"

// Open returns a Store on a client of its own. endpoints are URLs, joined by commas when there are several, https for
// TLS with the certificates of the system; the first may hold a user and a password:
// "https://app:password@one:2379,https://two:2379". It does not connect, unless there is a password: then it asks for a
// token. Close it when done. At most one Options is given.
func Open(endpoints string, options ...Options) (*Store, error) {
	config := clientv3.Config{
		Logger:      zap.NewNop(), // what matters is in the errors
		DialTimeout: 5 * time.Second, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 5 * time.Second,
	}
	for _, text := range strings.Split(endpoints, ",") {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" { // the error may repeat the password
			return nil, errors.New("etcd: open: an endpoint cannot be read: it is such as https://user:password@localhost:2379")
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
	s, err := newStore(client, true, options)
	if err != nil {
		_ = client.Close()
	}
	return s, err
}

// New returns a Store on an open client, which stays the caller's to close. It asks the cluster nothing. At most one
// Options is given.
func New(client *clientv3.Client, options ...Options) (*Store, error) {
	if client == nil {
		return nil, errors.New("etcd: no client: give New an open one")
	}
	return newStore(client, false, options)
}

func newStore(client *clientv3.Client, owned bool, options []Options) (*Store, error) {
	if len(options) > 1 {
		return nil, errors.New("etcd: more than one Options: a store has one prefix")
	}
	e := &engine{client: client, owned: owned, prefix: defaultPrefix}
	for _, o := range options {
		if o.Prefix != "" {
			e.prefix = o.Prefix
		}
	}
	return keyvalue.New("etcd", e), nil
}
