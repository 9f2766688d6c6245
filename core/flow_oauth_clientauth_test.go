package core_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/core"
)

// tokenRequest is a request that a token endpoint received.
type tokenRequest struct {
	form         url.Values
	user, secret string
	hasBasic     bool
}

// listening makes p a service that records the requests to its token endpoint. With an issuer it has a discovery
// document.
func listening(p *core.OAuthProvider, algs ...string) *tokenRequest {
	seen := &tokenRequest{}
	p.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
			document, err := json.Marshal(map[string]any{
				"issuer": "https://op.example", "authorization_endpoint": "https://op.example/authorize",
				"token_endpoint": "https://op.example/token", "jwks_uri": "https://op.example/jwks",
				"userinfo_endpoint": "https://op.example/userinfo", "response_types_supported": []string{"code"},
				"token_endpoint_auth_signing_alg_values_supported": algs,
			})
			return answered(r, http.StatusOK, string(document)), err
		case "/token":
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			seen.form, _ = url.ParseQuery(string(raw))
			seen.user, seen.secret, seen.hasBasic = r.BasicAuth()
			return answered(r, http.StatusOK, `{"access_token":"a","token_type":"bearer"}`), nil
		}
		return answered(r, http.StatusOK, `{"sub":"u1","name":"Ann"}`), nil
	})}
	return seen
}

// TestClientSecrets checks that a secret is sent only in the place of the configured method, percent-encoded.
func TestClientSecrets(t *testing.T) {
	t.Parallel()
	const secret = "s/e c:r%t"
	for _, row := range []struct {
		method           core.ClientAuth
		basic            bool
		inForm, idInForm string
	}{
		{"", true, "", ""},
		{core.ClientSecretBasic, true, "", ""},
		{core.ClientSecretPost, false, secret, "id"},
		{core.ClientAuthNone, false, "", "id"},
	} {
		t.Run("method "+string(row.method), func(t *testing.T) {
			t.Parallel()
			p := plainOAuth()
			p.ClientAuth, p.ClientSecret = row.method, secret
			seen := listening(p)
			b := visit(t, newApp(t, core.Config{Providers: []core.Provider{p}}))
			answer := back(t, b.submit("/auth/signin/plain", nil).Redirect, "ann")
			if r := b.get("/auth/callback/plain?" + answer.Encode()); r.Err != nil {
				t.Fatal(r.Err)
			}
			got, _ := url.QueryUnescape(seen.secret)
			if seen.hasBasic != row.basic || row.basic && (seen.user != "id" || got != secret) {
				t.Errorf("basic: %v, %q with %q", seen.hasBasic, seen.user, seen.secret)
			}
			if seen.form.Get("client_secret") != row.inForm || seen.form.Get("client_id") != row.idInForm {
				t.Errorf("form: %v", seen.form)
			}
		})
	}
}

// TestClientAssertions checks that the client authenticates with an assertion that is signed by its key or secret for
// this service. The service verifies it.
func TestClientAssertions(t *testing.T) {
	t.Parallel()
	curve := func(c elliptic.Curve) crypto.Signer {
		key, err := ecdsa.GenerateKey(c, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const short = "a short secret"
	for _, row := range []struct {
		name   string
		key    crypto.Signer // nil means the secret
		issuer string
		algs   []string
		alg    string
	}{
		{"secret", nil, "", nil, "HS256"},
		{"secret, discovered", nil, "https://op.example", nil, "HS256"},
		{"P-256", curve(elliptic.P256()), "", nil, "ES256"},
		{"P-384", curve(elliptic.P384()), "", nil, "ES384"},
		{"P-521", curve(elliptic.P521()), "", nil, "ES512"},
		{"RSA", providerKeys().published, "https://op.example", nil, "RS256"},
		{"Ed25519", ed, "", nil, "EdDSA"},
		{"Ed25519, by its old name", ed, "https://op.example", []string{"EdDSA"}, "EdDSA"},
		{"Ed25519, by its new name", ed, "https://op.example", []string{"RS256", "Ed25519"}, "Ed25519"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := plainOAuth()
			p.Issuer, p.ClientSecret, p.ClientAuth = row.issuer, short, core.ClientSecretJWT
			verify := any([]byte(short))
			if row.key != nil {
				p.ClientAuth, p.ClientKey, p.ClientKeyID, verify = core.PrivateKeyJWT, row.key, "key-1", row.key.Public()
			}
			audience := []string{"https://op.example/token"}
			if row.issuer != "" {
				p.Token, p.Userinfo, p.Authorization = core.Endpoint{}, core.Endpoint{}, core.Endpoint{}
				audience = append([]string{row.issuer}, audience...)
			}
			seen := listening(p, row.algs...)
			b := visit(t, newApp(t, core.Config{Providers: []core.Provider{p}}))
			ids := map[string]bool{}
			for range 2 {
				answer := back(t, b.submit("/auth/signin/plain", nil).Redirect, "ann")
				if row.issuer != "" {
					answer.Set("iss", row.issuer)
				}
				if r := b.get("/auth/callback/plain?" + answer.Encode()); r.Err != nil {
					t.Fatal(r.Err)
				}
				const kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
				if seen.hasBasic || seen.form.Has("client_secret") || seen.form.Get("client_assertion_type") != kind {
					t.Errorf("sent: %v", seen.form)
				}
				claims := verifiedAssertion(t, seen.form.Get("client_assertion"), row.alg, verify)
				if claims.Issuer != "id" || claims.Subject != "id" || !slices.Equal(claims.Audience, audience) ||
					claims.Issued != start.Unix() || claims.Expires != start.Add(time.Minute).Unix() || ids[claims.ID] {
					t.Errorf("claims: %+v", claims)
				}
				ids[claims.ID] = true
			}
		})
	}
}

type assertionClaims struct {
	Issuer   string   `json:"iss"`
	Subject  string   `json:"sub"`
	Audience audience `json:"aud"`
	ID       string   `json:"jti"`
	Issued   int64    `json:"iat"`
	Expires  int64    `json:"exp"`
}

// audience is a list, or a string that means a list of one element (RFC 7519 section 4.1.3).
type audience []string

func (a *audience) UnmarshalJSON(data []byte) error {
	if !strings.HasPrefix(string(data), "[") {
		data = []byte("[" + string(data) + "]")
	}
	return json.Unmarshal(data, (*[]string)(a))
}

// verifiedAssertion returns the claims of an assertion with a valid signature.
func verifiedAssertion(t *testing.T, token, alg string, key any) (claims assertionClaims) {
	t.Helper()
	var payload []byte
	switch alg {
	case "HS256": // go-jose requires longer secrets
		payload = verifiedBy(t, token, func(text, signature []byte) bool { return hmacSHA256(key.([]byte), text, signature) })
	case "Ed25519": // go-jose does not know the name
		payload = verifiedBy(t, token, func(text, signature []byte) bool {
			return ed25519.Verify(key.(ed25519.PublicKey), text, signature)
		})
	default:
		parsed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(alg)})
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Signatures[0].Header.KeyID != "key-1" {
			t.Errorf("kid %q", parsed.Signatures[0].Header.KeyID)
		}
		if payload, err = parsed.Verify(key); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

// verifiedBy returns the payload of a compact token if valid accepts its signature.
func verifiedBy(t *testing.T, token string, good func(text, signature []byte) bool) []byte {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("no token: %q", token)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !good([]byte(parts[0]+"."+parts[1]), signature) {
		t.Fatalf("the signature is wrong: %v", err)
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func hmacSHA256(key, text, signature []byte) bool {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return hmac.Equal(mac.Sum(nil), signature)
}
