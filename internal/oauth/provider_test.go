package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

// clock is the time of all clients and providers in these tests.
var clock = time.Unix(1_900_000_000, 0)

func now() time.Time { return clock }

// good is a token response.
const good = `{"access_token":"a1","token_type":"Bearer","expires_in":3600}`

// provider is a provider with configurable responses.
type provider struct {
	*httptest.Server
	signer jose.Signer
	key    *ecdsa.PrivateKey

	mu       sync.Mutex
	asked    []asked
	answers  map[string]answer // by path
	metadata map[string]any    // in addition to the defaults
}

// asked is a received request.
type asked struct {
	method, path, query, authorization string
	form                               url.Values
}

// answer is the response for a path. The default status is 200.
type answer struct {
	status      int
	media, body string
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{key: key, answers: map[string]answer{}, metadata: map[string]any{}}
	p.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "k"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// ServeHTTP implements [http.Handler].
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/.well-known/openid-configuration"):
		_ = json.NewEncoder(w).Encode(p.document())
		return
	case r.URL.Path == "/keys":
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &p.key.PublicKey, KeyID: "k"}}})
		return
	}
	raw, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(raw))
	p.asked = append(p.asked, asked{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Authorization"), form})
	a := p.answers[r.URL.Path]
	if a.media == "" {
		a.media = "application/json"
	}
	w.Header().Set("Content-Type", a.media)
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = io.WriteString(w, a.body)
}

// document returns the discovery document.
func (p *provider) document() map[string]any {
	document := map[string]any{
		"issuer": p.URL, "jwks_uri": p.URL + "/keys", "authorization_endpoint": p.URL + "/authorize",
		"token_endpoint": p.URL + "/token", "userinfo_endpoint": p.URL + "/userinfo",
		"id_token_signing_alg_values_supported": []string{"ES256"},
	}
	maps.Copy(document, p.metadata)
	return document
}

// last returns the last request.
func (p *provider) last(t *testing.T) asked {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) == 0 {
		t.Fatal("the provider got no request")
	}
	return p.asked[len(p.asked)-1]
}

// times returns the number of requests, except those for documents and keys.
func (p *provider) times() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

// sign returns a token with the claims.
func (p *provider) sign(t *testing.T, claims map[string]any) string {
	t.Helper()
	token, err := jwt.Signed(p.signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// claims returns those of a valid ID token with changes. A nil value removes a claim.
func (p *provider) claims(changes map[string]any) map[string]any {
	all := map[string]any{"iss": p.URL, "aud": "client", "sub": "u1", "iat": clock.Unix(), "exp": clock.Unix() + 60}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// config returns the configuration of an OAuth client with all endpoints.
func (p *provider) config() oauth.Config {
	http := upstream.New(upstream.Options{})
	return oauth.Config{
		ID: "op", ClientID: "client", ClientSecret: "secret", ClientAuth: oauth.ClientSecretBasic,
		Authorization: oauth.Endpoint{URL: p.URL + "/authorize"}, Token: oauth.Endpoint{URL: p.URL + "/token"},
		Userinfo: oauth.Endpoint{URL: p.URL + "/userinfo"}, Scope: "openid email",
		Variable: func(field string) string { return "AUTH_OP_" + field },
		HTTP:     http, Documents: oidc.New(oidc.Options{Client: http, Now: now}),
		Now: now, Rand: rand.Reader, NewID: func() (string, error) { return "id-1", nil },
	}
}

// openID returns the configuration of an OpenID Connect client that discovers all endpoints.
func (p *provider) openID() oauth.Config {
	c := p.config()
	c.OpenID, c.Issuer = true, p.URL
	c.Authorization, c.Token, c.Userinfo = oauth.Endpoint{}, oauth.Endpoint{}, oauth.Endpoint{}
	return c
}

// endpoints returns the endpoints for the steps after the callback.
func endpoints(t *testing.T, c *oauth.Client) oauth.Endpoints {
	t.Helper()
	at, err := c.Endpoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// query contains the parameters of an authorization response.
type query url.Values

// Get implements [oauth.Params].
func (q query) Get(name string) string { return url.Values(q).Get(name) }

// Count implements [oauth.Params].
func (q query) Count(name string) int { return len(q[name]) }

// accepted returns the code of an accepted response.
func accepted(t *testing.T, c *oauth.Client, at oauth.Endpoints, code string) oauth.Code {
	t.Helper()
	answer, err := oauth.ReadAnswer(query{"code": {code}, "state": {"s"}})
	if err != nil {
		t.Fatal(err)
	}
	value, err := c.Accept(at, answer)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// redeem runs the steps from the callback to the tokens.
func redeem(t *testing.T, c *oauth.Client) (*oauth.Tokens, error) {
	t.Helper()
	at := endpoints(t, c)
	return c.Redeem(t.Context(), at, accepted(t, c, at, "the-code"), "the-verifier", "https://app.example/callback")
}

// tells checks that an error contains all texts and no secret.
func tells(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("no %q in %q", text, err)
		}
	}
	for _, secret := range []string{"CANARY", "the-code", "the-verifier"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells %s: %v", secret, err)
		}
	}
}
