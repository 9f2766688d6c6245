package people_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	driver "github.com/go-sql-driver/mysql"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/dynamodb"
	"github.com/latchkey-go/latchkey/storage/etcd"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/storage/mongodb"
	"github.com/latchkey-go/latchkey/storage/mysql"
	"github.com/latchkey-go/latchkey/storage/postgres"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// stores open an empty store of each engine.
var stores = []struct {
	name string
	open func(t *testing.T) core.Store
}{
	{"memory", func(*testing.T) core.Store { return memory.New() }},
	{"sqlite", func(t *testing.T) core.Store {
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "people.db"))
		return migrated(t, s, err)
	}},
	{"postgres", func(t *testing.T) core.Store {
		s, err := postgres.Open(engines.Postgres(t))
		return migrated(t, s, err)
	}},
	{"mariadb", openMariaDB},
	{"redis", func(t *testing.T) core.Store {
		s, err := redisstore.Open(engines.Redis(t), redisstore.Options{Prefix: "{" + rand.Text() + "}:"})
		return closed(t, s, err)
	}},
	{"etcd", func(t *testing.T) core.Store {
		s, err := etcd.Open(engines.Etcd(t), etcd.Options{Prefix: rand.Text() + "/"})
		return closed(t, s, err)
	}},
	{"mongodb", openMongoDB},
	{"dynamodb", openDynamoDB},
}

// closed closes a store when the test ends.
func closed[S interface {
	core.Store
	Close() error
}](t *testing.T, s S, err error) core.Store {
	t.Helper()
	check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// migrated makes the tables of a store too.
func migrated[S interface {
	core.Store
	Close() error
	Migrate(ctx context.Context) error
}](t *testing.T, s S, err error) core.Store {
	t.Helper()
	store := closed(t, s, err)
	check(t, s.Migrate(t.Context()))
	return store
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openMariaDB(t *testing.T) core.Store {
	config, err := driver.ParseDSN(engines.MariaDB(t))
	check(t, err)
	name := "t" + strings.ToLower(rand.Text())
	db, err := sql.Open("mysql", config.FormatDSN())
	check(t, err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(t.Context(), "CREATE DATABASE "+name)
	check(t, err)
	config.DBName = name
	s, err := mysql.Open(config.FormatDSN())
	return migrated(t, s, err)
}

func openMongoDB(t *testing.T) core.Store {
	client, err := mongo.Connect(options.Client().ApplyURI(engines.MongoDB(t)))
	check(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.WithoutCancel(t.Context())) })
	s, err := mongodb.New(client.Database("t" + strings.ToLower(rand.Text())))
	check(t, err)
	check(t, s.Migrate(t.Context()))
	return s
}

func openDynamoDB(t *testing.T) core.Store {
	client := awsdynamodb.New(awsdynamodb.Options{
		BaseEndpoint: aws.String(engines.DynamoDB(t)), Region: "eu-west-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	})
	s, err := dynamodb.New(client, dynamodb.Layout{Table: "t" + rand.Text()})
	check(t, err)
	check(t, s.Migrate(t.Context()))
	return s
}
