// Package redisstore stores users, accounts, sessions and tokens in Redis or Valkey.
//
//	store, err := redisstore.Open("redis://localhost:6379/0", redisstore.Options{})
//
// [New] uses your own client: for one server, Sentinel or Cluster. There are no tables to create.
package redisstore

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// Store is a store in Redis or Valkey: a [store.Store] that implements all optional interfaces too.
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
	// Prefix is the prefix of every key. The default is "{latchkey}:". Stores with different prefixes can share a
	// database. The braces are a hash tag, which places all keys on one node of a Cluster: for a Cluster, a prefix must
	// have one.
	Prefix string
	// Logger gets a warning from [Open] if the server evicts keys. The default is [slog.Default].
	Logger *slog.Logger
}

const defaultPrefix = "{latchkey}:"

// Open returns a Store on its own client. url is, for example, "redis://user:password@localhost:6379/0", or rediss for
// TLS, with the parameters of go-redis. Open does not connect. On the first connection, the store checks the server's
// eviction policy. If the policy may evict users and sessions, it logs a warning. The client has up to 64 connections,
// or 10 for each processor if that is more. Set pool_size in the URL to change that. Close the Store when done.
func Open(url string, options Options) (*Store, error) {
	o, err := clientOptions(url)
	if err != nil {
		return nil, err
	}
	o.OnConnect = warning(cmp.Or(options.Logger, slog.Default()))
	client := redis.NewClient(o)
	s, err := newStore(client, true, options)
	if err != nil {
		_ = client.Close()
	}
	return s, err
}

// bufferSize is the size in bytes of a connection's read buffer and of its write buffer. It is larger than a session
// with its user; longer data takes several reads. The default of go-redis is 32 KiB for each.
const bufferSize = 4 << 10

// clientOptions returns the options of Open's client. By default, go-redis has ten connections for each processor. With
// one processor, the eleventh concurrent request would wait for another, which costs more than a connection with these
// buffers.
func clientOptions(url string) (*redis.Options, error) {
	o, err := redis.ParseURL(url)
	if err != nil { // the error may contain the password
		return nil, errors.New("redis: open: malformed URL: use, for example, redis://user:password@localhost:6379/0")
	}
	o.ContextTimeoutEnabled = true
	if o.MaintNotificationsConfig == nil {
		o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	}
	if o.PoolSize == 0 {
		o.PoolSize = max(64, 10*runtime.GOMAXPROCS(0))
	}
	o.ReadBufferSize, o.WriteBufferSize = bufferSize, bufferSize
	return o, nil
}

// New returns a Store on an open client, which the caller closes. It sends nothing to the server. Set
// ContextTimeoutEnabled in the client's options: otherwise a request waits for its ReadTimeout even if its context
// ends.
func New(client redis.UniversalClient, options Options) (*Store, error) {
	if client == nil {
		return nil, errors.New("redis: no client: give New an open one")
	}
	return newStore(client, false, options)
}

func newStore(client redis.UniversalClient, owned bool, options Options) (*Store, error) {
	prefix := cmp.Or(options.Prefix, defaultPrefix)
	if _, cluster := client.(*redis.ClusterClient); cluster && !tagged(prefix) {
		return nil, errors.New("redis: the prefix has no hash tag, such as {latchkey}: " +
			"without one a Cluster would spread the keys, which are written together")
	}
	e := newEngine(client, prefix)
	e.owned = owned
	return &Store{keyvalue.New("redis", e)}, nil
}

// tagged reports whether a prefix has a hash tag: a non-empty text between the first opening brace and the next closing
// one.
func tagged(prefix string) bool {
	_, rest, _ := strings.Cut(prefix, "{")
	return strings.Index(rest, "}") > 0
}
