package peers_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// secret needs escaping in every form of client authentication, and has the 32 bytes that HS256 requires.
const secret = `p%ss+w&rd=/:~ with "32" bytes at least`

// client is a client's registration.
type client map[string]any

// settings are the settings of server.mjs, for the site's client.
type settings struct {
	claimsInIDToken bool
	client          client // changes of the registration; nil removes a member
	accessTokenAlg  string
}

// oidcProvider starts npm's oidc-provider with a separate issuer and separate keys.
func oidcProvider(t *testing.T, s *site, claimsInIDToken bool, change client) (issuer string) {
	t.Helper()
	return startProvider(t, s, settings{claimsInIDToken: claimsInIDToken, client: change})
}

func startProvider(t *testing.T, s *site, o settings) (issuer string) {
	t.Helper()
	c := client{
		"client_id": "site", "client_secret": secret, "redirect_uris": []string{s.URL + "/auth/callback/op"},
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
	}
	for name, v := range o.client {
		c[name] = v
		if v == nil {
			delete(c, name)
		}
	}
	argument, err := json.Marshal(map[string]any{
		"clients": []client{c}, "claimsInIDToken": o.claimsInIDToken, "accessTokenAlg": o.accessTokenAlg,
	})
	if err != nil {
		t.Fatal(err)
	}
	return openProvider(t, argument)
}

func ours(issuer string) *core.OAuthProvider {
	return providers.OIDC("op", issuer, providers.Options{ClientID: "site", ClientSecret: secret})
}

const ada = "Ada Lovelace ada@example.com"

// TestOIDCProvider runs the complete flow: discovery, PKCE, state, nonce, iss, ID token, userinfo.
func TestOIDCProvider(t *testing.T) {
	for _, row := range []struct {
		name            string
		claimsInIDToken bool
		client          client
		change          func(p *core.OAuthProvider)
	}{
		{"claims in the ID token", true, nil, nil},
		{"claims from userinfo", false, nil, func(p *core.OAuthProvider) { p.ProfileFromUserinfo = true }},
		{"ID token by ES256", true, client{"id_token_signed_response_alg": "ES256"}, nil},
		{"ID token by EdDSA", true, client{"id_token_signed_response_alg": "EdDSA"}, nil},
		{"ID token by HS256, asked for", true, client{"id_token_signed_response_alg": "HS256"},
			func(p *core.OAuthProvider) { p.IDTokenAlgs = []string{"HS256"} }},
		{"userinfo signed by RS256", false, client{"userinfo_signed_response_alg": "RS256"},
			func(p *core.OAuthProvider) { p.ProfileFromUserinfo = true }},
		{"userinfo signed by ES256", false, client{"userinfo_signed_response_alg": "ES256"},
			func(p *core.OAuthProvider) { p.ProfileFromUserinfo = true }},
		{"userinfo signed by EdDSA", false, client{"userinfo_signed_response_alg": "EdDSA"},
			func(p *core.OAuthProvider) { p.ProfileFromUserinfo = true }},
		{"as plain OAuth", false, nil, func(p *core.OAuthProvider) { p.Type = core.TypeOAuth }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSite(t)
			issuer := oidcProvider(t, s, row.claimsInIDToken, row.client)
			p := ours(issuer)
			if row.change != nil {
				row.change(p)
			}
			if p.Type == core.TypeOAuth {
				p.Checks = []core.Check{core.CheckPKCE, core.CheckState}
			}
			s.open(t, p)
			v := s.visitor(t)
			if at := v.click("op"); at.body != "home" {
				t.Fatalf("ended at %s\n%s", at.url, s.logged())
			}
			if who := v.signedIn(); who != ada {
				t.Errorf("signed in as %q", who)
			}
			asked := v.pass("/auth").Query()
			if asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") == "" ||
				asked.Get("state") == "" ||
				(asked.Get("nonce") == "") != (p.Type == core.TypeOAuth) {
				t.Errorf("asked %v", asked)
			}
			if got := v.pass("/auth/callback/op").Query(); got.Get("iss") != issuer {
				t.Errorf("iss is %q", got.Get("iss"))
			}
			event := s.last(t)
			account := event.Account
			if account.ProviderAccountID != "ada" || account.AccessToken == "" ||
				account.TokenType != "bearer" || account.ExpiresAt.Before(time.Now()) {
				t.Errorf("account %v, %s", account.ProviderAccountID, account.TokenType)
			}
		})
	}
}

