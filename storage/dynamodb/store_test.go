package dynamodb_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/dynamodb"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// connect returns a client of a server. through sends the requests; nil means the default.
func connect(url string, through http.RoundTripper, more ...func(*awsdynamodb.Options)) *awsdynamodb.Client {
	o := awsdynamodb.Options{
		BaseEndpoint: aws.String(url), Region: "eu-west-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}
	if through != nil {
		o.HTTPClient = &http.Client{Transport: through}
	}
	return awsdynamodb.New(o, more...)
}

// table returns a layout with a separate table for one test.
func table(t testing.TB, client *awsdynamodb.Client) dynamodb.Layout {
	t.Helper()
	name := "t" + rand.Text()
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		// The table may not exist.
		_, _ = client.DeleteTable(ctx, &awsdynamodb.DeleteTableInput{TableName: &name})
	})
	return dynamodb.Layout{Table: name}
}

// open migrates a store.
func open(t testing.TB, client *awsdynamodb.Client, layout dynamodb.Layout) *dynamodb.Store {
	t.Helper()
	s, err := dynamodb.New(client, dynamodb.Options{Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// fresh returns a store on an empty table.
func fresh(t testing.TB) *dynamodb.Store {
	t.Helper()
	client := connect(engines.DynamoDB(t), nil)
	return open(t, client, table(t, client))
}

// crowd is the case that the README excludes: changes of one user run one after another, each with a write for every
// session.
const crowd = "sign-in/one person on 32 devices at once, by mail"

// TestLarge has fewer rows than on other databases, because creating a user takes two requests.
func TestLarge(t *testing.T) { storetest.Large(t, fresh(t), 2000, 0) }

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return fresh(t) }, crowd)
	t.Logf("dynamodb: %d cases", storetest.Count())
}

func TestSealed(t *testing.T) { dbtest.Sealed(t, (*dynamodb.Store)(nil)) }

// TestNotMigrated checks that the error without Migrate says what to call.
func TestNotMigrated(t *testing.T) {
	client := connect(engines.DynamoDB(t), nil)
	s, err := dynamodb.New(client, dynamodb.Options{Layout: table(t, client)})
	if err != nil {
		t.Fatal(err)
	}
	_, _, read := s.SessionAndUser(t.Context(), "s")
	_, list := s.Sessions(t.Context(), "u")
	_, write := s.CreateUser(t.Context(), &core.User{ID: "u", Email: "ada@example.com"})
	for operation, err := range map[string]error{"read session": read, "list sessions": list, "create user": write} {
		if err == nil || !strings.HasPrefix(err.Error(), "dynamodb: "+operation+": ") ||
			!strings.Contains(err.Error(), "call store.Migrate(ctx)") {
			t.Errorf("%s: error %v", operation, err)
		}
	}
}
