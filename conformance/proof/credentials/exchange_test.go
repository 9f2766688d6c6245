package credentials_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core"
)

// sdkIssuer is the issuer of a provider whose SDK gives ID tokens to the app, and sdkClient the app's client ID there.
const (
	sdkIssuer = "https://sdk.example"
	sdkClient = "com.example.app"
)

// sdk is the transport to the provider.
type sdk struct{ key ed25519.PrivateKey }

func newSDK() sdk { return sdk{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))} }

// RoundTrip implements [http.RoundTripper]. The provider has metadata and a key.
func (p sdk) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := map[string]any{
		"issuer": sdkIssuer, "authorization_endpoint": sdkIssuer + "/authorize", "token_endpoint": sdkIssuer + "/token",
		"jwks_uri": sdkIssuer + "/keys", "id_token_signing_alg_values_supported": []string{"EdDSA"},
	}
	if r.URL.Path == "/keys" {
		x := base64.RawURLEncoding.EncodeToString(p.key.Public().(ed25519.PublicKey))
		answer = map[string]any{"keys": []any{map[string]string{
			"kty": "OKP", "crv": "Ed25519", "kid": "1", "use": "sig", "alg": "EdDSA", "x": x,
		}}}
	}
	body, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

// provider returns the provider as the site configures it.
func (p sdk) provider() *core.OAuthProvider {
	return &core.OAuthProvider{
		ID: "sdk", Name: "SDK", Type: core.TypeOIDC, Issuer: sdkIssuer, ClientID: "web", ClientSecret: "secret",
		HTTPClient: &http.Client{Transport: p},
	}
}

// idToken returns an ID token of a person.
func (p sdk) idToken(t *testing.T, person, nonce string) string {
	t.Helper()
	return p.idTokenFor(t, sdkClient, person, nonce)
}

// idTokenFor returns an ID token of a person for a client.
func (p sdk) idTokenFor(t *testing.T, client, person, nonce string) string {
	t.Helper()
	now := time.Now()
	claims, err := json.Marshal(map[string]any{
		"iss": sdkIssuer, "aud": client, "sub": person, "email": person + "@sdk.example", "email_verified": true,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "nonce": nonce,
	})
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","kid":"1"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(claims)
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(p.key, []byte(text)))
}

// exchangesIDToken signs a person in with an ID token, refreshes the tokens, and is refused with the same nonce again,
// with another nonce, and with a forged token.
func (s *site) exchangesIDToken() {
	ask := func(nonce, token string) reply {
		return s.send(http.DefaultClient, "POST", "/auth/token", url.Values{
			"client_id": {"cli"}, "grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"},
			"provider": {"sdk"}, "nonce": {nonce}, "subject_token": {token},
			"subject_token_type": {"urn:ietf:params:oauth:token-type:id_token"},
		})
	}
	nonce := func() string {
		var issued struct{ Nonce string }
		r := s.send(http.DefaultClient, "POST", "/auth/token/nonce", url.Values{"client_id": {"cli"}})
		if err := json.Unmarshal([]byte(r.body), &issued); err != nil || issued.Nonce == "" {
			s.Fatalf("the nonce: %d %s", r.StatusCode, r.body)
		}
		return issued.Nonce
	}
	p, one := newSDK(), nonce()
	var tokens struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	first := ask(one, p.idToken(s.T, "lin", one))
	if err := json.Unmarshal([]byte(first.body), &tokens); err != nil || first.StatusCode != 200 ||
		!strings.Contains(first.Header.Get("Cache-Control"), "no-store") || len(first.Cookies()) > 0 {
		s.Fatalf("the exchange: %d %s %v", first.StatusCode, first.body, first.Header)
	}
	r := s.uses(tokens.Access)
	if r.StatusCode != 200 || !strings.Contains(r.body, `credential "CLI", session false`) {
		s.Errorf("the API: %d %s", r.StatusCode, r.body)
	}
	again, err := s.config().TokenSource(s.Context(), &oauth2.Token{RefreshToken: tokens.Refresh}).Token()
	if err != nil {
		s.Fatal(err)
	}
	if u := s.uses(again.AccessToken); u.body != r.body {
		s.Errorf("after the refresh: %d %s, before %s", u.StatusCode, u.body, r.body)
	}
	two, three := nonce(), nonce()
	forged := p.idToken(s.T, "lin", three)
	forged = forged[:len(forged)-8] + "AAAAAAAA"
	for name, r := range map[string]reply{
		"the same nonce again": ask(one, p.idToken(s.T, "lin", one)),
		"another nonce":        ask(two, p.idToken(s.T, "lin", one)),
		"a forged token":       ask(three, forged),
		"a made-up nonce":      ask("x", p.idToken(s.T, "lin", "x")),
	} {
		if r.StatusCode != 400 || !strings.Contains(r.body, `"error":"invalid_request"`) {
			s.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
}
