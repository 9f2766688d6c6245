package core_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestOwnCodec checks that Encode and Decode functions of the application receive the documented parameters, and that
// their results become the cookie and the session.
func TestOwnCodec(t *testing.T) {
	t.Parallel()
	var encoded []core.EncodeParams
	var decoded []core.DecodeParams
	secrets := []core.Secret{"a-newer-secret-of-more-than-32-bytes", testSecret}
	a := newApp(t, core.Config{
		Secrets: secrets, Providers: []core.Provider{passwords()},
		JWT: core.JWTConfig{
			MaxAge: time.Hour,
			Encode: func(_ context.Context, p core.EncodeParams) (string, error) {
				encoded = append(encoded, p)
				text, err := json.Marshal(p.Token)
				return string(text), err
			},
			Decode: func(_ context.Context, p core.DecodeParams) (*core.Token, error) {
				decoded = append(decoded, p)
				token := &core.Token{}
				return token, json.Unmarshal([]byte(p.Token), token)
			},
		},
	})
	b := visit(t, a)
	signIn(t, b)
	cookie := b.cookies[sessionCookie]
	if len(encoded) != 1 || encoded[0].Token.Subject != "1" || encoded[0].Token.Name != "Ada" ||
		encoded[0].Salt != sessionCookie || encoded[0].MaxAge != time.Hour ||
		len(encoded[0].Secrets) != 2 || encoded[0].Secrets[0] != secrets[0] {
		t.Errorf("encoded with %+v", encoded)
	}
	v := a.Visit(t.Context(), b.request("GET", "/", "", ""))
	session, err := v.Session()
	if err != nil || session == nil || session.UserID != "1" || session.User.Name != "Ada" {
		t.Errorf("session %+v, %v", session, err)
	}
	if len(decoded) != 1 || decoded[0].Token != cookie || decoded[0].Salt != sessionCookie ||
		len(decoded[0].Secrets) != 2 || decoded[0].Secrets[0] != secrets[0] {
		t.Errorf("decoded with %+v", decoded)
	}
}
