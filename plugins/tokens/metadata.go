package tokens

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// serverMetadata describes the endpoints (RFC 8414 section 2), so that clients can find them.
type serverMetadata struct {
	Issuer            string   `json:"issuer"`
	Authorization     string   `json:"authorization_endpoint"`
	Token             string   `json:"token_endpoint"`
	Device            string   `json:"device_authorization_endpoint"`
	Revocation        string   `json:"revocation_endpoint"`
	Scopes            []string `json:"scopes_supported"`
	ResponseTypes     []string `json:"response_types_supported"`
	GrantTypes        []string `json:"grant_types_supported"`
	AuthMethods       []string `json:"token_endpoint_auth_methods_supported"`
	RevocationMethods []string `json:"revocation_endpoint_auth_methods_supported"`
	ChallengeMethods  []string `json:"code_challenge_methods_supported"`
	IssuerInTheAnswer bool     `json:"authorization_response_iss_parameter_supported"`
	// JWKS has the public keys of the signed access tokens for Resources (RFC 9728 section 4).
	JWKS               string   `json:"jwks_uri,omitempty"`
	Resources          []string `json:"protected_resources,omitempty"`
	UILocalesSupported []string `json:"ui_locales_supported,omitempty"`
}

// metadata is the document /.well-known/oauth-authorization-server. The issuer is the origin of the site.
func (t *Tokens) metadata(_ context.Context, base string) (*core.Response, error) {
	var scopes, resources []string
	for _, app := range t.options.Apps {
		for _, s := range app.Scopes {
			if !slices.Contains(scopes, s.Name) {
				scopes = append(scopes, s.Name)
			}
		}
		for _, id := range app.Resources {
			if !slices.Contains(resources, id) {
				resources = append(resources, id)
			}
		}
	}
	public, issuer, jwks := []string{"none"}, strings.TrimSuffix(base, t.host.BasePath), ""
	if resources != nil {
		jwks = issuer + "/.well-known/jwks.json"
	}
	grants := []string{grantCode, grantRefresh, grantDevice}
	if len(t.idTokenProviders()) > 0 {
		grants = append(grants, grantExchange)
	}
	body, err := json.Marshal(serverMetadata{
		Issuer: issuer, JWKS: jwks, Resources: resources, Authorization: base + "/authorize", Token: base + "/token",
		Device: base + "/device/authorization", Revocation: base + "/token/revoke", Scopes: append([]string{}, scopes...),
		ResponseTypes: []string{"code"}, GrantTypes: grants,
		AuthMethods: public, RevocationMethods: public, ChallengeMethods: []string{"S256"}, IssuerInTheAnswer: true,
	})
	if err != nil {
		return nil, err
	}
	return &core.Response{Body: body, Header: http.Header{
		"Content-Type": {"application/json"}, "Cache-Control": {"public, max-age=300"},
	}}, nil
}
