package pendingsignin_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/pendingsignin"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestRoundTrip checks that no field of a user or an account is lost, also those whose JSON is redacted.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	user := &store.User{
		ID: "u1", Name: "Ada", Email: "ada@example.com", EmailVerified: time.Unix(1, 0).UTC(), Stored: true,
		Extra: store.Members{"role": json.RawMessage(`"admin"`)},
	}
	account := &store.Account{
		Type: store.TypeOIDC, Provider: "op", ProviderAccountID: "1", UserID: "u1", AccessToken: "a", RefreshToken: "r",
		IDToken: "i", Scope: "openid", ExpiresAt: time.Unix(2, 0).UTC(), SessionState: json.RawMessage(`"s"`),
		AuthorizationDetails: json.RawMessage(`[]`), VerifiedEmail: "ada@example.com", Label: "ada",
	}
	before := pendingsignin.Data[map[string]any]{Next: "gate", Profile: map[string]any{"sub": "1"}}
	before.Set(user, account)
	text, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	var after pendingsignin.Data[map[string]any]
	if err := json.Unmarshal(text, &after); err != nil {
		t.Fatal(err)
	}
	gotUser, gotAccount := after.Get()
	if !reflect.DeepEqual(gotUser, user) || !reflect.DeepEqual(gotAccount, account) || after.Next != "gate" {
		t.Errorf("%+v\n%+v", gotUser, gotAccount)
	}
}
