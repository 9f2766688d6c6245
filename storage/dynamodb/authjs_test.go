package dynamodb_test

import (
	"strings"
	"testing"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/dynamodb"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
)

type item = map[string]types.AttributeValue

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

var null = &types.AttributeValueMemberNULL{Value: true}

const ada = "0a1b2c3d-0000-4000-8000-000000000001"

// authJS returns the items of @auth/dynamodb-adapter. Expiries are seconds with a fraction, because JavaScript divides
// by 1000.
func authJS() []item {
	return []item{
		{"pk": s("USER#" + ada), "sk": s("USER#" + ada), "id": s(ada), "type": s("USER"), "name": s("Ada"),
			"email": s("ada@example.com"), "image": null, "emailVerified": s("2030-01-02T03:04:05.678Z"),
			"GSI1PK": s("USER#ada@example.com"), "GSI1SK": s("USER#ada@example.com"),
			"roles": &types.AttributeValueMemberSS{Value: []string{"admin"}}},
		{"pk": s("USER#" + ada), "sk": s("ACCOUNT#github#4711"), "id": s("8d6e"), "userId": s(ada),
			"GSI1PK": s("ACCOUNT#github"), "GSI1SK": s("ACCOUNT#4711"),
			"type": s("oauth"), "provider": s("github"), "providerAccountId": s("4711"), "access_token": s("at"),
			"token_type": s("bearer"), "scope": s("user"), "expires_at": n("1893456000")},
		{"pk": s("USER#" + ada), "sk": s("SESSION#s1"), "GSI1PK": s("SESSION#s1"), "GSI1SK": s("SESSION#s1"),
			"type": s("SESSION"), "sessionToken": s("s1"), "userId": s(ada), "expires": n("1893553445.678")},
		{"pk": s("VT#ada@example.com"), "sk": s("VT#hash"), "type": s("VT"), "identifier": s("ada@example.com"),
			"token": s("hash"), "expires": n("1893553445.678")},
	}
}

// filled returns a store on a table with items of another program.
func filled(t *testing.T, items ...item) (*dynamodb.Store, *awsdynamodb.Client, dynamodb.Layout) {
	t.Helper()
	client := connect(engines.DynamoDB(t), nil)
	layout := table(t, client)
	store := open(t, client, layout)
	for _, of := range items {
		if _, err := client.PutItem(t.Context(), &awsdynamodb.PutItemInput{TableName: &layout.Table, Item: of}); err != nil {
			t.Fatal(err)
		}
	}
	return store, client, layout
}

func TestAuthJS(t *testing.T) {
	store, _, _ := filled(t, authJS()...)
	for range 2 {
		if err := store.AdoptAuthJS(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	dbtest.CheckExisting(t, store, dbtest.Existing{UserID: ada, Session: "s1"})
	if err := store.AdoptAuthJS(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAdoptEnds interrupts AdoptAuthJS before each of its requests, and calls it again.
func TestAdoptEnds(t *testing.T) {
	for at, reached := 0, true; reached; at++ {
		if at > 50 {
			t.Fatal("it does not come to its end")
		}
		store, _, layout := filled(t, authJS()...)
		var st stage
		ends, err := dynamodb.New(connect(engines.DynamoDB(t), &st, noRetries), dynamodb.Options{Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		requests := 0
		st.watch(func(dbtest.Request) (bool, error) {
			if requests++; requests > at {
				return false, errEnds
			}
			return false, nil
		})
		reached = ends.AdoptAuthJS(t.Context()) != nil
		if err := store.AdoptAuthJS(t.Context()); err != nil {
			t.Fatal(err)
		}
		dbtest.CheckExisting(t, store, dbtest.Existing{UserID: ada, Session: "s1"})
		if t.Failed() {
			t.Fatalf("at request %d", at)
		}
	}
}

// TestGoBack runs the index queries of Auth.js's adapter after this package has written.
func TestGoBack(t *testing.T) {
	store, client, layout := filled(t, authJS()...)
	if err := store.AdoptAuthJS(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, keys := range [][2]string{
		{"USER#ada@example.com", "USER#ada@example.com"}, {"ACCOUNT#github", "ACCOUNT#4711"}, {"SESSION#s1", "SESSION#s1"},
	} {
		index, condition := "GSI1", "GSI1PK = :pk AND GSI1SK = :sk"
		out, err := client.Query(t.Context(), &awsdynamodb.QueryInput{
			TableName: &layout.Table, IndexName: &index, KeyConditionExpression: &condition,
			ExpressionAttributeValues: item{":pk": s(keys[0]), ":sk": s(keys[1])},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Items) != 1 {
			t.Errorf("%d items for %s", len(out.Items), keys[0])
		}
	}
}

// TestOwnAttributes uses an application's own attributes of users: they are members, and keep their types.
func TestOwnAttributes(t *testing.T) {
	store, client, layout := filled(t, authJS()...)
	u, err := store.User(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	if string(u.Extra["roles"]) != `["admin"]` {
		t.Errorf("members %s", u.Extra)
	}
	u.Name = "Ada L."
	if _, err := store.UpdateUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	out, err := client.GetItem(t.Context(), &awsdynamodb.GetItemInput{
		TableName: &layout.Table, Key: item{"pk": s("USER#" + ada), "sk": s("USER#" + ada)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := out.Item["roles"].(*types.AttributeValueMemberSS); !ok {
		t.Errorf("the attribute roles is a %T", out.Item["roles"])
	}
}

// TestRefreshSessions changes a user's item like another program.
func TestRefreshSessions(t *testing.T) {
	store, client, layout := filled(t, authJS()...)
	if err := store.AdoptAuthJS(t.Context()); err != nil {
		t.Fatal(err)
	}
	set := "SET #r = :r"
	_, err := client.UpdateItem(t.Context(), &awsdynamodb.UpdateItemInput{
		TableName: &layout.Table, Key: item{"pk": s("USER#" + ada), "sk": s("USER#" + ada)}, UpdateExpression: &set,
		ExpressionAttributeNames: map[string]string{"#r": "role"}, ExpressionAttributeValues: item{":r": s("admin")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.RefreshSessions(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	_, u, err := store.SessionAndUser(t.Context(), "s1")
	if err != nil || u.Extra.Text("role") != "admin" {
		t.Errorf("user %v, error %v", u, err)
	}
}

// TestDuplicates uses two users with one address.
func TestDuplicates(t *testing.T) {
	other := authJS()[0]
	other["pk"], other["sk"], other["id"] = s("USER#other"), s("USER#other"), s("other")
	store, _, _ := filled(t, authJS()[0], other)
	err := store.AdoptAuthJS(t.Context())
	if err == nil || !strings.Contains(err.Error(), "1 items have an email address or account of another item") ||
		strings.Contains(err.Error(), "ada@") {
		t.Errorf("error %v", err)
	}
}
