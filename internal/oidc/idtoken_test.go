package oidc_test

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/oidc"
)

// attack is a hostile or valid ID token.
type attack struct {
	ID, Want, Why, Key, Flow, Raw string
	Header, Claims                map[string]any
	Config                        struct {
		MaxAge int `json:"max_age"`
	}
	JWKS []any
}

func attacks(t testing.TB) []attack {
	t.Helper()
	raw, err := os.ReadFile("testdata/idtoken.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Payloads []attack }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(file.Payloads, func(a attack) bool { return a.Flow == "backchannel-logout" })
}

// TestAttacks signs in with each of the tokens.
func TestAttacks(t *testing.T) {
	t.Parallel()
	rows := attacks(t)
	if len(rows) < 60 {
		t.Fatalf("only %d payloads", len(rows))
	}
	for _, row := range rows {
		t.Run(row.ID, func(t *testing.T) {
			op := newIssuer()
			row.publish(op)
			c := newClient(op)
			e := c.expect(t)
			e.MaxAge = time.Duration(row.Config.MaxAge) * time.Second
			if row.Flow == "refresh" {
				e.Nonce, e.Earlier = "", map[string]any{"iss": e.Metadata.Issuer, "sub": "u1", "nonce": "n-1"}
			}
			claims, err := c.VerifyIDToken(t.Context(), row.token(t), e)
			switch {
			case row.Want == "accept" && (err != nil || claims["sub"] != "u1"):
				t.Errorf("%s: %v, %v", row.Why, claims["sub"], err)
			case row.Want == "reject" && (err == nil || claims != nil):
				t.Errorf("%s: accepted, or claims together with the error %v", row.Why, err)
			case err != nil && (strings.Contains(err.Error(), "u1") || len(err.Error()) > 200):
				t.Errorf("%s: the error quotes the token: %v", row.Why, err)
			}
			if op.elsewhere.Load() > 0 || op.keySets.Load() > 2 {
				t.Errorf("%s: %d requests elsewhere, %d for keys", row.Why, op.elsewhere.Load(), op.keySets.Load())
			}
		})
	}
}

func (a *attack) publish(op *issuer) {
	if a.JWKS == nil {
		return
	}
	var keys []any
	for _, entry := range a.JWKS {
		if change, ok := entry.(map[string]any); ok {
			key := jwk(change["kid"].(string))
			patch(key, change)
			entry = key
		}
		keys = append(keys, entry)
	}
	op.publish(keys...)
}

func (a *attack) token(t testing.TB) string {
	key := a.Key
	switch key {
	case "":
		key = "rs1"
	case "hmac:pem(rs1)":
		der, _ := x509.MarshalPKIXPublicKey(signers()["rs1"].Public())
		key = "hmac:" + string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	case "hmac:n(rs1)":
		n, _ := base64.RawURLEncoding.DecodeString(jwk("rs1")["n"].(string))
		key = "hmac:" + string(n)
	case "hmac:empty":
		key = "hmac:"
	}
	raw := token(t, filled(a.Header), filled(a.Claims), key)
	last := strings.LastIndexByte(raw, '.') + 1
	switch a.Raw {
	case "sig=zeros64":
		return raw[:last] + base64.RawURLEncoding.EncodeToString(make([]byte, 64))
	case "sig=der":
		return raw[:last] + base64.RawURLEncoding.EncodeToString([]byte{0x30, 6, 2, 1, 1, 2, 1, 1})
	case "strip-signature":
		return raw[:last]
	case "flip-signature":
		return flip(raw, last+10)
	case "flip-payload":
		return flip(raw, strings.IndexByte(raw, '.')+10)
	case "jwe":
		return "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.AAAA.AAAA.AAAA.AAAA"
	case "replay-previous":
		return token(t, nil, map[string]any{"nonce": "n-0"}, key)
	case "":
		return raw
	}
	t.Fatalf("unknown raw %q", a.Raw)
	return ""
}

// filled replaces the placeholders of a payload.
func filled(members map[string]any) map[string]any {
	members = maps.Clone(members)
	for name, v := range members {
		switch text := fmt.Sprint(v); {
		case strings.HasPrefix(text, "now"):
			var offset int64
			_, _ = fmt.Sscanf(text[3:], "%d", &offset)
			members[name] = now.Unix() + offset
		case text == "{evil}":
			members[name] = jwk("evil")
		case strings.HasPrefix(text, "{collector}"):
			members[name] = "https://evil.example" + strings.TrimPrefix(text, "{collector}")
		case text == "[{nonce}]":
			members[name] = []any{"n-1"}
		case text == "[{evil cert}]":
			template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: now.AddDate(1, 0, 0)}
			der, _ := x509.CreateCertificate(rand.Reader, template, template, signers()["evil"].Public(), signers()["evil"])
			members[name] = []any{base64.StdEncoding.EncodeToString(der)}
		}
	}
	return members
}

