package dynamodb_test

import (
	"os"
	"strings"
	"testing"
	"time"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestReadme checks that the README lists every item and attribute that the store writes.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	s, client, layout := filled(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.CreateUser(t.Context(), &core.User{ID: "u1", Email: "ada@example.com"})
	must(err)
	must(s.LinkAccount(t.Context(), &core.Account{
		UserID: "u1", Provider: "p", ProviderAccountID: "1",
		AccessToken: "at", TokenType: "bearer", ExpiresAt: time.Unix(1, 0),
	}))
	must(s.CreateSession(t.Context(), &store.Session{Token: "s1", UserID: "u1", Expires: time.Unix(1, 0)}))
	token := &store.VerificationToken{Identifier: "a", Token: "t", Expires: time.Unix(1, 0)}
	must(s.CreateVerificationToken(t.Context(), token))
	authenticator := &store.Authenticator{CredentialID: "c", UserID: "u1", CredentialPublicKey: "k"}
	must(s.CreateAuthenticator(t.Context(), authenticator))
	record := &store.Record{Kind: "note", Key: "k", UserID: "u1", Value: []byte("1"), Expires: time.Unix(1, 0)}
	must(s.CreateRecord(t.Context(), record))
	must(s.UpdateRecord(t.Context(), record))
	out, err := client.Scan(t.Context(), &awsdynamodb.ScanInput{TableName: &layout.Table})
	must(err)
	if len(out.Items) != 11 { // the user, the address, the token, and four with an entry each
		t.Errorf("%d items", len(out.Items))
	}
	for _, of := range out.Items {
		for name := range of {
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("README.md does not name the attribute %s", name)
			}
		}
	}
	for _, of := range out.Items {
		kind, _, _ := strings.Cut(of["pk"].(*types.AttributeValueMemberS).Value, "#")
		if !strings.Contains(string(text), "| `"+kind+"#") {
			t.Errorf("README.md does not name the items %s", kind)
		}
	}
}
