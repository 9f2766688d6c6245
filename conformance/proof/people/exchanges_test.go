package people_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// sdk is the transport to an OpenID provider whose SDK gives ID tokens to apps.
type sdk struct{ key ed25519.PrivateKey }

// sdkIssuer is the issuer of the provider.
const sdkIssuer = "https://sdk.example"

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

// idToken returns an ID token of a person for the app.
func (p sdk) idToken(t testing.TB, subject, nonce string, now time.Time) string {
	t.Helper()
	return p.idTokenFor(t, "app", subject, nonce, now)
}

// idTokenFor returns an ID token of a person for a client.
func (p sdk) idTokenFor(t testing.TB, client, subject, nonce string, now time.Time) string {
	t.Helper()
	claims, err := json.Marshal(map[string]any{
		"iss": sdkIssuer, "aud": client, "sub": subject, "email": subject + "@sdk.example", "email_verified": true,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "nonce": nonce,
	})
	check(t, err)
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","kid":"1"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(claims)
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(p.key, []byte(text)))
}

// TestNonces exchanges ID tokens with one nonce 50 times at once, in two processes, on the store of each database: one
// exchange gets tokens. It does so with one ID token, and with an ID token of another person in each request.
func TestNonces(t *testing.T) {
	for _, engine := range stores {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(engine.name+", "+string(strategy), func(t *testing.T) {
				t.Parallel()
				s := newAppSite(t, engine.empty(t), strategy)
				s.exchangeAtOnce("one ID token", func(int) string { return "lin" })
				s.exchangeAtOnce("many ID tokens", func(i int) string { return fmt.Sprintf("kim%d", i) })
			})
		}
	}
}

// exchangeAtOnce exchanges an ID token of a person in each request, all with the same nonce.
func (s *appSite) exchangeAtOnce(what string, person func(i int) string) {
	var issued struct{ Nonce string }
	r := s.send(0, "POST", "/auth/token/nonce", url.Values{"client_id": {cli.ID}})
	check(s.T, json.Unmarshal(r.Body, &issued))
	form := func(i int) url.Values {
		return url.Values{
			"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "provider": {"sdk"}, "nonce": {issued.Nonce},
			"subject_token":      {s.sdk.idToken(s, person(i), issued.Nonce, s.clock())},
			"subject_token_type": {"urn:ietf:params:oauth:token-type:id_token"},
		}
	}
	var all [50]appTokens
	won := together(len(all), func(i int) bool {
		all[i] = s.token(i, form(i))
		return all[i].Access != ""
	})
	if won != 1 {
		s.Errorf("%s: %d exchanges got tokens for one nonce", what, won)
	}
	for i, t := range all {
		switch {
		case t.Access != "":
			s.works(what, t.Access, true)
		case t.Error != "invalid_request":
			s.Errorf("%s, %d: %s", what, i, t.Error)
		}
	}
	if t := s.token(1, form(0)); t.Error != "invalid_request" {
		s.Errorf("%s: the nonce again: %+v", what, t)
	}
}
