package mongodb_test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/mongodb"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// connect returns a client until the test ends.
func connect(t testing.TB, url string, more ...func(*options.ClientOptions)) *mongo.Client {
	t.Helper()
	o := options.Client().ApplyURI(url)
	for _, change := range more {
		change(o)
	}
	client, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.WithoutCancel(t.Context())) })
	return client
}

// database creates an empty database for one test.
func database(t testing.TB, url string, more ...func(*options.ClientOptions)) *mongo.Database {
	t.Helper()
	db := connect(t, url, more...).Database("t" + strings.ToLower(rand.Text()))
	t.Cleanup(func() { _ = db.Drop(context.WithoutCancel(t.Context())) })
	return db
}

// open migrates a store on a database.
func open(t testing.TB, db *mongo.Database) *mongodb.Store { return openWith(t, db, mongodb.Options{}) }

func openWith(t testing.TB, db *mongo.Database, options mongodb.Options) *mongodb.Store {
	t.Helper()
	s, err := mongodb.New(db, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// emptied opens one store for all cases of a contract, because creating collections and indexes takes longer than most
// cases.
func emptied(t *testing.T, options mongodb.Options) func(t *testing.T) core.Store {
	t.Helper()
	db := database(t, engines.MongoDB(t))
	s := openWith(t, db, options)
	return func(t *testing.T) core.Store {
		t.Helper()
		empty(t, db)
		return s
	}
}

// empty deletes all documents of a database.
func empty(t *testing.T, db *mongo.Database) {
	t.Helper()
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLarge has fewer rows than on other databases, because FerretDB reads a whole collection for each page.
func TestLarge(t *testing.T) { storetest.Large(t, emptied(t, mongodb.Options{})(t), 3000, 0) }

func TestContract(t *testing.T) {
	storetest.Run(t, emptied(t, mongodb.Options{}))
	t.Logf("mongodb: %d cases", storetest.Count())
}

func TestSealed(t *testing.T) { dbtest.Sealed(t, (*mongodb.Store)(nil)) }
