package verify

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// fuzzKeys is a key set without known private keys.
const fuzzKeys = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},` +
	`{"kty":"EC","crv":"P-256","kid":"b","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",` +
	`"y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}`

// FuzzVerify sends tokens without a valid signature.
func FuzzVerify(f *testing.F) {
	for _, seed := range []string{
		"", "..", "a.b.c", "eyJhbGciOiJFZERTQSIsImtpZCI6ImEiLCJ0eXAiOiJhdCtqd3QifQ.e30.AA",
		"eyJhbGciOiJFUzI1NiIsImtpZCI6ImIiLCJ0eXAiOiJhdCtqd3QifQ.e30." + strings.Repeat("A", 86),
		"eyJhbGciOiJub25lIn0.e30.",
	} {
		f.Add(seed)
	}
	v, err := New(Options{
		Issuer: "https://app.example", Audience: "a",
		Keys: func(context.Context) ([]byte, error) { return []byte(fuzzKeys), nil },
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, token string) {
		got, err := v.Verify(t.Context(), token)
		if got != nil || err == nil {
			t.Fatalf("accepted as %+v", got)
		}
	})
}

// FuzzClaims reads claims, as if the issuer had signed them.
func FuzzClaims(f *testing.F) {
	f.Add(`{"sub":"a","client_id":"b","jti":"c","exp":1,"iat":1.5,"aud":["x"],"scope":"a b","act":{"sub":"d"}}`)
	f.Add(`{"exp":1e400}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, text string) {
		token, err := parseClaims([]byte(text))
		if err != nil {
			return
		}
		if token.Subject == "" || token.ID == "" || token.ClientID == "" || token.Expires.IsZero() ||
			token.Expires.After(time.Unix(1<<41, 0)) || !json.Valid([]byte(text)) {
			t.Fatalf("accepted as %+v", token)
		}
	})
}

// FuzzKeys reads key sets.
func FuzzKeys(f *testing.F) {
	f.Add(fuzzKeys)
	f.Add(`{"keys":[{"kid":"x","kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := parseKeys([]byte(text))
		if err != nil {
			return
		}
		for kid, key := range keys {
			if kid == "" || key.key == nil || len(keys) > maxKeys {
				t.Fatalf("accepted %q as %+v", kid, key)
			}
			key.verifies(&signed{signature: make([]byte, 64)})
		}
	})
}
