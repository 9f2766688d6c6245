// Package mongodb stores users, accounts, sessions and tokens in MongoDB 5 or later, in the collections of Auth.js's
// adapter.
//
//	store, err := mongodb.Open("mongodb://localhost/app", mongodb.Options{})
//	if err == nil {
//		err = store.Migrate(ctx)
//	}
//
// [New] uses a database of your own client. User IDs are ObjectIDs, as 24 hexadecimal digits. The store uses no
// transactions, so the server needs no replica set.
//
// A session contains a copy of its user, so that one query reads both. copies.go explains why a copy is never outdated.
package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	mongooptions "go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/latchkey-go/latchkey/core/store"
)

// Options are the settings of a Store. The zero value is valid.
type Options struct {
	// Layout names the collections. The default is the layout of Auth.js's MongoDB adapter.
	Layout Layout
}

// Layout names the collections. The defaults are the names of Auth.js's MongoDB adapter.
type Layout struct {
	Users              string // "users"
	Accounts           string // "accounts"
	Sessions           string // "sessions"
	VerificationTokens string // "verification_tokens"
	Authenticators     string // "authenticators": passkeys, unknown to the adapter
	Records            string // "latchkey_records": plugin records, unknown to the adapter
}

// Store is a store in MongoDB. It is safe for concurrent use. Create it with [Open] or [New]. It reads from the primary
// and writes with the concern "majority", regardless of the client's settings.
type Store struct {
	users, accounts, sessions, tokens, authenticators, records *mongo.Collection

	own *mongo.Client // nil if the caller owns the client
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
	_ store.RecordLister           = (*Store)(nil)
	_ store.RecordPairReader       = (*Store)(nil)
	_ store.UserFinder             = (*Store)(nil)
)

// Open returns a Store with its own client, for the database in the URL. Open does not connect: Migrate is the first
// call that does. Close the Store when done.
func Open(url string, options Options) (*Store, error) {
	parsed, err := connstring.Parse(url)
	if err != nil {
		// The cause may contain the password.
		return nil, errors.New("mongodb: open: not a MongoDB URL, such as mongodb://host/database")
	}
	if parsed.Database == "" {
		return nil, errors.New("mongodb: open: the URL names no database: mongodb://host/database")
	}
	client, err := mongo.Connect(mongooptions.Client().ApplyURI(url).SetAppName("latchkey"))
	if err != nil {
		return nil, fmt.Errorf("mongodb: open: %w", err)
	}
	s, err := New(client.Database(parsed.Database), options)
	if err != nil {
		_ = client.Disconnect(context.Background())
		return nil, err
	}
	s.own = client
	return s, nil
}

// New returns a Store on a database of the caller's client, which the caller disconnects. It sends nothing to the
// database.
func New(db *mongo.Database, options Options) (*Store, error) {
	if db == nil {
		return nil, errors.New("mongodb: no database: give New the result of client.Database")
	}
	l := options.Layout
	collection := func(name, usual string) *mongo.Collection {
		if name == "" {
			name = usual
		}
		o := mongooptions.Collection().SetReadPreference(readpref.Primary()).SetWriteConcern(writeconcern.Majority())
		return db.Collection(name, o)
	}
	return &Store{
		users: collection(l.Users, "users"), accounts: collection(l.Accounts, "accounts"),
		sessions: collection(l.Sessions, "sessions"), tokens: collection(l.VerificationTokens, "verification_tokens"),
		authenticators: collection(l.Authenticators, "authenticators"), records: collection(l.Records, "latchkey_records"),
	}, nil
}

// Close disconnects the client if Open created it. A client passed to New stays connected.
func (s *Store) Close() error {
	if s.own == nil {
		return nil
	}
	if err := s.own.Disconnect(context.Background()); err != nil && !errors.Is(err, mongo.ErrClientDisconnected) {
		return fmt.Errorf("mongodb: close: %w", err)
	}
	return nil
}

// RefreshSessions updates the sessions of a user after another program has changed the user's document. Until then,
// sessions return the user as this package last wrote it. After UpdateUser it is not needed. It returns ErrNotFound if
// the user does not exist.
func (s *Store) RefreshSessions(ctx context.Context, userID string) error {
	const operation = "refresh sessions"
	id, err := objectID(userID)
	if err != nil {
		return none(ctx, operation)
	}
	err = s.change(ctx, id, func(bson.Raw) (set, unset bson.D, err error) { return nil, nil, nil })
	return failed(ctx, operation, err)
}
