package mongodb_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestReadme checks that the README lists every field that the store writes.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if columns := strings.Split(line, "|"); len(columns) > 3 {
			rows[strings.Trim(columns[1], " `")] = columns[2]
		}
	}
	db := database(t, engines.MongoDB(t))
	s := open(t, db)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	u, err := s.CreateUser(t.Context(), &core.User{Email: "ada@example.com"})
	must(err)
	account := &core.Account{UserID: u.ID, Provider: "p", ProviderAccountID: "1", SessionState: []byte(`"s"`)}
	must(s.LinkAccount(t.Context(), account))
	must(s.CreateSession(t.Context(), &store.Session{Token: "s1", UserID: u.ID, Expires: time.Unix(1, 0)}))
	token := &store.VerificationToken{Identifier: "a", Token: "t", Expires: time.Unix(1, 0)}
	must(s.CreateVerificationToken(t.Context(), token))
	must(s.CreateAuthenticator(t.Context(), &store.Authenticator{CredentialID: "c", UserID: u.ID}))
	must(s.CreateRecord(t.Context(), &store.Record{
		Kind: "note", Key: "k", UserID: u.ID, Value: []byte("1"), Expires: time.Unix(1, 0),
	}))
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	must(err)
	if len(names) != 6 {
		t.Errorf("collections %v", names)
	}
	for _, name := range names {
		document, err := db.Collection(name).FindOne(t.Context(), bson.D{}).Raw()
		must(err)
		elements, err := document.Elements()
		must(err)
		for _, e := range elements {
			if !strings.Contains(rows[name], "`"+e.Key()+"`") {
				t.Errorf("README.md does not name the field %s of %s", e.Key(), name)
			}
		}
	}
}
