package faults

import (
	"context"
	"crypto/rand"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	_ "github.com/go-sql-driver/mysql" // creates a database

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
	"github.com/latchkey-go/latchkey/storage/dynamodb"
	"github.com/latchkey-go/latchkey/storage/etcd"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/storage/mongodb"
	"github.com/latchkey-go/latchkey/storage/mysql"
	"github.com/latchkey-go/latchkey/storage/postgres"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

var named = flag.String("engines", "memory", "engines, with commas between, or all: "+strings.Join(all, ","))

var long = flag.Bool("long", false, "every mode, also where passwords are hashed")

// short are the modes without -long. For flows that hash passwords only the first one is used.
var short = []string{"error", "applied then error", "nil result", "process killed"}

var all = []string{"memory", "bbolt", "sqlite", "postgres", "mariadb", "redis", "etcd", "mongodb", "dynamodb"}

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// migrating is a store with tables.
type migrating interface {
	core.Store
	Migrate(ctx context.Context) error
}

// open opens a store on a database until the test ends. It is empty if the database becomes slower with its contents.
func open(t *testing.T, engine string) core.Store {
	t.Helper()
	var s core.Store
	var err error
	switch engine {
	case "memory":
		return memory.New()
	case "bbolt":
		s, err = bboltstore.Open(filepath.Join(t.TempDir(), "app.bolt"))
	case "sqlite":
		s, err = sqlite.Open(filepath.Join(t.TempDir(), "app.db"), sqlite.Options{})
	case "postgres":
		s, err = postgres.Open(engines.Postgres(t), postgres.Options{})
	case "mariadb":
		s, err = mysql.Open(engines.MariaDBDatabase(t), mysql.Options{})
	case "redis":
		s, err = redisstore.Open(engines.Redis(t), redisstore.Options{})
	case "etcd":
		s, err = etcd.Open(engines.Etcd(t), etcd.Options{})
	case "mongodb":
		var at *url.URL
		if at, err = url.Parse(engines.MongoDB(t)); err == nil {
			at.Path = "/t" + strings.ToLower(rand.Text())
			s, err = mongodb.Open(at.String(), mongodb.Options{})
		}
	case "dynamodb":
		s, err = dynamodb.New(awsdynamodb.New(awsdynamodb.Options{
			BaseEndpoint: aws.String(engines.DynamoDB(t)), Region: "eu-west-1",
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
			}),
		}), dynamodb.Options{Layout: dynamodb.Layout{Table: "faults"}})
	default:
		t.Fatalf("the engine %q is not known", engine)
	}
	if c, ok := s.(interface{ Close() error }); ok && err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	if err == nil {
		if m, ok := s.(migrating); ok {
			err = m.Migrate(t.Context())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}
