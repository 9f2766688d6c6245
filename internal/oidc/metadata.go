package oidc

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/internal/ascii"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

const (
	maxEndpoint = 2 << 10 // maximum length of an endpoint's URL, in bytes
	maxListed   = 50      // maximum length of a list
)

// Metadata is a provider's metadata (OpenID Connect Discovery section 3, RFC 8414 section 2). Absent members are empty.
// It is shared: do not change it.
type Metadata struct {
	Issuer, AuthorizationEndpoint, TokenEndpoint, UserinfoEndpoint, JWKSURI string
	IDTokenSigningAlgs, TokenEndpointAuthSigningAlgs                        []string
	AuthorizationResponseIssParameterSupported                              bool
	// EndSessionEndpoint is the URL for RP-initiated logout (OpenID Connect RP-Initiated Logout section 2.1). It is empty
	// if it is not an https URL, because sign-ins do not need it.
	EndSessionEndpoint string

	tenant bool // of one of several tenants, which have separate keys
	// sparing is the issuer whose budget limits fetches of the keys, if an unverified token named the tenant.
	sparing string
}

// parseMetadata parses the discovery document of an issuer. Names are exact and must not be repeated.
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
				return fmt.Errorf("%s is not a string", name)
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
	// Issuers are compared exactly, including a trailing slash: another spelling is another issuer (OpenID Connect
	// Discovery section 4.3).
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

// tenant is the placeholder for the tenant in the issuer of a service with several tenants, as in Microsoft's common
// document.
const tenant = "{tenantid}"

// ManyTenants reports whether the issuer has several tenants. The placeholder never appears in a token's issuer.
func (m *Metadata) ManyTenants() bool { return strings.Count(m.Issuer, tenant) == 1 }

// IssuerOf returns the issuer of one tenant.
func (m *Metadata) IssuerOf(name string) string { return strings.Replace(m.Issuer, tenant, name, 1) }

// covers reports whether the document may be that of issuer: the placeholder may be replaced by one path segment.
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

// isTenant reports whether s consists of the characters of a GUID or a name, so that it cannot change the URL in
// another way.
func isTenant(s string) bool {
	for i := range len(s) {
		if c := s[i]; !ascii.IsAlnum(c) && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// TenantOf returns the tenant named in an ID token. The token is not verified: use it only to select the issuer that
// verifies it.
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

// readList reads a list of strings. Other values are omitted, because they name nothing that is supported here.
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

// checkIssuer checks an issuer (OpenID Connect Discovery section 3): it must be a URL without query and fragment. https
// is checked when the document is fetched.
func checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return errors.New("the issuer is not a URL without user, query and fragment")
	}
	return nil
}

// checkEndpoint rejects endpoints that are not https URLs. It also rejects loopback endpoints unless the issuer is on
// loopback: a remote document must not make this process send requests to its own machine. Insecure hosts are exempt;
// they are configured, never taken from the document.
func (d *Discovery) checkEndpoint(endpoint, issuer string) error {
	u, err := url.Parse(endpoint)
	if err != nil || len(endpoint) > maxEndpoint || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return errors.New("is not a URL without user and fragment")
	}
	if d.client.AllowsInsecure(u.Hostname()) && (u.Scheme == "https" || u.Scheme == "http") {
		return nil
	}
	local := upstream.Loopback(u.Hostname())
	if at, err := url.Parse(issuer); local && (err != nil || !upstream.Loopback(at.Hostname())) {
		return errors.New("is on this machine, and the issuer is not")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return errors.New("is not an https URL")
	}
	return nil
}
