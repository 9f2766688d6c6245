package peers_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// TestFusionAuthAlgorithms signs in with a provider that uses other algorithms than RS256.
func TestFusionAuthAlgorithms(t *testing.T) {
	for _, row := range []struct {
		name        string
		client      client
		accessToken string // algorithm of JWT access tokens; empty means opaque tokens
		refused     string
	}{
		{name: "RS256, opaque access token"},
		{name: "RS256 both", accessToken: "RS256"},
		{name: "ID token by ES256", client: client{"id_token_signed_response_alg": "ES256"}, refused: "id_token"},
		{name: "ID token by HS256", client: client{"id_token_signed_response_alg": "HS256"}, refused: "id_token"},
		{name: "ID token by EdDSA", client: client{"id_token_signed_response_alg": "EdDSA"}, refused: "id_token"},
		{name: "access token by ES256", accessToken: "ES256", refused: "access_token"},
		{name: "access token by HS256", accessToken: "HS256", refused: "access_token"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSite(t)
			issuer := startProvider(t, s, settings{claimsInIDToken: true, client: row.client, accessTokenAlg: row.accessToken})
			p := providers.FusionAuth(providers.FusionAuthOptions{
				Options: providers.Options{ID: "op", ClientID: "site", ClientSecret: secret, Issuer: issuer},
			})
			p.Token, p.Userinfo = core.Endpoint{}, core.Endpoint{} // this provider has other endpoints
			s.open(t, p)
			v := s.visitor(t)
			at := v.click("op")
			if good := row.refused == ""; (at.body == "home") != good || (v.signedIn() == ada) != good {
				t.Fatalf("ended at %s\n%s", at.url, s.logged())
			}
			if row.refused == "" {
				if token := string(s.last(t).Account.AccessToken); (strings.Count(token, ".") == 2) != (row.accessToken != "") {
					t.Error("the access token is of another kind than the test is about")
				}
				return
			}
			if !strings.Contains(s.logged(), row.refused+": signed with") {
				t.Errorf("the log says %s", s.logged())
			}
		})
	}
}
