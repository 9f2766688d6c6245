package oauth_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

// TestVerifyIDToken checks the parts of the verification that this package adds. The rest is tested in package oidc.
func TestVerifyIDToken(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		claims  map[string]any
		nonce   string
		change  func(*oauth.Config)
		access  map[string]any // claims of a signed access token
		refused string         // text of the error; empty if accepted
	}{
		"right":            {claims: map[string]any{"nonce": "n"}, nonce: "n"},
		"without nonce":    {},
		"another nonce":    {claims: map[string]any{"nonce": "x"}, nonce: "n", refused: `provider "op": id_token: nonce`},
		"another audience": {claims: map[string]any{"aud": "other"}, refused: "aud is not this client"},
		"an algorithm that is not accepted": {
			change: func(c *oauth.Config) { c.IDTokenAlgs = []string{"RS256"} }, refused: "not among the algorithms accepted",
		},
		"a sign-in that is too old": {
			claims: map[string]any{"auth_time": clock.Unix() - 100},
			change: func(c *oauth.Config) { c.MaxAge = time.Minute }, refused: "auth_time",
		},
		"another access token":        {claims: map[string]any{"at_hash": "x"}, refused: "at_hash"},
		"an access token, not looked": {access: map[string]any{"sub": "u2"}},
		"an access token": {
			access: map[string]any{}, change: func(c *oauth.Config) { c.AccessTokenAlgs = []string{"ES256"} },
		},
		"an access token of another subject": {
			access: map[string]any{"sub": "u2"}, change: func(c *oauth.Config) { c.AccessTokenAlgs = []string{"ES256"} },
			refused: `provider "op": access_token: sub`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			config := p.openID()
			if row.change != nil {
				row.change(&config)
			}
			client := oauth.New(config)
			tokens := &oauth.Tokens{AccessToken: "CANARY", IDToken: p.sign(t, p.claims(row.claims))}
			if row.access != nil {
				tokens.AccessToken = p.sign(t, p.claims(row.access))
			}
			claims, err := client.VerifyIDToken(t.Context(), endpoints(t, client), tokens, row.nonce)
			if row.refused == "" {
				if err != nil || claims["sub"] != "u1" {
					t.Errorf("%v, %v", claims, err)
				}
				return
			}
			if tells(t, err, row.refused); claims != nil {
				t.Error("claims together with an error")
			}
		})
	}

	t.Run("none", func(t *testing.T) {
		t.Parallel()
		client := oauth.New(newProvider(t).openID())
		_, err := client.VerifyIDToken(t.Context(), endpoints(t, client), &oauth.Tokens{}, "")
		tells(t, err, `provider "op": the token response has no id_token`)
	})
}

// TestTenants has an issuer with several tenants: a token is verified with the document of the tenant that it names.
func TestTenants(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.metadata["issuer"] = p.URL + "/{tenantid}"
	config := p.openID()
	config.Issuer = p.URL + "/common"
	const foreign = "the tenant is not listed in Tenants"
	for name, row := range map[string]struct {
		tenants []string
		claims  map[string]any
		refused string
	}{
		"all may":                 {nil, map[string]any{"tid": "t1", "iss": p.URL + "/t1"}, ""},
		"a listed one":            {[]string{"t2", "t1"}, map[string]any{"tid": "t1", "iss": p.URL + "/t1"}, ""},
		"one that is not listed":  {[]string{"t2"}, map[string]any{"tid": "t1", "iss": p.URL + "/t1"}, foreign},
		"none listed":             {[]string{}, map[string]any{"tid": "t1", "iss": p.URL + "/t1"}, foreign},
		"the issuer of another":   {nil, map[string]any{"tid": "t1", "iss": p.URL + "/t2"}, ", not the issuer \""},
		"the issuer for all":      {nil, map[string]any{"tid": "t1", "iss": p.URL + "/{tenantid}"}, ", not the issuer \""},
		"no tenant":               {nil, map[string]any{"iss": p.URL + "/t1"}, "names no tenant"},
		"a tenant that is a path": {nil, map[string]any{"tid": "../t1", "iss": p.URL + "/../t1"}, "names no tenant"},
	} {
		t.Run(name, func(t *testing.T) {
			config := config
			config.Tenants = row.tenants
			client := oauth.New(config)
			p.metadata["issuer"] = p.URL + "/{tenantid}"
			at := endpoints(t, client)
			p.metadata["issuer"] = p.URL + "/t1" // in the tenant's own document
			token := p.sign(t, p.claims(row.claims))
			_, err := client.VerifyIDToken(t.Context(), at, &oauth.Tokens{IDToken: token}, "")
			if row.refused == "" && err != nil {
				t.Error(err)
			} else if row.refused != "" {
				tells(t, err, row.refused)
			}

			events := map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}
			said := p.claims(row.claims)
			said["events"], said["jti"] = events, "j"
			logout, err := client.ReadLogoutToken(p.sign(t, said))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = client.VerifyLogoutToken(t.Context(), at, logout); (err != nil) != (row.refused != "") {
				t.Errorf("logout: %v", err)
			}
		})
	}
}

