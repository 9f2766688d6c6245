package people_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/conformance/rig/tables"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/internal/recoverycode"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
	"github.com/latchkey-go/latchkey/storage/dynamodb"
	"github.com/latchkey-go/latchkey/storage/etcd"
	"github.com/latchkey-go/latchkey/storage/hosted"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/storage/mongodb"
	"github.com/latchkey-go/latchkey/storage/mysql"
	"github.com/latchkey-go/latchkey/storage/postgres"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

func TestMain(m *testing.M) {
	recoverycode.Rounds = 10 // with 10,000, hashing would take a tenth of the CPU time
	if text := os.Getenv(answering); text != "" {
		os.Exit(answerOne(text))
	}
	if text := os.Getenv(emitting); text != "" {
		os.Exit(emitOne(text))
	}
	if text := os.Getenv(guestEnding); text != "" {
		os.Exit(endGuest(text))
	}
	code := engines.Main(m)
	_ = os.RemoveAll(mortalFolder)
	os.Exit(code)
}

// place is a test's own data in a database. Another process can open the same store with it.
type place struct {
	Address, Name string
	// Migrated is set if the store's tables exist.
	Migrated bool
}

// engine is a kind of database.
type engine struct {
	name string
	// place returns a new empty place.
	place func(t testing.TB) place
	// open opens the store of a place, and creates its tables unless they exist.
	open func(ctx context.Context, at place) (closing, error)
	// alone is set if only one process at a time can open a place.
	alone bool
}

// closing is a store with a function that closes it.
type closing struct {
	core.Store
	close func() error
}

// stores are the databases.
var stores = []engine{
	{name: "memory", place: func(testing.TB) place { return place{} },
		open: func(context.Context, place) (closing, error) {
			return closing{memory.New(), func() error { return nil }}, nil
		}},
	{name: "sqlite", place: file, open: func(ctx context.Context, at place) (closing, error) {
		s, err := sqlite.Open(at.Address, sqlite.Options{})
		return migrated(ctx, at, s, err)
	}},
	{name: "postgres", place: func(t testing.TB) place { return place{Address: engines.PostgresSchema(t)} },
		open: func(ctx context.Context, at place) (closing, error) {
			s, err := postgres.Open(at.Address, postgres.Options{})
			return migrated(ctx, at, s, err)
		}},
	{name: "mariadb", place: func(t testing.TB) place { return place{Address: engines.MariaDBDatabase(t)} },
		open: func(ctx context.Context, at place) (closing, error) {
			s, err := mysql.Open(at.Address, mysql.Options{})
			return migrated(ctx, at, s, err)
		}},
	{name: "redis", place: func(t testing.TB) place {
		return place{Address: engines.Redis(t), Name: "{" + rand.Text() + "}:"}
	},
		open: func(_ context.Context, at place) (closing, error) {
			s, err := redisstore.Open(at.Address, redisstore.Options{Prefix: at.Name})
			return opened(s, err)
		}},
	{name: "etcd", place: func(t testing.TB) place { return place{Address: engines.Etcd(t), Name: rand.Text() + "/"} },
		open: func(_ context.Context, at place) (closing, error) {
			s, err := etcd.Open(at.Address, etcd.Options{Prefix: at.Name})
			return opened(s, err)
		}},
	{name: "bbolt", place: file, alone: true, open: func(_ context.Context, at place) (closing, error) {
		s, err := bboltstore.Open(at.Address)
		return opened(s, err)
	}},
	{name: "mongodb", place: func(t testing.TB) place {
		return place{Address: engines.MongoDB(t), Name: "t" + strings.ToLower(rand.Text())}
	}, open: openMongoDB},
	{name: "dynamodb", place: func(t testing.TB) place {
		return place{Address: engines.DynamoDB(t), Name: "t" + rand.Text()}
	}, open: openDynamoDB},
	// The real service cannot be installed. This server implements the service's documentation.
	{name: "hosted", place: func(t testing.TB) place {
		return place{Address: tables.New(t, "svc_").URL + tables.Path, Name: tables.Branch}
	},
		open: func(_ context.Context, at place) (closing, error) {
			s, err := hosted.New(hosted.Config{DatabaseURL: at.Address, Branch: at.Name, APIKey: tables.APIKey})
			return closing{s, func() error { return nil }}, err
		}},
}

func file(t testing.TB) place { return place{Address: filepath.Join(t.TempDir(), "people.db")} }

// empty opens an empty store until the test ends.
func (e engine) empty(t testing.TB) core.Store {
	t.Helper()
	s, err := e.open(t.Context(), e.place(t))
	check(t, err)
	t.Cleanup(func() { _ = s.close() })
	return s.Store
}

// start opens the store of a new place until the test ends.
//
// A test with many flows has a place for each of them. FerretDB reads all documents of a collection for most queries,
// so that flows with a common place would need four times as much CPU time.
func (e engine) start(t *testing.T) (place, *closing) {
	t.Helper()
	at := e.place(t)
	s, err := e.open(t.Context(), at)
	check(t, err)
	t.Cleanup(func() { _ = s.close() })
	at.Migrated = true
	return at, &s
}

func opened[S interface {
	core.Store
	Close() error
}](s S, err error) (closing, error) {
	return closing{s, s.Close}, err
}

// migrated opens the store of a place, and creates its tables unless they exist.
func migrated[S interface {
	core.Store
	Close() error
	Migrate(ctx context.Context) error
}](ctx context.Context, at place, s S, err error) (closing, error) {
	if err == nil && !at.Migrated {
		err = s.Migrate(ctx)
	}
	return closing{s, s.Close}, err
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openMongoDB(ctx context.Context, at place) (closing, error) {
	client, err := mongo.Connect(options.Client().ApplyURI(at.Address))
	if err != nil {
		return closing{}, err
	}
	s, err := mongodb.New(client.Database(at.Name), mongodb.Options{})
	if err == nil && !at.Migrated {
		err = s.Migrate(ctx)
	}
	return closing{s, func() error { return client.Disconnect(context.WithoutCancel(ctx)) }}, err
}

func openDynamoDB(ctx context.Context, at place) (closing, error) {
	client := awsdynamodb.New(awsdynamodb.Options{
		BaseEndpoint: aws.String(at.Address), Region: "eu-west-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	})
	s, err := dynamodb.New(client, dynamodb.Options{Layout: dynamodb.Layout{Table: at.Name}})
	if err == nil && !at.Migrated {
		err = s.Migrate(ctx)
	}
	return closing{s, func() error { return nil }}, err
}

// onEachStore runs a test on the store of each database with both strategies. The store has the user ada.
func onEachStore(t *testing.T, run func(t *testing.T, kept core.Store, strategy core.Strategy, ada *core.User)) {
	t.Helper()
	for _, engine := range stores {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(engine.name+", "+string(strategy), func(t *testing.T) {
				t.Parallel()
				kept := engine.empty(t)
				ada, err := kept.CreateUser(t.Context(), &core.User{
					ID: core.NewID(), Email: "ada@example.com", EmailVerified: time.Now().UTC().Truncate(time.Second),
				})
				check(t, err)
				run(t, kept, strategy, ada)
			})
		}
	}
}
