package oidc_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/oidc"
)

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// logoutToken returns a valid logout token with changes; "$del" removes a member.
func logoutToken(t testing.TB, header, claims map[string]any, key string) string {
	t.Helper()
	h := map[string]any{"alg": "RS256", "kid": "rs1", "typ": "logout+jwt"}
	patch(h, header)
	c := map[string]any{
		"iss": opURL, "aud": "client-1", "sub": "u1", "iat": now.Unix(), "exp": now.Unix() + 120, "jti": "j1",
		"events": map[string]any{logoutEvent: map[string]any{}},
	}
	patch(c, claims)
	head, _ := json.Marshal(h)
	body, _ := json.Marshal(c)
	return signed(t, string(head), string(body), key)
}

// TestLogoutTokens checks valid and invalid tokens. Errors that do not depend on the signature are found before
// anything is fetched, because attackers can post tokens.
func TestLogoutTokens(t *testing.T) {
	t.Parallel()
	at := now.Unix()
	for _, row := range []struct {
		name           string
		header, claims map[string]any
		key            string
		ok, fetches    bool
	}{
		{"good", nil, nil, "rs1", true, true},
		{"typ application/logout+jwt", map[string]any{"typ": "application/logout+jwt"}, nil, "rs1", true, true},
		{"typ JWT", map[string]any{"typ": "JWT"}, nil, "rs1", true, true},
		{"no typ", map[string]any{"typ": "$del"}, nil, "rs1", true, true},
		{"a session alone", nil, map[string]any{"sub": "$del", "sid": "s1"}, "rs1", true, true},
		{"several audiences", nil,
			map[string]any{"aud": []string{"client-1", "client-2"}, "azp": "client-1"}, "rs1", true, true},
		{"no exp", nil, map[string]any{"exp": "$del"}, "rs1", true, true},
		{"no exp, issued 5 min ago", nil, map[string]any{"exp": "$del", "iat": at - 300}, "rs1", true, true},
		{"issued in 5 min", nil, map[string]any{"iat": at + 300, "exp": at + 400}, "rs1", true, true},
		{"exp in the far future", nil, map[string]any{"exp": json.Number("9223372036854775807")}, "rs1", true, true},

		{"no exp, issued 6 min ago", nil, map[string]any{"exp": "$del", "iat": at - 360}, "rs1", false, false},
		{"no exp, no iat", nil, map[string]any{"exp": "$del", "iat": "$del"}, "rs1", false, false},
		{"exp is text", nil, map[string]any{"exp": "4102444800"}, "rs1", false, false},
		{"exp is null", nil, map[string]any{"exp": nil, "nbf": nil, "nonce": nil}, "rs1", true, true},
		{"expired", nil, map[string]any{"exp": at - 31}, "rs1", false, false},
		{"good for years, issued two days ago", nil,
			map[string]any{"exp": at + 1e9, "iat": at - 2*24*3600}, "rs1", false, false},
		{"issued in 6 min", nil, map[string]any{"iat": at + 360, "exp": at + 400}, "rs1", false, false},
		{"issued before all time", nil,
			map[string]any{"exp": "$del", "iat": json.Number("-9223372036854775808")}, "rs1", false, false},
		{"not valid yet", nil, map[string]any{"nbf": at + 60}, "rs1", false, false},
		{"typ of an access token", map[string]any{"typ": "at+jwt"}, nil, "rs1", false, false},
		{"another audience", nil, map[string]any{"aud": "client-2"}, "rs1", false, false},
		{"no audience", nil, map[string]any{"aud": "$del"}, "rs1", false, false},
		{"iss is a list", nil, map[string]any{"iss": []string{opURL}}, "rs1", false, false},
		{"no events", nil, map[string]any{"events": "$del"}, "rs1", false, false},
		{"another event", nil, map[string]any{"events": map[string]any{"x": map[string]any{}}}, "rs1", false, false},
		{"an event that is no object", nil, map[string]any{"events": map[string]any{logoutEvent: true}}, "rs1", false, false},
		{"a nonce", nil, map[string]any{"nonce": "n-1"}, "rs1", false, false},
		{"no jti", nil, map[string]any{"jti": "$del"}, "rs1", false, false},
		{"jti is a number", nil, map[string]any{"jti": 7}, "rs1", false, false},
		{"a long jti", nil, map[string]any{"jti": strings.Repeat("j", 256)}, "rs1", false, false},
		{"neither sub nor sid", nil, map[string]any{"sub": "$del"}, "rs1", false, false},
		{"sub is null", nil, map[string]any{"sub": nil, "sid": "s1"}, "rs1", true, true},
		{"sub is null, and no sid", nil, map[string]any{"sub": nil}, "rs1", false, false},
		{"sub with a control character", nil, map[string]any{"sub": "u\x00"}, "rs1", false, false},
		{"another issuer", nil, map[string]any{"iss": "https://evil.example"}, "rs1", false, false},
		{"not signed", map[string]any{"alg": "none"}, nil, "none", false, false},
		{"another algorithm", map[string]any{"alg": "RS384"}, nil, "rs1/RS384", false, false},

		{"signed by somebody else", nil, nil, "evil", false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			op := newIssuer()
			c := newClient(op)
			e := c.expect(t)
			token, err := c.ReadLogoutToken(logoutToken(t, row.header, row.claims, row.key), "client-1")
			var said *oidc.Logout
			if err == nil {
				said, err = c.VerifyLogoutToken(t.Context(), token, e)
			}
			if (err == nil) != row.ok || (said != nil) != row.ok {
				t.Fatalf("got %+v, %v", said, err)
			}
			if fetched := op.keySets.Load() > 0; fetched != row.fetches {
				t.Errorf("keys were fetched: %t", fetched)
			}
			// The ID must be stored as long as the token is accepted.
			if !row.ok {
				return
			}
			c.forward(said.Expires.Sub(now))
			if _, err := c.ReadLogoutToken(logoutToken(t, row.header, row.claims, row.key), "client-1"); err == nil {
				t.Errorf("it is valid beyond %v", said.Expires)
			}
			if said.Expires.Sub(now) > 24*time.Hour+10*time.Minute {
				t.Errorf("its ID has to be remembered until %v", said.Expires)
			}
		})
	}
}

