package oidc

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/ascii"
	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

const (
	maxEndpoint = 2 << 10 // of an endpoint's URL, in bytes
	maxListed   = 50      // of a list, in members
)

// Metadata is what a provider says of itself (OpenID Connect Discovery section 3, RFC 8414 section 2). What it does not
// say is empty. It is shared: do not write to it.
type Metadata struct {
	Issuer, AuthorizationEndpoint, TokenEndpoint, UserinfoEndpoint, JWKSURI string
	IDTokenSigningAlgs, TokenEndpointAuthSigningAlgs                        []string
	AuthorizationResponseIssParameterSupported                              bool
	// EndSessionEndpoint is where browsers go to sign out at the provider (OpenID Connect RP-Initiated Logout section
	// 2.1). One that is no https URL is left out: sign-ins need none.
	EndSessionEndpoint string

	tenant bool // of one of many tenants, whose keys are kept apart
	// sparing names the issuer on whose account the keys are fetched anew, where a stranger named the tenant.
	sparing string
}

// parseMetadata reads the discovery document of an issuer: names exact, each once.
func (d *Discovery) parseMetadata(body []byte, issuer string) (*Metadata, error) {
	m := &Metadata{}
	texts := map[string]*string{
		"issuer": &m.Issuer, "authorization_endpoint": &m.AuthorizationEndpoint, "token_endpoint": &m.TokenEndpoint,
		"userinfo_endpoint": &m.UserinfoEndpoint, "jwks_uri": &m.JWKSURI,
	}
	lists := map[string]*[]string{
		"id_token_signing_alg_values_supported":            &m.IDTokenSigningAlgs,
		"token_endpoint_auth_signing_alg_values_supported": &m.TokenEndpointAuthSigningAlgs,
	}
	member := func(name string, raw []byte) error {
		if field, known := texts[name]; known {
			text, ok := exactjson.Text(raw)
			if !ok && !exactjson.IsNull(raw) {
				return fmt.Errorf("%s is no text", name)
			}
			*field = text
		}
		if field, known := lists[name]; known {
			var err error
			*field, err = readList(raw)
			return err
		}
		switch name {
		case "authorization_response_iss_parameter_supported":
			m.AuthorizationResponseIssParameterSupported = string(raw) == "true"
		case "end_session_endpoint":
			if text, ok := exactjson.Text(raw); ok && d.checkEndpoint(text, issuer) == nil {
				m.EndSessionEndpoint = text
			}
		}
		return nil
	}
	err := exactjson.Tolerant(body, Trusted, func(body []byte) error { return exactjson.Object(body, member) })
	if err != nil {
		return nil, fmt.Errorf("discovery document: %w", err)
	}
	// Not after dropping a slash or the like: another spelling is another issuer (OpenID Connect Discovery section 4.3).
	if m.Issuer != issuer && !m.covers(issuer) && (d.accept == nil || !d.accept(issuer, m.Issuer)) {
		return nil, fmt.Errorf("discovery document: it names the issuer %.200q, not %.200q", m.Issuer, issuer)
	}
	for name, field := range texts {
		if *field == "" || name == "issuer" {
			continue
		}
		if err := d.checkEndpoint(*field, issuer); err != nil {
			return nil, fmt.Errorf("discovery document: %s %w", name, err)
		}
	}
	return m, nil
}

// tenant stands for the tenants in the issuer of a service that has many, as Microsoft's document for all of them has
// it.
const tenant = "{tenantid}"

// ManyTenants reports whether the issuer speaks for several, so that no token can carry it.
func (m *Metadata) ManyTenants() bool { return strings.Count(m.Issuer, tenant) == 1 }

// IssuerOf is the issuer of one tenant.
func (m *Metadata) IssuerOf(name string) string { return strings.Replace(m.Issuer, tenant, name, 1) }

// covers reports whether the document may be that of issuer: one path segment stands where the tenants are.
func (m *Metadata) covers(issuer string) bool {
	before, after, ok := strings.Cut(m.Issuer, tenant)
	if !ok || !m.ManyTenants() || len(issuer) <= len(before)+len(after) {
		return false
	}
	if !strings.HasPrefix(issuer, before) || !strings.HasSuffix(issuer, after) {
		return false
	}
	return isTenant(issuer[len(before) : len(issuer)-len(after)])
}

// isTenant accepts the characters of a GUID or a name: nothing that could lead elsewhere.
func isTenant(s string) bool {
	for i := range len(s) {
		if c := s[i]; !ascii.IsAlnum(c) && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// TenantOf reads which tenant an ID token says it is from. It is not verified: use it to choose the issuer to verify it
// with.
func TenantOf(raw string) (string, error) {
	claims, err := Claims(raw)
	if err != nil {
		return "", err
	}
	return tenantIn(claims)
}

func tenantIn(claims map[string]any) (string, error) {
	name, _ := claims["tid"].(string)
	if !isTenant(name) {
		return "", errors.New("the token names no tenant (tid)")
	}
	return name, nil
}

// readList reads a list of texts. Members of other kinds are left out; they name nothing that is supported here.
func readList(raw []byte) ([]string, error) {
	v, err := exactjson.Decode(raw)
	if err != nil {
		return nil, err
	}
	var list []string
	values, _ := v.([]any)
	for _, v := range values {
		if text, ok := v.(string); ok && len(list) < maxListed {
			list = append(list, text)
		}
	}
	return list, nil
}

// checkIssuer holds an issuer against OpenID Connect Discovery section 3: a URL without query and fragment. Whether it
// is https is seen when it is asked.
func checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return errors.New("the issuer is no URL without user, query and fragment")
	}
	return nil
}

// checkEndpoint refuses endpoints that are not https URLs, and those on this machine unless the issuer is: a document
// from elsewhere must not make us send requests to this machine. The insecure hosts are an exception; the configuration
// names them, never the document.
func (d *Discovery) checkEndpoint(endpoint, issuer string) error {
	u, err := url.Parse(endpoint)
	if err != nil || len(endpoint) > maxEndpoint || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return errors.New("is no URL without user and fragment")
	}
	if d.client.AllowsInsecure(u.Hostname()) && (u.Scheme == "https" || u.Scheme == "http") {
		return nil
	}
	local := upstream.Loopback(u.Hostname())
	if at, err := url.Parse(issuer); local && (err != nil || !upstream.Loopback(at.Hostname())) {
		return errors.New("is on this machine, and the issuer is not")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return errors.New("is no https URL")
	}
	return nil
}