// inForm matches the action and the hidden fields of a page's form.
var inForm = regexp.MustCompile(`action="([^"]+)"|name="([^"]+)" value="([^"]*)"`)

// TestRPInitiatedLogout signs out of the site and of the provider, which asks the user and redirects back.
func TestRPInitiatedLogout(t *testing.T) {
	s := newSite(t)
	back := s.URL + "/auth/logout/op"
	p := ours(oidcProvider(t, s, true, client{"post_logout_redirect_uris": []string{back}}))
	p.Logout = core.True
	s.open(t, p)
	v := s.visitor(t)
	if at := v.click("op"); at.body != "home" || v.signedIn() != ada {
		t.Fatalf("ended at %s\n%s", at.url, s.logged())
	}
	at := v.signOut("/?bye=1")
	asked := at.url.Query()
	if at.url.Path != "/session/end" || asked.Get("client_id") != "site" ||
		asked.Get("post_logout_redirect_uri") != back ||
		asked.Get("id_token_hint") == "" || asked.Get("state") == "" {
		t.Fatalf("asked at %s: %s\n%s", at.url, at.body, s.logged())
	}
	if who := v.signedIn(); who != "" {
		t.Errorf("still signed in here, before the provider has answered: %s", who)
	}
	action, fields := "", url.Values{"logout": {"yes"}}
	for _, m := range inForm.FindAllStringSubmatch(at.body, -1) {
		if action += m[1]; m[2] != "" && m[2] != "logout" {
			fields.Set(m[2], m[3])
		}
	}
	v.seen = nil
	r, err := v.PostForm(action, fields)
	if at = v.arrive(r, err); at.url.String() != s.URL+"/?bye=1" || at.body != "home" {
		t.Errorf("ended at %s: %s\n%s", at.url, at.body, s.logged())
	}
	if q := v.pass("/auth/logout/op").Query(); q.Get("state") != asked.Get("state") {
		t.Errorf("came back with %v", q)
	}
}