// TestVerifyRefreshed compares a refreshed ID token with that of the sign-in or, without one, with the account.
func TestVerifyRefreshed(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := oauth.New(p.openID())
	at := endpoints(t, client)
	earlier := p.sign(t, p.claims(map[string]any{"nonce": "n", "sub": "u1"}))
	for name, row := range map[string]struct {
		claims           map[string]any
		earlier, subject string
		refused          string
	}{
		"as earlier":               {nil, earlier, "another", ""},
		"with the nonce":           {map[string]any{"nonce": "n"}, earlier, "", ""},
		"with another nonce":       {map[string]any{"nonce": "x"}, earlier, "", "nonce"},
		"another person":           {map[string]any{"sub": "u2"}, earlier, "u2", "sub is another"},
		"the account":              {nil, "", "u1", ""},
		"another than the account": {nil, "", "u2", "sub is another"},
		"an earlier one that is none": {
			nil, "CANARY", "u1", `provider "op": the id_token of the account: `,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens := &oauth.Tokens{IDToken: p.sign(t, p.claims(row.claims))}
			err := client.VerifyRefreshed(t.Context(), at, tokens, row.earlier, row.subject)
			if row.refused == "" && err != nil {
				t.Error(err)
			} else if row.refused != "" {
				tells(t, err, row.refused)
			}
		})
	}
}

// TestRefreshedWithoutIDToken: an unreadable ID token is ignored, and the other tokens are kept.
func TestRefreshedWithoutIDToken(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		raw    string // empty means a valid one
		noKeys bool
	}{
		"no token":          {raw: "CANARY"},
		"claims of no JSON": {raw: "eyJhbGciOiJFUzI1NiJ9.eA.AAAA"},
		"no keys":           {noKeys: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.answers["/gone"] = answer{status: 503}
			if row.noKeys {
				p.metadata["jwks_uri"] = p.URL + "/gone"
			}
			client := oauth.New(p.openID())
			tokens := &oauth.Tokens{IDToken: row.raw, AccessToken: "a2", RefreshToken: "r2"}
			if row.raw == "" {
				tokens.IDToken = p.sign(t, p.claims(nil))
			}
			err := client.VerifyRefreshed(t.Context(), endpoints(t, client), tokens, "", "u1")
			if err != nil || tokens.IDToken != "" || tokens.RefreshToken != "r2" {
				t.Errorf("%+v, %v", tokens, err)
			}
		})
	}
}

func TestLogoutToken(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	events := map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}
	client := oauth.New(p.openID())
	read := func(changes map[string]any) (string, error) {
		token, err := client.ReadLogoutToken(p.sign(t, p.claims(changes)))
		if err != nil {
			return "", err
		}
		said, err := client.VerifyLogoutToken(t.Context(), endpoints(t, client), token)
		if err != nil {
			return "", err
		}
		return said.ID + " " + said.Subject, nil
	}
	if said, err := read(map[string]any{"events": events, "jti": "j"}); err != nil || said != "j u1" {
		t.Errorf("%q, %v", said, err)
	}
	_, err := read(map[string]any{"events": events, "jti": "j", "aud": "other"})
	tells(t, err, "aud is not this client")
	_, err = read(map[string]any{"events": events, "jti": "j", "iss": "https://evil.example"})
	tells(t, err, ", not the issuer \"")
}

// TestTransport checks that the limits apply to requests of the application: no redirect is followed.
func TestTransport(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.answers["/api"] = answer{status: 302}
	client := &http.Client{Transport: oauth.New(p.config()).Transport()}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+"/api", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _ = got.Body.Close(); got.StatusCode != 302 || p.times() != 1 {
		t.Errorf("status %d after %d requests", got.StatusCode, p.times())
	}
}
