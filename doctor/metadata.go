package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// document contains the issuer metadata that doctor compares (OpenID Connect Discovery section 3, RFC 8414 section 2).
type document struct {
	Keys           string   `json:"jwks_uri"`
	Authentication []string `json:"token_endpoint_auth_methods_supported"`
	IDTokenAlgs    []string `json:"id_token_signing_alg_values_supported"`
	Challenges     []string `json:"code_challenge_methods_supported"`
	Scopes         []string `json:"scopes_supported"`
	ResponseTypes  []string `json:"response_types_supported"`
}

// issuer checks a provider against its issuer's metadata.
type issuer struct {
	report   *Report
	web      *web
	check    string
	provider *core.OAuthProvider
}

// compare compares a provider with its issuer's metadata. The sign-in has already checked that the document is readable
// and names the issuer.
func (i issuer) compare(ctx context.Context) {
	p := i.provider
	if p.Issuer == "" || p.Type != core.TypeOIDC || strings.Contains(p.Issuer, "{") {
		return
	}
	var d document
	err := i.web.read(ctx, strings.TrimSuffix(p.Issuer, "/")+"/.well-known/openid-configuration", &d)
	if err != nil {
		return // the provider's own client could read it
	}
	auth := d.Authentication
	if len(auth) == 0 {
		auth = []string{string(core.ClientSecretBasic)} // the default of the specification
	}
	if p.ClientAuth != core.ClientAuthNone && !slices.Contains(auth, string(p.ClientAuth)) {
		i.report.add(i.check, Wrong, fmt.Sprintf("ClientAuth is %s, and the issuer accepts %s", p.ClientAuth, listed(auth)),
			"set ClientAuth to one of them")
	}
	algs := p.IDTokenAlgs
	if len(algs) > 0 && len(d.IDTokenAlgs) > 0 && !overlap(algs, d.IDTokenAlgs) {
		i.report.add(i.check, Wrong, fmt.Sprintf("IDTokenAlgs is %s, and the issuer signs with %s", listed(algs),
			listed(d.IDTokenAlgs)), "leave IDTokenAlgs nil, or list one of them")
	}
	if slices.Contains(p.Checks, core.CheckPKCE) && len(d.Challenges) > 0 && !slices.Contains(d.Challenges, "S256") {
		i.report.add(i.check, Unknown, "the issuer does not list S256: it may ignore or reject PKCE",
			"keep pkce in Checks if sign-ins work; otherwise set Checks to state and nonce")
	}
	if len(d.ResponseTypes) > 0 && !slices.Contains(d.ResponseTypes, "code") {
		i.report.add(i.check, Wrong, "the issuer does not list the authorization code flow (response_types_supported)",
			"enable it at the provider")
	}
	i.keys(ctx, d)
}

// keys checks whether the issuer publishes a key that can sign its ID tokens.
func (i issuer) keys(ctx context.Context, d document) {
	var set struct {
		Keys []struct {
			Type string `json:"kty"`
			Use  string `json:"use"`
			Alg  string `json:"alg"`
		} `json:"keys"`
	}
	if err := i.web.read(ctx, d.Keys, &set); err != nil {
		i.report.add(i.check, Wrong, "the keys of the issuer cannot be read: "+brief(err),
			"check jwks_uri in its discovery document: without keys, ID tokens cannot be verified")
		return
	}
	for _, k := range set.Keys {
		named := k.Alg != "" && len(d.IDTokenAlgs) > 0
		if k.Use != "enc" && k.Type != "oct" && (!named || slices.Contains(d.IDTokenAlgs, k.Alg)) {
			return
		}
	}
	i.report.add(i.check, Wrong, fmt.Sprintf("the issuer publishes %s, none for signatures with %s",
		many(len(set.Keys), "key"), listed(d.IDTokenAlgs)), "add a signing key at the provider")
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

func listed(all []string) string { return cmp.Or(strings.Join(all, ", "), "nothing") }
