package oidc_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/oidc"
)

// TestUserinfo verifies signed userinfo responses. Nonce, times and at_hash are claims of ID tokens and may be missing.
func TestUserinfo(t *testing.T) {
	t.Parallel()
	bare := map[string]any{"iat": "$del", "exp": "$del", "nonce": "$del", "at_hash": "$del"}
	with := func(more map[string]any) map[string]any {
		all := map[string]any{}
		patch(all, bare)
		for name, v := range more {
			all[name] = v
		}
		return all
	}
	for _, row := range []struct {
		name           string
		header, claims map[string]any
		key            string
		algs           []string
		ok             bool
	}{
		{"RS256", nil, with(nil), "rs1", nil, true},
		{"ES256", map[string]any{"alg": "ES256", "kid": "es1"}, with(nil), "es1", nil, true},
		{"without iss and aud", nil, with(map[string]any{"iss": "$del", "aud": "$del"}), "rs1", nil, true},
		{"not expired", nil, with(map[string]any{"exp": now.Unix() + 1}), "rs1", nil, true},
		{"HS256, asked for", map[string]any{"alg": "HS256", "kid": "$del"}, with(nil),
			"client_secret", []string{"HS256"}, true},

		{"HS256", map[string]any{"alg": "HS256", "kid": "$del"}, with(nil), "client_secret", nil, false},
		{"not signed", map[string]any{"alg": "none"}, with(nil), "none", nil, false},
		{"signed by somebody else", nil, with(nil), "evil", nil, false},
		{"an algorithm that was not asked for", map[string]any{"alg": "ES256", "kid": "es1"}, with(nil),
			"es1", []string{"RS256"}, false},
		{"from another issuer", nil, with(map[string]any{"iss": "https://evil.example"}), "rs1", nil, false},
		{"iss is null", nil, with(map[string]any{"iss": nil, "aud": nil, "exp": nil}), "rs1", nil, true},
		{"for another client", nil, with(map[string]any{"aud": "client-2"}), "rs1", nil, false},
		{"expired", nil, with(map[string]any{"exp": now.Unix() - 31}), "rs1", nil, false},
		{"exp is text", nil, with(map[string]any{"exp": "4000000000"}), "rs1", nil, false},
		{"an access token", map[string]any{"typ": "at+jwt"}, with(nil), "rs1", nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(newIssuer())
			e := c.expect(t)
			e.Algs = row.algs
			claims, err := c.VerifyUserinfo(t.Context(), token(t, row.header, row.claims, row.key), e)
			if (err == nil) != row.ok || (claims["sub"] == "u1") != row.ok {
				t.Errorf("claims %v, error %v", claims, err)
			}
		})
	}
	c := newClient(newIssuer())
	for _, raw := range []string{"", "a.b.c", "{}", "a.b.c.d.e", strings.Repeat("x", 1<<20)} {
		if claims, err := c.VerifyUserinfo(t.Context(), raw, c.expect(t)); err == nil || claims != nil {
			t.Errorf("%.20q: claims %v", raw, claims)
		}
	}
}

func TestAccessToken(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name           string
		header, claims map[string]any
		key            string
		ok             bool
	}{
		{"RS256", nil, nil, "rs1", true},
		{"at+jwt", map[string]any{"typ": "at+jwt"}, nil, "rs1", true},
		{"application/at+jwt", map[string]any{"typ": "application/at+jwt"}, nil, "rs1", true},
		{"for an API", nil, map[string]any{"aud": "https://api.example", "nonce": "$del"}, "rs1", true},

		{"ES256", map[string]any{"alg": "ES256", "kid": "es1"}, nil, "es1", false},
		{"HS256", map[string]any{"alg": "HS256", "kid": "$del"}, nil, "client_secret", false},
		{"not signed", map[string]any{"alg": "none"}, nil, "none", false},
		{"signed by somebody else", nil, nil, "evil", false},
		{"about somebody else", nil, map[string]any{"sub": "u2"}, "rs1", false},
		{"without a subject", nil, map[string]any{"sub": "$del"}, "rs1", false},
		{"from another issuer", nil, map[string]any{"iss": "https://evil.example"}, "rs1", false},
		{"without an issuer", nil, map[string]any{"iss": "$del"}, "rs1", false},
		{"expired", nil, map[string]any{"exp": now.Unix() - 31}, "rs1", false},
		{"without an end", nil, map[string]any{"exp": "$del"}, "rs1", false},
		{"a logout token", map[string]any{"typ": "logout+jwt"}, nil, "rs1", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(newIssuer())
			e := oidc.Expect{Metadata: c.expect(t).Metadata, Algs: []string{"RS256"}}
			err := c.VerifyAccessToken(t.Context(), token(t, row.header, row.claims, row.key), "u1", e)
			if (err == nil) != row.ok {
				t.Errorf("error %v", err)
			}
		})
	}
	c := newClient(newIssuer())
	if err := c.VerifyAccessToken(t.Context(), "opaque-4711", "u1", c.expect(t)); err != nil {
		t.Errorf("opaque: %v", err)
	}
}
