// Package redisstore keeps users, accounts, sessions and tokens in Redis or Valkey.
//
//	store, err := redisstore.Open("redis://localhost:6379/0")
//
// [New] takes a client of your own: one server, Sentinel or Cluster. There are no tables to make.
package redisstore

import (
	"cmp"
	"errors"
	"log/slog"
	"runtime"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// Store is a store in Redis or Valkey: a [store.Store] with all the interfaces beside it.
type Store = keyvalue.Store

// Options say how keys are named. The zero value is the default.
type Options struct {
	// Prefix begins every key; empty: "{latchkey}:". Stores with different prefixes share a database without noticing each
	// other. The braces are a hash tag, which keeps all keys on one node of a Cluster: there a prefix must have one.
	Prefix string
	// Logger is told by [Open] of a server that evicts keys; nil: [slog.Default].
	Logger *slog.Logger
}

const defaultPrefix = "{latchkey}:"

// Open returns a Store on a client of its own. url is such as "redis://user:password@localhost:6379/0", rediss for TLS,
// with the parameters that go-redis knows. It does not connect. When the first request does, the server is asked what
// it does when its memory is full: a policy that evicts keys of ours, which are users and their sessions, is a warning
// in the log. The client has up to 64 connections, or 10 for each processor where that is more; pool_size in the URL
// says otherwise. Close the Store when done. At most one Options is given.
func Open(url string, options ...Options) (*Store, error) {
	o, err := clientOptions(url)
	if err != nil {
		return nil, err
	}
	logger := slog.Default()
	for _, given := range options {
		if given.Logger != nil {
			logger = given.Logger
		}
	}
	o.OnConnect = warning(logger)
	client := redis.NewClient(o)
	s, err := newStore(client, true, options)
	if err != nil {
		_ = client.Close()
	}
	return s, err
}

// bufferSize is what a connection has to read into and to write from, in bytes: more than a session with its user.
// What is longer takes several reads. Go-redis has 32 KiB for each by itself.
const bufferSize = 4 << 10

// clientOptions are those of a client of our own. Go-redis has ten connections for each processor: where that is one,
// the eleventh visitor waits for another's answer, which costs more than a connection of these buffers.
func clientOptions(url string) (*redis.Options, error) {
	o, err := redis.ParseURL(url)
	if err != nil { // which may repeat the password
		return nil, errors.New("redis: open: the URL cannot be read: it is such as redis://user:password@localhost:6379/0")
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

// New returns a Store on an open client, which stays the caller's to close. It asks the server nothing. The client
// should have ContextTimeoutEnabled: without it a request waits for its ReadTimeout, whatever the context says. At most
// one Options is given.
func New(client redis.UniversalClient, options ...Options) (*Store, error) {
	if client == nil {
		return nil, errors.New("redis: no client: give New an open one")
	}
	return newStore(client, false, options)
}

func newStore(client redis.UniversalClient, owned bool, options []Options) (*Store, error) {
	if len(options) > 1 {
		return nil, errors.New("redis: more than one Options: a store has one prefix")
	}
	prefix := defaultPrefix
	for _, o := range options {
		prefix = cmp.Or(o.Prefix, prefix)
	}
	if _, cluster := client.(*redis.ClusterClient); cluster && !tagged(prefix) {
		return nil, errors.New("redis: the prefix has no hash tag, such as {latchkey}: " +
			"without one a Cluster would spread the keys, which are written together")
	}
	e := newEngine(client, prefix)
	e.owned = owned
	return keyvalue.New("redis", e), nil
}

// tagged reports whether a prefix has a hash tag: something between the first brace and the next that closes.
func tagged(prefix string) bool {
	_, rest, _ := strings.Cut(prefix, "{")
	return strings.Index(rest, "}") > 0
}
