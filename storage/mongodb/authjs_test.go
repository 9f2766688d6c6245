package mongodb_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/mongodb"
)

var (
	at  = bson.NewDateTimeFromTime(dbtest.ExistingTime)
	ada = bson.ObjectID{0x65, 0x1f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xab}
	eve = bson.ObjectID{0x65, 0x1f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xac}
)

func insert(t *testing.T, c *mongo.Collection, documents ...any) {
	t.Helper()
	if _, err := c.InsertMany(t.Context(), documents); err != nil {
		t.Fatal(err)
	}
}

// authJS fills a database like @auth/mongodb-adapter. The JavaScript driver writes small integers as int32, others as
// double.
func authJS(t *testing.T, db *mongo.Database) {
	t.Helper()
	insert(t, db.Collection("users"),
		bson.D{{Key: "_id", Value: ada}, {Key: "name", Value: "Ada"}, {Key: "email", Value: "ada@example.com"},
			{Key: "image", Value: nil}, {Key: "emailVerified", Value: at}},
		// Two users without an address.
		bson.D{{Key: "_id", Value: eve}, {Key: "name", Value: "Eve"}, {Key: "emailVerified", Value: nil},
			{Key: "createdAt", Value: at}, {Key: "score", Value: 1.5},
			{Key: "settings", Value: bson.D{{Key: "theme", Value: "dark"}, {Key: "since", Value: at}}},
			{Key: "tags", Value: bson.A{"a", int32(7)}}},
		bson.D{{Key: "name", Value: "Bob"}, {Key: "emailVerified", Value: nil}},
	)
	insert(t, db.Collection("accounts"), bson.D{
		{Key: "access_token", Value: "at"}, {Key: "token_type", Value: "bearer"}, {Key: "scope", Value: "user"},
		{Key: "expires_at", Value: int32(1893456000)}, {Key: "provider", Value: "github"}, {Key: "type", Value: "oauth"},
		{Key: "providerAccountId", Value: "4711"}, {Key: "userId", Value: ada},
	})
	insert(t, db.Collection("sessions"),
		bson.D{{Key: "sessionToken", Value: "s1"}, {Key: "userId", Value: ada}, {Key: "expires", Value: at}},
		bson.D{{Key: "sessionToken", Value: "eve's"}, {Key: "userId", Value: eve}, {Key: "expires", Value: at}},
	)
	insert(t, db.Collection("verification_tokens"), bson.D{
		{Key: "identifier", Value: "ada@example.com"}, {Key: "token", Value: "hash"}, {Key: "expires", Value: at},
	})
}

func TestAuthJS(t *testing.T) {
	db := database(t, engines.MongoDB(t))
	authJS(t, db)
	s := open(t, db)
	// Migrate has added a copy of its user to every session.
	bare := bson.D{{Key: "user", Value: bson.D{{Key: "$exists", Value: false}}}}
	n, err := db.Collection("sessions").CountDocuments(t.Context(), bare)
	if err != nil || n != 0 {
		t.Errorf("%d sessions without a copy, error %v", n, err)
	}
	dbtest.CheckExisting(t, s, dbtest.Existing{UserID: ada.Hex(), Session: "s1"})
	if err := s.Migrate(t.Context()); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// TestAlongsideAuthJS uses a session that Auth.js creates while both programs run: it is read with two queries.
func TestAlongsideAuthJS(t *testing.T) {
	db := database(t, engines.MongoDB(t))
	s := open(t, db)
	authJS(t, db)
	dbtest.CheckExisting(t, s, dbtest.Existing{UserID: ada.Hex(), Session: "s1"})
}

// TestOwnFields uses an application's own fields of users: they are members, and keep their types.
func TestOwnFields(t *testing.T) {
	db := database(t, engines.MongoDB(t))
	authJS(t, db)
	s := open(t, db)
	u, err := s.User(t.Context(), eve.Hex())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"createdAt": `"2030-01-02T03:04:05.678Z"`, "score": "1.5", "tags": `["a",7]`,
		"settings": `{"theme":"dark","since":"2030-01-02T03:04:05.678Z"}`,
	} {
		if string(u.Extra[name]) != want {
			t.Errorf("%s is %s, want %s", name, u.Extra[name], want)
		}
	}
	delete(u.Extra, "tags")
	u.Extra["score"] = []byte("2.5")
	if u, err = s.UpdateUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if string(u.Extra["score"]) != "2.5" || u.Extra["tags"] != nil {
		t.Errorf("members %s", u.Extra)
	}
	raw, err := db.Collection("users").FindOne(t.Context(), bson.D{{Key: "_id", Value: eve}}).Raw()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bson.Type{
		"createdAt": bson.TypeDateTime, "score": bson.TypeDouble, "settings": bson.TypeEmbeddedDocument, "tags": 0,
	} {
		if got := raw.Lookup(name).Type; got != want {
			t.Errorf("the field %s is a %v, want %v", name, got, want)
		}
	}
}

// TestRefreshSessions changes a user's document like another program.
func TestRefreshSessions(t *testing.T) {
	db := database(t, engines.MongoDB(t))
	authJS(t, db)
	s := open(t, db)
	role := bson.D{{Key: "$set", Value: bson.D{{Key: "role", Value: "admin"}}}}
	if _, err := db.Collection("users").UpdateOne(t.Context(), bson.D{{Key: "_id", Value: ada}}, role); err != nil {
		t.Fatal(err)
	}
	if err := s.RefreshSessions(t.Context(), ada.Hex()); err != nil {
		t.Fatal(err)
	}
	_, u, err := s.SessionAndUser(t.Context(), "s1")
	if err != nil || u.Extra.Text("role") != "admin" {
		t.Errorf("user %v, error %v", u, err)
	}
}

// TestDuplicates uses documents that violate a unique index.
func TestDuplicates(t *testing.T) {
	db := database(t, engines.MongoDB(t))
	user := bson.D{{Key: "email", Value: "ada@example.com"}}
	insert(t, db.Collection("users"), user, user)
	s, err := mongodb.New(db, mongodb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "mongodb: migrate: index [email] of the collection users: "
	if !engines.IsFerretDB() { // FerretDB has no error code for it
		want += "documents violate a unique index: remove the duplicates"
	}
	err = s.Migrate(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "ada@") {
		t.Errorf("error %v", err)
	}
}

// TestForeignIndex uses a unique index with another name.
func TestForeignIndex(t *testing.T) {
	db := database(t, engines.MongoDB(t))
	model := mongo.IndexModel{Keys: bson.D{{Key: "sessionToken", Value: 1}}, Options: uniqueNamed("by_token")}
	if _, err := db.Collection("sessions").Indexes().CreateOne(t.Context(), model); err != nil {
		t.Fatal(err)
	}
	s := open(t, db)
	if _, _, err := s.SessionAndUser(t.Context(), "none"); err == nil {
		t.Error("a session of nobody")
	}
	list, err := db.Collection("sessions").Indexes().ListSpecifications(t.Context())
	if err != nil || len(list) != 4 { // of _id, by_token, userId, expires
		t.Errorf("%d indexes, error %v", len(list), err)
	}
}

func uniqueNamed(name string) *options.IndexOptionsBuilder {
	return options.Index().SetUnique(true).SetName(name)
}
