// Package mongodb keeps users, accounts, sessions and tokens in MongoDB 5 or later, in the collections of Auth.js's
// adapter.
//
//	store, err := mongodb.Open("mongodb://localhost/app")
//	if err == nil {
//		err = store.Migrate(ctx)
//	}
//
// [New] takes a database of a client of your own. Users have ids of MongoDB, as 24 hexadecimal digits. No transactions
// are used, so a server without a replica set will do.
//
// A session holds a copy of its user, so that both are read by one query: copies.go says why no copy is ever out of
// date.
package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/latchkey-go/latchkey/core/store"
)

// Layout names the collections. Those that are empty have the names of Auth.js's MongoDB adapter.
type Layout struct {
	Users              string // "users"
	Accounts           string // "accounts"
	Sessions           string // "sessions"
	VerificationTokens string // "verification_tokens"
	Authenticators     string // "authenticators": passkeys, which the adapter does not know
	Records            string // "latchkey_records": records of parts, which it does not know either
}

// Store is a store in MongoDB. It is safe for concurrent use; make it with [Open] or [New]. It reads from the primary
// and writes with the concern "majority", whatever the client's settings are.
type Store struct {
	*collections
	copies
	userStore
	accountStore
	sessionStore
	tokenStore
	authenticatorStore
	recordStore
	cleaner

	own *mongo.Client // nil: the caller's
}

var (
	_ store.SessionStore           = (*Store)(nil)
	_ store.VerificationTokenStore = (*Store)(nil)
	_ store.AuthenticatorStore     = (*Store)(nil)
	_ store.AuthenticatorDeleter   = (*Store)(nil)
	_ store.AccountStore           = (*Store)(nil)
	_ store.UserDeleter            = (*Store)(nil)
	_ store.EmailLister            = (*Store)(nil)
	_ store.SessionLister          = (*Store)(nil)
	_ store.Cleaner                = (*Store)(nil)
	_ store.RecordStore            = (*Store)(nil)
)

// Open returns a Store with a client of its own, for the database that the URL names. It does not connect: Migrate is
// the first call that does. Close it when done. At most one layout is given.
func Open(url string, layout ...Layout) (*Store, error) {
	parsed, err := connstring.Parse(url)
	if err != nil {
		// The cause may hold the password.
		return nil, errors.New("mongodb: open: this is no URL of MongoDB, mongodb://host/database")
	}
	if parsed.Database == "" {
		return nil, errors.New("mongodb: open: the URL names no database: mongodb://host/database")
	}
	client, err := mongo.Connect(options.Client().ApplyURI(url).SetAppName("latchkey"))
	if err != nil {
		return nil, fmt.Errorf("mongodb: open: %w", err)
	}
	s, err := New(client.Database(parsed.Database), layout...)
	if err != nil {
		_ = client.Disconnect(context.Background())
		return nil, err
	}
	s.own = client
	return s, nil
}

// New returns a Store on a database of a client that stays the caller's to disconnect. It asks the engine nothing. At
// most one layout is given.
func New(db *mongo.Database, layout ...Layout) (*Store, error) {
	if db == nil {
		return nil, errors.New("mongodb: no database: give New the result of client.Database")
	}
	var l Layout
	switch len(layout) {
	case 0:
	case 1:
		l = layout[0]
	default:
		return nil, errors.New("mongodb: more than one layout")
	}
	collection := func(name, usual string) *mongo.Collection {
		if name == "" {
			name = usual
		}
		o := options.Collection().SetReadPreference(readpref.Primary()).SetWriteConcern(writeconcern.Majority())
		return db.Collection(name, o)
	}
	all := &collections{
		users: collection(l.Users, "users"), accounts: collection(l.Accounts, "accounts"),
		sessions: collection(l.Sessions, "sessions"), tokens: collection(l.VerificationTokens, "verification_tokens"),
		authenticators: collection(l.Authenticators, "authenticators"), records: collection(l.Records, "latchkey_records"),
	}
	changes := copies{all}
	return &Store{
		collections: all, copies: changes,
		userStore: userStore{changes}, accountStore: accountStore{all}, sessionStore: sessionStore{changes},
		tokenStore: tokenStore{all}, authenticatorStore: authenticatorStore{all}, recordStore: recordStore{all},
		cleaner: cleaner{all},
	}, nil
}

// Close disconnects a client that Open made; one that was given to New is left alone.
func (s *Store) Close() error {
	if s.own == nil {
		return nil
	}
	if err := s.own.Disconnect(context.Background()); err != nil && !errors.Is(err, mongo.ErrClientDisconnected) {
		return fmt.Errorf("mongodb: close: %w", err)
	}
	return nil
}

// RefreshSessions brings the sessions of a user up to date after another program has changed the user's document:
// sessions show the user as this package last wrote it. UpdateUser needs no such call. ErrNotFound: there is no such
// user.
func (s *Store) RefreshSessions(ctx context.Context, userID string) error {
	const operation = "refresh sessions"
	id, err := objectID(userID)
	if err != nil {
		return none(ctx, operation)
	}
	err = s.change(ctx, id, func(bson.Raw) (set, unset bson.D, err error) { return nil, nil, nil })
	return failed(ctx, operation, err)
}