// TestClientAuthentication authenticates the client with every method. A provider that enforces the method rejects
// wrong credentials.
func TestClientAuthentication(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	registered := func(key crypto.Signer, alg string) client {
		set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k-1", Algorithm: alg, Use: "sig"}}}
		return client{
			"token_endpoint_auth_method": "private_key_jwt", "token_endpoint_auth_signing_alg": alg,
			"jwks": set, "client_secret": nil,
		}
	}
	signs := func(key crypto.Signer) func(p *core.OAuthProvider) {
		return func(p *core.OAuthProvider) {
			p.ClientAuth, p.ClientKey, p.ClientKeyID, p.ClientSecret = core.PrivateKeyJWT, key, "k-1", ""
		}
	}
	method := func(name string) client { return client{"token_endpoint_auth_method": name} }
	for _, row := range []struct {
		name   string
		client client
		change func(p *core.OAuthProvider)
		good   bool
	}{
		{"client_secret_basic", method("client_secret_basic"),
			func(p *core.OAuthProvider) { p.ClientAuth = core.ClientSecretBasic }, true},
		{"client_secret_basic, odd id", client{"client_id": "a:b c%&+"},
			func(p *core.OAuthProvider) { p.ClientID = "a:b c%&+" }, true},
		{"client_secret_post", method("client_secret_post"),
			func(p *core.OAuthProvider) { p.ClientAuth = core.ClientSecretPost }, true},
		{"client_secret_jwt", method("client_secret_jwt"),
			func(p *core.OAuthProvider) { p.ClientAuth = core.ClientSecretJWT }, true},
		{"private_key_jwt, RS256", registered(rsaKey, "RS256"), signs(rsaKey), true},
		{"private_key_jwt, ES256", registered(ecKey, "ES256"), signs(ecKey), true},
		{"private_key_jwt, EdDSA", registered(edKey, "EdDSA"), signs(edKey), true},
		{"none", client{"token_endpoint_auth_method": "none", "client_secret": nil},
			func(p *core.OAuthProvider) { p.ClientAuth, p.ClientSecret = core.ClientAuthNone, "" }, true},

		{"wrong secret, basic", method("client_secret_basic"),
			func(p *core.OAuthProvider) { p.ClientSecret = "wrong" }, false},
		{"wrong secret, post", method("client_secret_post"),
			func(p *core.OAuthProvider) { p.ClientAuth, p.ClientSecret = core.ClientSecretPost, "wrong" }, false},
		{"wrong secret, jwt", method("client_secret_jwt"),
			func(p *core.OAuthProvider) { p.ClientAuth, p.ClientSecret = core.ClientSecretJWT, "wrong" }, false},
		{"wrong key", registered(ecKey, "ES256"), signs(other), false},
		{"no secret where one is wanted", method("client_secret_basic"),
			func(p *core.OAuthProvider) { p.ClientAuth = core.ClientAuthNone }, false},
		{"secret where an assertion is wanted", method("client_secret_jwt"),
			func(p *core.OAuthProvider) { p.ClientAuth = core.ClientSecretPost }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSite(t)
			p := ours(oidcProvider(t, s, true, row.client))
			row.change(p)
			s.open(t, p)
			v := s.visitor(t)
			at := v.click("op")
			if (at.body == "home") != row.good || (v.signedIn() == ada) != row.good {
				t.Fatalf("ended at %s\n%s", at.url, s.logged())
			}
			if !row.good && (at.url.Query().Get("error") != "Configuration" || !strings.Contains(s.logged(), "invalid_client")) {
				t.Errorf("ended at %s\n%s", at.url, s.logged())
			}
			if log := s.logged(); strings.Contains(log, "wrong") || strings.Contains(log, "p%ss") {
				t.Error("the log has the secret")
			}
		})
	}
}

