package oidc

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"time"
)

const fuzzIssuer = "https://op.example"

// FuzzToken signs arbitrary headers and claims, so that the code after the signature check is reached too. A token that
// go-jose verifies has the payload that the strict reader returned, and one encoding.
func FuzzToken(f *testing.F) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public := key.Public().(ed25519.PublicKey)
	encode := base64.RawURLEncoding.EncodeToString
	for _, header := range []string{
		`{"alg":"EdDSA"}`, `{"alg":"Ed25519"}`, `{"alg":"EdDSA","kid":"k","typ":"JWT"}`,
		`{"ALG":"EdDSA"}`, `{"alg":"EdDSA","alg":"none"}`,
		`{"alg":"none"}`, `{"alg":"EdDSA","crit":["b64"],"b64":false}`, `{"alg":"EdDSA","jwk":{}}`,
		` {"alg" : "EdDSA" } `, `[]`, `{"alg":"ES256"}`,
	} {
		f.Add([]byte(header), []byte(`{"sub":"u1","exp":4e9}`), "", uint8(0))
	}
	f.Add([]byte(`{"alg":"EdDSA"}`), []byte(`{}`), "\n", uint8(3))
	f.Add([]byte(`{"alg":"EdDSA"}`), []byte(`{}`), "=", uint8(20))
	f.Fuzz(func(t *testing.T, header, claims []byte, inserted string, at uint8) {
		text := encode(header) + "." + encode(claims)
		raw := text + "." + encode(ed25519.Sign(key, []byte(text)))
		place := int(at) % len(raw)
		raw = raw[:place] + inserted + raw[place:]
		token, err := readCompact(raw)
		if err != nil {
			return
		}
		// The encoding is unique: the parts give the token again.
		head, _, _ := strings.Cut(raw, ".")
		if again := head + "." + encode(token.payload) + "." + encode(token.signature); again != raw {
			t.Fatalf("another spelling of %q is accepted: %q", again, raw)
		}
		if token.parseJWS() != nil || !fits(token.alg, public) || !token.verifies(public) {
			return
		}
		if token.signed+"."+encode(ed25519.Sign(key, []byte(token.signed))) != raw {
			t.Fatalf("accepted %q, which has another signature", raw)
		}
		if token.jws != nil && !bytes.Equal(token.jws.UnsafePayloadWithoutVerification(), token.payload) {
			t.Fatalf("%q has two payloads", raw)
		}
	})
}

func FuzzMetadata(f *testing.F) {
	f.Add([]byte(`{"issuer":"https://op.example","authorization_endpoint":"https://op.example/a",` +
		`"token_endpoint":"https://op.example/t","jwks_uri":"https://op.example/j"}`))
	f.Add([]byte(`{"issuer":"https://op.example","token_endpoint":"http://localhost/t"}`))
	f.Add([]byte(`{"issuer":"https://op.example","id_token_signing_alg_values_supported":["RS256",1,null],` +
		`"authorization_response_iss_parameter_supported":true}`))
	f.Add([]byte(`{"issuer":"https://op.example","issuer":"https://evil.example"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := (&Discovery{}).parseMetadata(body, fuzzIssuer)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error breaks a line: %q", err)
			}
			return
		}
		if m.Issuer != fuzzIssuer {
			t.Errorf("issuer %q", m.Issuer)
		}
		for _, endpoint := range []string{m.AuthorizationEndpoint, m.TokenEndpoint, m.UserinfoEndpoint, m.JWKSURI} {
			u, err := url.Parse(endpoint)
			if endpoint != "" &&
				(err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Hostname() == "localhost") {
				t.Errorf("endpoint %q", endpoint)
			}
		}
	})
}

func FuzzKeySet(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik","kid":"k"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},` +
		`{"kty":"oct","k":"AA"},1,null]}`))
	f.Add([]byte(`{"keys":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		set, err := parseKeys(body)
		if err != nil {
			return
		}
		if len(set.keys) > maxKeys {
			t.Errorf("%d keys", len(set.keys))
		}
		for i := range set.keys {
			if !set.keys[i].IsPublic() || !set.keys[i].Valid() {
				t.Errorf("key %d is not public or not valid", i)
			}
		}
		for _, alg := range append([]string{"x", "none", "HS256"}, asymmetric...) {
			signed := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"`+alg+`"}`)) + ".e30"
			token, err := readCompact(signed + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 64)))
			if err != nil || token.parseJWS() != nil {
				t.Fatal(alg, err)
			}
			if set.verifies(&token) {
				t.Errorf("%s: a signature of zeros is accepted", alg)
			}
		}
	})
}

// FuzzLogoutToken: an accepted logout token names a session or a subject, has an ID, is for this client, and is not an
// ID token.
func FuzzLogoutToken(f *testing.F) {
	const event = `"events":{"http://schemas.openid.net/event/backchannel-logout":{}}`
	for _, claims := range []string{
		`{"iss":"i","aud":"c","iat":1893456000,"jti":"1","sub":"u",` + event + `}`,
		`{"iss":"i","aud":["c"],"iat":1893456000,"exp":1893456060,"jti":"1","sid":"s",` + event + `}`,
		`{"iss":"i","aud":"c","iat":1893456000,"jti":"1","sub":"u","nonce":"n",` + event + `}`,
		`{"iss":"i","aud":"c","iat":1e30,"exp":-1e30,"jti":"1","sub":"u",` + event + `}`,
	} {
		f.Add(`{"alg":"RS256","typ":"logout+jwt"}`, claims)
	}
	now := time.Unix(1893456000, 0)
	d := New(Options{Now: func() time.Time { return now }})
	encode := base64.RawURLEncoding.EncodeToString
	f.Fuzz(func(t *testing.T, header, claims string) {
		token, err := d.ReadLogoutToken(encode([]byte(header))+"."+encode([]byte(claims))+".c2lnbmF0dXJl", "c")
		if err != nil {
			return
		}
		said := token.said
		if said.ID == "" || said.Subject+said.SessionID == "" || token.claims["nonce"] != nil {
			t.Fatalf("%s is taken for %+v", claims, said)
		}
		if said.Expires.Before(now) || said.Expires.After(now.Add(maxLogoutAge+logoutAhead+time.Minute)) {
			t.Fatalf("%s is valid until %v", claims, said.Expires)
		}
	})
}