func flip(token string, at int) string {
	c := byte('A')
	if token[at] == c {
		c = 'B'
	}
	return token[:at] + string(c) + token[at+1:]
}

func TestRefreshedTokens(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		claims  map[string]any
		earlier map[string]any
		ok      bool
	}{
		{"nonce of the sign-in", nil, map[string]any{"sub": "u1", "nonce": "n-1"}, true},
		{"no nonce", map[string]any{"nonce": "$del"}, map[string]any{"sub": "u1", "nonce": "n-1"}, true},
		{"another nonce", map[string]any{"nonce": "n-2"}, map[string]any{"sub": "u1", "nonce": "n-1"}, false},
		{"a nonce where there was none", nil, map[string]any{"sub": "u1"}, true},
		{"iss and nonce were null", nil, map[string]any{"sub": "u1", "iss": nil, "nonce": nil}, true},
		{"another subject", map[string]any{"nonce": "$del"}, map[string]any{"sub": "u2"}, false},
		{"no subject to compare with", map[string]any{"nonce": "$del"}, map[string]any{}, false},
		{"another issuer", map[string]any{"nonce": "$del"},
			map[string]any{"sub": "u1", "iss": "https://other.example"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(newIssuer())
			e := c.expect(t)
			e.Nonce, e.Earlier = "", row.earlier
			if _, err := c.VerifyIDToken(t.Context(), token(t, nil, row.claims, "rs1"), e); (err == nil) != row.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestTokensOfApps verifies tokens that an app received from an SDK of the provider.
func TestTokensOfApps(t *testing.T) {
	t.Parallel()
	hash := sha256.Sum256([]byte("n-1"))
	for _, row := range []struct {
		name   string
		claims map[string]any
		expect func(*oidc.Expect)
		ok     bool
	}{
		{"for the app", map[string]any{"aud": "ios"}, nil, true},
		{"for the server, requested by the app", map[string]any{"aud": "web", "azp": "android"}, nil, true},
		{"with the hash of an access token", map[string]any{"aud": "ios", "at_hash": "x"}, nil, true},
		{"for two of the app", map[string]any{"aud": []any{"web", "ios"}, "azp": "ios"}, nil, true},
		{"with the hash of the nonce", map[string]any{"aud": "ios", "nonce": hex.EncodeToString(hash[:])}, nil, true},
		{"for the client", nil, nil, false},
		{"for another app", map[string]any{"aud": "x"}, nil, false},
		{"for an empty audience", map[string]any{"aud": ""}, nil, false},
		{"requested by the client", map[string]any{"aud": "web", "azp": "client-1"}, nil, false},
		{"requested by another app", map[string]any{"aud": "web", "azp": "x"}, nil, false},
		{"for two, without azp", map[string]any{"aud": []any{"web", "ios"}}, nil, false},
		{"another nonce", map[string]any{"aud": "ios", "nonce": "n-2"}, nil, false},
		{"no nonce", map[string]any{"aud": "ios", "nonce": "$del"}, nil, false},
		{"no nonce in both", map[string]any{"aud": "ios", "nonce": "$del"}, func(e *oidc.Expect) { e.Nonce = "" }, false},
		{"the hash of an empty nonce", map[string]any{"aud": "ios", "nonce": emptyHash}, func(e *oidc.Expect) {
			e.Nonce = ""
		}, false},
		{"no client IDs", map[string]any{"aud": "client-1"}, func(e *oidc.Expect) { e.AppClientIDs = []string{} }, false},
		{"expired", map[string]any{"aud": "ios", "exp": now.Unix() - 31}, nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(newIssuer())
			e := c.expect(t)
			e.AppClientIDs, e.AccessToken = []string{"ios", "android", "web"}, ""
			if row.expect != nil {
				row.expect(&e)
			}
			if _, err := c.VerifyIDToken(t.Context(), token(t, nil, row.claims, "rs1"), e); (err == nil) != row.ok {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("the hash of the nonce of a browser", func(t *testing.T) {
		c := newClient(newIssuer())
		if err := c.verify(t, token(t, nil, map[string]any{"nonce": hex.EncodeToString(hash[:])}, "rs1")); err == nil {
			t.Error("accepted")
		}
	})
}

// emptyHash is the SHA-256 of nothing.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestHS256OnlyWhenConfigured(t *testing.T) {
	t.Parallel()
	underSecret := token(t, map[string]any{"alg": "HS256", "kid": "$del"}, nil, "client_secret")
	underPublicKey := (&attack{Header: map[string]any{"alg": "HS256"}, Key: "hmac:n(rs1)"}).token(t)
	underNothing := token(t, map[string]any{"alg": "HS256"}, nil, "hmac:")
	for _, row := range []struct {
		name, token, secret string
		algs                []string
		ok                  bool
	}{
		{"configured", underSecret, "secret-1", []string{"HS256"}, true},
		{"configured beside another", underSecret, "secret-1", []string{"RS256", "HS256"}, true},
		{"on the word of the metadata", underSecret, "secret-1", nil, false},
		{"under another secret", underSecret, "secret-2", []string{"HS256"}, false},
		{"under a public key", underPublicKey, "secret-1", []string{"RS256", "HS256"}, false},
		{"without a secret", underNothing, "", []string{"HS256"}, false},
		{"HS256 alone refuses RS256", token(t, nil, nil, "rs1"), "secret-1", []string{"HS256"}, false},
		{"unknown algorithm in the configuration", token(t, map[string]any{"alg": "x"}, nil, "rs1"),
			"secret-1", []string{"x"}, false},
		{"none in the configuration", token(t, map[string]any{"alg": "none"}, nil, "rs1"),
			"secret-1", []string{"none"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(newIssuer())
			e := c.expect(t)
			e.Algs, e.ClientSecret = row.algs, row.secret
			if _, err := c.VerifyIDToken(t.Context(), row.token, e); (err == nil) != row.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAlgorithms(t *testing.T) {
	t.Parallel()
	all := []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
	keyOf := map[string]string{
		"RS": "rs1", "PS": "rs1", "ES256": "es1", "ES384": "es384", "ES512": "es512", "EdDSA": "ed1", "Ed25519": "ed1",
	}
	for _, alg := range all {
		t.Run(alg, func(t *testing.T) {
			key := keyOf[alg] + keyOf[alg[:2]]
			op := newIssuer()
			op.document["id_token_signing_alg_values_supported"] = all
			op.publish("rs1", "es1", "es384", "es512", "ed1")
			header, claims := map[string]any{"alg": alg, "kid": key}, map[string]any{"at_hash": "$del"}
			if err := newClient(op).verify(t, token(t, header, claims, key+"/"+alg)); err != nil {
				t.Errorf("refused: %v", err)
			}
			op.document["id_token_signing_alg_values_supported"] = []string{"none", "HS256"}
			if err := newClient(op).verify(t, token(t, header, claims, key+"/"+alg)); (err == nil) != (alg == "RS256") {
				t.Errorf("where nothing usable is advertised: %v", err)
			}
		})
	}
}

// TestEd25519HasTwoNames accepts tokens with the name of RFC 9864 if the old name is listed, and the reverse.
func TestEd25519HasTwoNames(t *testing.T) {
	t.Parallel()
	names := []string{"EdDSA", "Ed25519"}
	for _, signs := range names {
		for _, listed := range append(names, "RS256") {
			for _, ofKey := range append(names, "", "Ed448") {
				op := newIssuer()
				op.document["id_token_signing_alg_values_supported"] = []string{listed}
				key := jwk("ed1")
				if key["alg"] = ofKey; ofKey == "" {
					delete(key, "alg")
				}
				op.publish("rs1", key)
				err := newClient(op).verify(t, token(t, map[string]any{"alg": signs, "kid": "ed1"}, nil, "ed1"))
				if want := listed != "RS256" && ofKey != "Ed448"; (err == nil) != want {
					t.Errorf("%s, where %s is listed, by a key for %q: %v", signs, listed, ofKey, err)
				}
			}
		}
	}
}

// TestClaims tests further cases: boundary times, and claims of wrong types.
func TestClaims(t *testing.T) {
	t.Parallel()
	at := now.Unix()
	const day = 24 * 3600
	for _, row := range []struct {
		name   string
		claims map[string]any
		expect func(*oidc.Expect)
		ok     bool
	}{
		{"expired 29 s ago", map[string]any{"exp": at - 29}, nil, true},
		{"expired 30 s ago", map[string]any{"exp": at - 30}, nil, false},
		{"expired 31 s ago", map[string]any{"exp": at - 31}, nil, false},
		{"expires with a fraction", map[string]any{"exp": json.Number("1893456000.5")}, nil, true},
		{"expires with an exponent", map[string]any{"exp": json.Number("4e9")}, nil, true},
		{"expires in the far future", map[string]any{"exp": json.Number("9223372036854775807")}, nil, true},
		{"expires beyond all numbers", map[string]any{"exp": json.Number("1e400")}, nil, false},
		{"expires before all time", map[string]any{"exp": json.Number("-9223372036854775808")}, nil, false},
		{"issued in 30 s", map[string]any{"iat": at + 30}, nil, true},
		{"issued in 5 min, by a clock that is ahead", map[string]any{"iat": at + 300, "exp": at + 600}, nil, true},
		{"issued in the far future", map[string]any{"iat": json.Number("9223372036854775807")}, nil, true},
		{"issued beyond all numbers", map[string]any{"iat": json.Number("1e400")}, nil, false},
		{"issued in text", map[string]any{"iat": "1893456000"}, nil, false},
		{"valid in 30 s", map[string]any{"nbf": at + 30}, nil, true},
		{"valid in 31 s", map[string]any{"nbf": at + 31}, nil, false},
		{"valid in the far future", map[string]any{"nbf": json.Number("9223372036854775807")}, nil, false},
		{"nbf is null", map[string]any{"nbf": nil}, nil, true},

		{"authenticated in time", map[string]any{"auth_time": at - 60},
			func(e *oidc.Expect) { e.MaxAge = time.Minute }, true},
		{"authenticated 30 s too early", map[string]any{"auth_time": at - 90},
			func(e *oidc.Expect) { e.MaxAge = time.Minute }, true},
		{"authenticated 31 s too early", map[string]any{"auth_time": at - 91},
			func(e *oidc.Expect) { e.MaxAge = time.Minute }, false},
		{"authenticated tomorrow", map[string]any{"auth_time": at + day},
			func(e *oidc.Expect) { e.MaxAge = time.Minute }, false},
		{"authenticated in 5 min, by a clock that is ahead", map[string]any{"auth_time": at + 300, "iat": at + 300},
			func(e *oidc.Expect) { e.MaxAge = time.Minute }, true},
		{"auth_time is text", map[string]any{"auth_time": "1893456000"},
			func(e *oidc.Expect) { e.MaxAge = time.Minute }, false},
		{"auth_time of no interest", map[string]any{"auth_time": at - day}, nil, true},

		{"no nonce sent, none there", map[string]any{"nonce": "$del"}, func(e *oidc.Expect) { e.Nonce = "" }, true},
		{"no nonce sent, one there", nil, func(e *oidc.Expect) { e.Nonce = "" }, true},
		{"no nonce sent, an empty one there", map[string]any{"nonce": ""}, func(e *oidc.Expect) { e.Nonce = "" }, true},
		{"no nonce sent, a number there", map[string]any{"nonce": 7}, func(e *oidc.Expect) { e.Nonce = "" }, true},
		{"a nonce sent, null there", map[string]any{"nonce": nil}, nil, false},
		{"a nonce sent, an empty one there", map[string]any{"nonce": ""}, nil, false},
		{"logout token without typ and nonce",
			map[string]any{"nonce": "$del", "events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": nil}},
			func(e *oidc.Expect) { e.Nonce = "" }, false},
		{"other events", map[string]any{"events": map[string]any{"x": 1}}, nil, true},

		{"azp alone is us", map[string]any{"azp": "client-1"}, nil, true},
		{"azp alone is another", map[string]any{"azp": "client-2"}, nil, false},
		{"azp is a list", map[string]any{"azp": []string{"client-1"}}, nil, false},
		{"azp is null", map[string]any{"azp": nil}, nil, true},
		{"azp is null and aud has two members", map[string]any{"azp": nil, "aud": []string{"client-1", "x"}}, nil, false},
		{"aud is an empty list", map[string]any{"aud": []string{}}, nil, false},
		{"aud is a list of lists", map[string]any{"aud": []any{[]any{"client-1"}}}, nil, false},
		{"aud is an object", map[string]any{"aud": map[string]any{"client-1": true}}, nil, false},
		{"sub of 255 bytes", map[string]any{"sub": strings.Repeat("s", 255)}, nil, true},
		{"sub of 256 bytes", map[string]any{"sub": strings.Repeat("s", 256)}, nil, false},
		{"sub with a control character", map[string]any{"sub": "u\x00"}, nil, false},
		{"sub with the mark of malformed text", map[string]any{"sub": "u\ufffd"}, nil, false},
		{"exp is null", map[string]any{"exp": nil}, nil, false},
		{"iat is null", map[string]any{"iat": nil}, nil, false},
		{"aud is null", map[string]any{"aud": nil}, nil, false},
		{"iss is null", map[string]any{"iss": nil}, nil, false},
		{"auth_time is null", map[string]any{"auth_time": nil}, nil, true},
		{"at_hash is null", map[string]any{"at_hash": nil}, nil, true},
		{"no at_hash", map[string]any{"at_hash": "$del"}, nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(newIssuer())
			e := c.expect(t)
			if row.expect != nil {
				row.expect(&e)
			}
			if _, err := c.VerifyIDToken(t.Context(), token(t, nil, row.claims, "rs1"), e); (err == nil) != row.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestSpellings has tokens with a valid signature that some parser would accept: only one encoding of each token is
// valid.
func TestSpellings(t *testing.T) {
	t.Parallel()
	good := token(t, nil, nil, "rs1")
	head, rest, _ := strings.Cut(good, ".")
	body, signature, _ := strings.Cut(rest, ".")
	claims, _ := base64.RawURLEncoding.DecodeString(body)
	withHeader := func(header string) string { return signed(t, header, string(claims), "rs1") }
	withClaims := func(claims string) string { return signed(t, `{"alg":"RS256","kid":"rs1"}`, claims, "rs1") }
	object := string(claims[:len(claims)-1])
	for _, row := range []struct {
		name, token string
		ok          bool
	}{
		{"as it should be", good, true},
		{"typ", withHeader(`{"alg":"RS256","kid":"rs1","typ":"jwt"}`), true},
		{"typ as a media type", withHeader(`{"alg":"RS256","kid":"rs1","typ":"application/jwt"}`), true},
		{"typ as a media type, in capitals", withHeader(`{"alg":"RS256","kid":"rs1","typ":"Application/JWT"}`), true},
		{"kid and typ are null", withHeader(`{"alg":"RS256","kid":null,"typ":null,"crit":null}`), true},
		{"half an emoji in a stray claim", withClaims(object + `,"bio":"\ud83d"}`), true},
		{"Latin-1 and a line break in a stray claim", withClaims(object + ",\"bio\":\"J\xf6rg\n\"}"), true},
		{"a byte order mark", withClaims("\ufeff" + string(claims)), true},
		{"half an emoji in the header", withHeader(`{"alg":"RS256","kid":"rs1","x":"\ud83d"}`), true},

		{"empty", "", false},
		{"dots", "..", false},
		{"many dots", strings.Repeat(".", 1<<20), false},
		{"a line break at the end", good + "\n", false},
		{"a line break inside", head + ".\n" + rest, false},
		{"a blank in front", " " + good, false},
		{"padding", head + "==." + rest, false},
		{"a fourth part", good + ".", false},
		{"other alphabet", head + "." + body + "." + strings.NewReplacer("-", "+", "_", "/").Replace(signature) + "/", false},
		{"JSON serialization",
			`{"payload":"` + body + `","protected":"` + head + `","signature":"` + signature + `"}`, false},
		{"spare bits", good[:len(good)-1] + string(good[len(good)-1]+1), false},
		{"a huge header", withHeader(`{"alg":"RS256","kid":"rs1","x":"` + strings.Repeat("x", 4<<10) + `"}`), false},
		{"a huge body", withClaims(object + `,"x":"` + strings.Repeat("x", 256<<10) + `"}`), false},
		{"alg twice", withHeader(`{"alg":"RS256","alg":"RS256","kid":"rs1"}`), false},
		{"alg in capitals", withHeader(`{"ALG":"RS256","kid":"rs1"}`), false},
		{"alg is a list", withHeader(`{"alg":["RS256"],"kid":"rs1"}`), false},
		{"kid is a number", withHeader(`{"alg":"RS256","kid":1}`), false},
		{"alg is null", withHeader(`{"alg":null,"kid":"rs1"}`), false},
		{"typ of something else, with its prefix",
			withHeader(`{"alg":"RS256","kid":"rs1","typ":"application/at+jwt"}`), false},
		{"typ is another media type", withHeader(`{"alg":"RS256","kid":"rs1","typ":"text/jwt"}`), false},
		{"typ has two prefixes", withHeader(`{"alg":"RS256","kid":"rs1","typ":"application/application/jwt"}`), false},
		{"typ is a number", withHeader(`{"alg":"RS256","kid":"rs1","typ":1}`), false},
		{"b64", withHeader(`{"alg":"RS256","kid":"rs1","b64":true}`), false},
		{"zip", withHeader(`{"alg":"RS256","kid":"rs1","zip":"DEF"}`), false},
		{"empty crit", withHeader(`{"alg":"RS256","kid":"rs1","crit":[]}`), false},
		{"header is a list", withHeader(`[]`), false},
		{"sub twice", withClaims(object + `,"sub":"u2"}`), false},
		{"half an emoji in kid", withHeader(`{"alg":"RS256","kid":"\ud83d"}`), false},
		{"half an emoji in sid", withClaims(object + `,"sid":"\ud83d"}`), false},
		{"Latin-1 in aud", withClaims(strings.Replace(string(claims), `"client-1"`, "[\"client-1\",\"\xf6\"]", 1)), false},
		{"claims are a list", withClaims(`[]`), false},
		{"claims are no JSON", withClaims(`x`), false},
		{"text behind the claims", withClaims(string(claims) + "{}"), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := newClient(newIssuer()).verify(t, row.token); (err == nil) != row.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func BenchmarkVerifyIDToken(b *testing.B) {
	for _, row := range []struct{ alg, key string }{{"RS256", "rs1"}, {"ES256", "es1"}} {
		raw := token(b, map[string]any{"alg": row.alg, "kid": row.key}, nil, row.key)
		c := newClient(newIssuer())
		e := c.expect(b)
		b.Run(row.alg, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.VerifyIDToken(b.Context(), raw, e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