// manyTenants is an issuer with tenants whose names begin with "good", and a separately configured one, "own". It
// counts requests.
func manyTenants(op *issuer, asked map[string]int) transportFunc {
	return func(r *http.Request) (*http.Response, error) {
		op.mu.Lock()
		defer op.mu.Unlock()
		asked["all"]++
		tenant, document, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		asked[tenant]++
		body := `{}`
		switch {
		case strings.HasPrefix(document, ".well-known") && tenant == "common":
			body = `{"issuer":"https://op.example/{tenantid}","jwks_uri":"https://op.example/common/keys"}`
		case strings.HasPrefix(document, ".well-known") && (tenant == "own" || strings.HasPrefix(tenant, "good")):
			body = fmt.Sprintf(`{"issuer":"https://op.example/%s","jwks_uri":"https://op.example/%[1]s/keys"}`, tenant)
		case document == "keys":
			raw, _ := json.Marshal(map[string]any{"keys": op.keys})
			body = string(raw)
		default:
			return answering(r, status(http.StatusBadRequest))
		}
		return answering(r, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
	}
}

// named verifies an attacker's logout token for a tenant.
func (c *client) named(t *testing.T, tenant, key string) error {
	t.Helper()
	m, err := c.Metadata(t.Context(), "https://op.example/common")
	if err != nil {
		t.Fatal(err)
	}
	claims := map[string]any{"iss": m.IssuerOf(tenant), "tid": tenant, "iat": c.Now().Unix(), "exp": c.Now().Unix() + 60}
	token, err := c.ReadLogoutToken(logoutToken(t, nil, claims, key), "client-1")
	if err != nil {
		t.Fatal(err)
	}
	name, err := token.Tenant(m)
	if err != nil {
		return err
	}
	own, err := c.TenantForUntrusted(t.Context(), m, name)
	if err != nil {
		return err
	}
	_, err = c.VerifyLogoutToken(t.Context(), token, oidc.Expect{Metadata: own})
	return err
}

// TestLogoutTokensOfTenants verifies a token with the keys of the tenant that it names.
func TestLogoutTokensOfTenants(t *testing.T) {
	t.Parallel()
	c := newClient(manyTenants(newIssuer(), map[string]int{}))
	if err := c.named(t, "good-1", "rs1"); err != nil {
		t.Errorf("a good token is refused: %v", err)
	}
	if err := c.named(t, "good-1", "evil"); err == nil {
		t.Error("an unsigned token is accepted")
	}
	m, _ := c.Metadata(t.Context(), "https://op.example/common")
	for name, claims := range map[string]map[string]any{
		"no tenant":                     {"iss": m.IssuerOf("good-1")},
		"a tenant that leads elsewhere": {"tid": "../x", "iss": m.IssuerOf("../x")},
		"the issuer of another tenant":  {"tid": "good-1", "iss": m.IssuerOf("good-2")},
		"another issuer":                {"tid": "good-1", "iss": "https://evil.example/good-1"},
	} {
		token, err := c.ReadLogoutToken(logoutToken(t, nil, claims, "rs1"), "client-1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := token.Tenant(m); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestForgedTenants sends many tokens of nonexistent and existing tenants, and forged ones. The issuer gets few
// requests, no entry is evicted from the caches of sign-ins, and sign-ins with tenants still work.
func TestForgedTenants(t *testing.T) {
	t.Parallel()
	for _, names := range []string{"bad-%d", "good-%d"} {
		op, asked := newIssuer(), map[string]int{}
		c := newClient(manyTenants(op, asked))
		m, err := c.Metadata(t.Context(), "https://op.example/common")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Tenant(t.Context(), m, "good-of-a-visitor"); err != nil {
			t.Fatal(err)
		}
		own := func() {
			t.Helper()
			m, err := c.Metadata(t.Context(), "https://op.example/own")
			if err != nil {
				t.Fatal(err)
			}
			raw := token(t, map[string]any{"alg": "EdDSA", "kid": "ed1"},
				map[string]any{"iss": m.Issuer, "exp": c.Now().Unix() + 60, "at_hash": "$del"}, "ed1")
			want := oidc.Expect{Metadata: m, ClientID: "client-1", Nonce: "n-1", Algs: []string{"EdDSA"}}
			if _, err := c.VerifyIDToken(t.Context(), raw, want); err != nil {
				t.Error(err)
			}
		}
		own()
		for i := range 200 {
			_ = c.named(t, fmt.Sprintf(names, i), "hmac:forged")
		}
		if n := asked["all"]; n > 50 { // a document and the keys for each of twenty
			t.Errorf("%s: the issuer got %d requests", names, n)
		}
		if err := c.named(t, "good-of-a-visitor", "rs1"); err != nil {
			t.Errorf("%s: the tenant of a sign-in: %v", names, err)
		}
		for minutes := range 40 { // until there are more names than cache entries
			for i := range 30 {
				_ = c.named(t, fmt.Sprintf(names, 1000*(minutes+1)+i), "hmac:forged")
			}
			c.forward(time.Minute)
		}
		own()
		if asked["common"] > 1 || asked["own"] > 2 {
			t.Errorf("%s: the issuers got %d and %d requests", names, asked["common"], asked["own"])
		}
	}
}

// TestUnknownTenants: a tenant that was not found is requested again after ten minutes for untrusted tokens,
// and immediately for sign-ins.
func TestUnknownTenants(t *testing.T) {
	t.Parallel()
	op, asked := newIssuer(), map[string]int{}
	c := newClient(manyTenants(op, asked))
	m, _ := c.Metadata(t.Context(), "https://op.example/common")
	for range 10 {
		_ = c.named(t, "bad-1", "rs1")
		c.forward(50 * time.Second)
	}
	if asked["bad-1"] != 1 {
		t.Errorf("%d requests for untrusted tokens", asked["bad-1"])
	}
	if _, err := c.Tenant(t.Context(), m, "bad-1"); err == nil || asked["bad-1"] != 2 {
		t.Errorf("%d requests with a sign-in, %v", asked["bad-1"], err)
	}
	c.forward(11 * time.Minute)
	_ = c.named(t, "bad-1", "rs1")
	if asked["bad-1"] != 3 {
		t.Errorf("%d requests eleven minutes later", asked["bad-1"])
	}
}

// TestForgedLogoutsRenewNoKeys: forged tokens cannot make the keys of many tenants be fetched again and again.
func TestForgedLogoutsRenewNoKeys(t *testing.T) {
	t.Parallel()
	op, asked := newIssuer(), map[string]int{}
	c := newClient(manyTenants(op, asked))
	m, _ := c.Metadata(t.Context(), "https://op.example/common")
	for i := range 100 {
		if _, err := c.Tenant(t.Context(), m, fmt.Sprintf("good-%d", i)); err != nil {
			t.Fatal(err)
		}
		_ = c.named(t, fmt.Sprintf("good-%d", i), "rs1") // the keys are cached
	}
	c.forward(time.Minute)
	before := asked["all"]
	for i := range 100 {
		_ = c.named(t, fmt.Sprintf("good-%d", i), "hmac:forged")
	}
	if n := asked["all"] - before; n > 20 {
		t.Errorf("%d fetches within a minute", n)
	}
}