// TestKeyRotation signs in, rotates all keys of the provider, and signs in again.
func TestKeyRotation(t *testing.T) {
	s := newSite(t)
	issuer := oidcProvider(t, s, true, nil)
	s.open(t, ours(issuer))
	for _, when := range []string{"before", "after the first", "after the second"} {
		if when != "before" {
			r, err := http.Post(issuer+"/rotate", "", nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = r.Body.Close()
			s.setSkew(s.skew + 2*time.Minute) // key sets are fetched again only after some time, not for each unknown key
		}
		v := s.visitor(t)
		if at := v.click("op"); at.body != "home" || v.signedIn() != ada {
			t.Fatalf("%s: ended at %s\n%s", when, at.url, s.logged())
		}
	}
}

// TestClockSkew signs in while the application's clock is wrong.
func TestClockSkew(t *testing.T) {
	s := newSite(t)
	s.open(t, ours(oidcProvider(t, s, true, nil)))
	for _, row := range []struct {
		name string
		skew time.Duration
		good bool
	}{
		{"ahead", 25 * time.Second, true},
		{"behind", -25 * time.Second, true},
		{"far ahead", 2 * time.Hour, false},
		{"behind by minutes", -2 * time.Minute, true}, // iat is not compared with the clock, exp is
	} {
		t.Run(row.name, func(t *testing.T) {
			s.setSkew(row.skew)
			at := s.visitor(t).click("op")
			if (at.body == "home") != row.good {
				t.Errorf("ended at %s\n%s", at.url, s.logged())
			}
		})
	}
}

// TestRefreshToken uses the stored refresh token as applications do (docs/protocol.md §8.12).
func TestRefreshToken(t *testing.T) {
	s := newSite(t)
	issuer := oidcProvider(t, s, true, nil)
	p := ours(issuer)
	p.Scope = "openid profile email offline_access"
	p.Authorization.Params = url.Values{"prompt": {"consent"}}
	s.open(t, p)
	if at := s.visitor(t).click("op"); at.body != "home" {
		t.Fatalf("ended at %s\n%s", at.url, s.logged())
	}
	account, err := s.store.Account(t.Context(), "op", "ada")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(account.Scope, "offline_access") || account.ExpiresAt.IsZero() {
		t.Errorf("scope %q, expires at %v", account.Scope, account.ExpiresAt)
	}
	s.refresh(t, account)
}

// refresh refreshes the account's access token twice, the second time with the refresh token of the first response.
func (s *site) refresh(t *testing.T, account *core.Account) {
	t.Helper()
	for range 2 {
		old := account.AccessToken
		account.ExpiresAt = time.Unix(1, 0)
		fresh, err := s.auth.Refresh(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		if fresh.AccessToken == "" || fresh.AccessToken == old ||
			fresh.ExpiresAt.Before(s.now()) || fresh.RefreshToken == "" {
			t.Errorf("access token new: %v, expires at %v", fresh.AccessToken != old, fresh.ExpiresAt)
		}
		account, err = s.store.Account(t.Context(), account.Provider, account.ProviderAccountID)
		if err != nil || account.AccessToken != fresh.AccessToken {
			t.Errorf("the new token was not stored: %v", err)
		}
	}
	account.ExpiresAt, account.RefreshToken = time.Unix(1, 0), "made-up"
	if err := s.store.UpdateAccount(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	if _, err := s.auth.Refresh(t.Context(), account); !errors.Is(err, core.ErrInvalidGrant) {
		t.Errorf("an unknown refresh token: %v", err)
	}
}

// TestMixUp sends the callback with another provider's iss, without iss, and with iss twice.
func TestMixUp(t *testing.T) {
	s := newSite(t)
	s.open(t, ours(oidcProvider(t, s, true, nil)))
	for name, change := range map[string]func(q url.Values){
		"another issuer": func(q url.Values) { q.Set("iss", "https://evil.example") },
		"no issuer":      func(q url.Values) { q.Del("iss") },
		"two issuers":    func(q url.Values) { q.Add("iss", q.Get("iss")) },
		"another state":  func(q url.Values) { q.Set("state", "other") },
		"two codes":      func(q url.Values) { q.Add("code", "other") },
		"another code":   func(q url.Values) { q.Set("code", "other") },
	} {
		t.Run(name, func(t *testing.T) {
			v := s.visitor(t)
			follow := v.CheckRedirect
			v.CheckRedirect = func(r *http.Request, via []*http.Request) error {
				if r.URL.Path == "/auth/callback/op" {
					return http.ErrUseLastResponse
				}
				return follow(r, via)
			}
			callback, err := url.Parse(v.click("op").location)
			if err != nil || callback.Query().Get("code") == "" {
				t.Fatalf("callback %v, error %v", callback, err)
			}
			v.CheckRedirect = follow
			q := callback.Query()
			change(q)
			callback.RawQuery = q.Encode()
			if at := v.get(callback.String()); at.url.Query().Get("error") == "" || v.signedIn() != "" {
				t.Errorf("ended at %s", at.url)
			}
		})
	}
}

// TestMetadata reads the metadata that an application needs to end the session at the provider.
func TestMetadata(t *testing.T) {
	s := newSite(t)
	issuer := oidcProvider(t, s, true, nil)
	v := s.visitor(t)
	var metadata map[string]any
	if err := json.Unmarshal([]byte(v.get(issuer+"/.well-known/openid-configuration").body), &metadata); err != nil {
		t.Fatal(err)
	}
	if metadata["end_session_endpoint"] != issuer+"/session/end" ||
		metadata["authorization_response_iss_parameter_supported"] != true {
		t.Errorf("metadata %v", metadata)
	}
}
