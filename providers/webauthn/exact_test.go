package webauthn_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// TestExactSpelling rejects responses that some parsers accept although browsers never send them.
func TestExactSpelling(t *testing.T) {
	key := authenticator.New("credential")
	stored := &store.Authenticator{CredentialPublicKey: base64.StdEncoding.EncodeToString(key.PublicKey())}
	origin := func(spelling string) func(*authenticator.Ceremony) {
		return func(c *authenticator.Ceremony) { c.Origin = spelling }
	}
	twice := func(member string) func(*authenticator.Ceremony) {
		return func(c *authenticator.Ceremony) {
			c.BeforeClientData = func(raw []byte) []byte { return bytes.Replace(raw, []byte("{"), []byte("{"+member+","), 1) }
		}
	}
	type members = map[string]any
	answer := func(change func(credential members)) func(*authenticator.Ceremony) {
		return func(c *authenticator.Ceremony) { c.Answer = change }
	}
	for name, change := range map[string]func(*authenticator.Ceremony){
		"an origin in capitals":             origin("https://APP.example"),
		"a scheme in capitals":              origin("HTTPS://app.example"),
		"an origin with a slash":            origin("https://app.example/"),
		"an origin with a path":             origin("https://app.example/auth"),
		"an origin with its own port":       origin("https://app.example:443"),
		"an origin with a colon":            origin("https://app.example:"),
		"an origin with a user":             origin("https://user@app.example"),
		"an origin with a question mark":    origin("https://app.example?"),
		"a challenge twice, the good last":  twice(`"challenge":"b3RoZXI"`),
		"an origin twice, the good last":    twice(`"origin":"https://evil.example"`),
		"an origin in another case":         twice(`"Origin":"https://evil.example"`),
		"two ids":                           answer(func(c members) { c["rawId"] = "b3RoZXI" }),
		"bytes behind the attestation":      answer(appendTo("attestationObject")),
		"bytes behind authenticator's data": answer(appendTo("authenticatorData")),
	} {
		t.Run(name, func(t *testing.T) {
			ceremony := good()
			change(&ceremony)
			if name != "bytes behind authenticator's data" {
				if _, err := (webauthn.Verifier{}).VerifyRegistration([]byte(key.Register(ceremony)), want); err == nil {
					t.Error("registered")
				}
			}
			if name == "bytes behind the attestation" {
				return
			}
			answer := []byte(key.Authenticate(ceremony))
			if _, err := (webauthn.Verifier{}).VerifyAuthentication(answer, stored, want); err == nil {
				t.Error("authenticated")
			}
		})
	}
}

// appendTo appends a byte to a member of the response.
func appendTo(member string) func(credential map[string]any) {
	return func(credential map[string]any) {
		response := credential["response"].(map[string]any)
		text, _ := response[member].(string)
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			panic(err)
		}
		response[member] = base64.RawURLEncoding.EncodeToString(append(raw, 0))
	}
}
