// Package oidc verifies what an OpenID provider says: discovery documents and key sets, cached and bounded, ID tokens with their
// signatures, and the iss parameter of authorization responses.
package oidc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// documentTTL is how long discovery documents and key sets are believed.
const documentTTL = time.Hour

// Options are what a Discovery works with.
type Options struct {
	Client *upstream.Client
	Now    func() time.Time
	Logger *slog.Logger
}

// Discovery knows the documents and keys of issuers. One belongs to one configuration, so that tenants never share. It is safe
// for concurrent use; make it with [New].
type Discovery struct {
	client    *upstream.Client
	now       func() time.Time
	documents cache[*Metadata]
	keySets   cache[*keySet]
}

// New returns a Discovery. It fetches nothing before it is asked.
func New(o Options) *Discovery {
	d := &Discovery{client: o.Client, now: o.Now}
	if d.now == nil {
		d.now = time.Now //nolint:forbidigo // the default, for the zero value
	}
	d.documents = cache[*Metadata]{now: d.now, load: d.loadMetadata, entries: map[string]*entry[*Metadata]{}}
	d.keySets = cache[*keySet]{now: d.now, load: d.loadKeys, entries: map[string]*entry[*keySet]{}}
	return d
}

// Metadata is what a provider says of itself (OpenID Connect Discovery section 3, RFC 8414). It is shared: do not write to it.
type Metadata struct {
	Issuer, AuthorizationEndpoint, TokenEndpoint, UserinfoEndpoint, JWKSURI, EndSessionEndpoint string
	IDTokenSigningAlgs                                                                          []string
	AuthorizationResponseIssParameterSupported                                                  bool
}

// Metadata returns the discovery document of an issuer, from the cache for an hour.
func (d *Discovery) Metadata(ctx context.Context, issuer string) (*Metadata, error) {
	return d.documents.get(ctx, issuer, documentTTL)
}

func (d *Discovery) loadMetadata(ctx context.Context, issuer string) (*Metadata, error) {
	body, err := d.fetch(ctx, strings.TrimRight(issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return nil, err
	}
	return parseMetadata(body, issuer)
}

// fetch gets a public document.
func (d *Discovery) fetch(ctx context.Context, address string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address is no URL")
	}
	r.Header.Set("Accept", "application/json")
	answer, err := d.client.Do(ctx, r, upstream.SameHost)
	if err != nil {
		return nil, err
	}
	if answer.Status != http.StatusOK {
		return nil, fmt.Errorf("%s%s answered status %d", r.URL.Host, r.URL.Path, answer.Status)
	}
	return answer.Body, nil
}

func parseMetadata(body []byte, issuer string) (*Metadata, error) {
	m := &Metadata{}
	texts := map[string]*string{
		"issuer": &m.Issuer, "authorization_endpoint": &m.AuthorizationEndpoint, "token_endpoint": &m.TokenEndpoint,
		"userinfo_endpoint": &m.UserinfoEndpoint, "jwks_uri": &m.JWKSURI, "end_session_endpoint": &m.EndSessionEndpoint,
	}
	err := exactjson.Object(body, func(name string, raw []byte) error {
		if field, known := texts[name]; known {
			text, ok := exactjson.Text(raw)
			if !ok && !exactjson.IsNull(raw) {
				return fmt.Errorf("discovery document: %s is no text", name)
			}
			*field = text
			return nil
		}
		switch name {
		case "id_token_signing_alg_values_supported":
			list, err := exactjson.Decode(raw)
			if err != nil {
				return err
			}
			values, _ := list.([]any)
			for _, v := range values {
				if alg, ok := v.(string); ok && len(m.IDTokenSigningAlgs) < 50 {
					m.IDTokenSigningAlgs = append(m.IDTokenSigningAlgs, alg)
				}
			}
		case "authorization_response_iss_parameter_supported":
			m.AuthorizationResponseIssParameterSupported = string(raw) == "true"
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("discovery document: %w", err)
	}
	if m.Issuer != issuer {
		return nil, errors.New("discovery document: it names another issuer than the one it was asked for")
	}
	for name, field := range texts {
		if *field == "" || name == "issuer" {
			continue
		}
		if u, err := url.Parse(*field); err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || !secure(u, issuer) {
			return nil, fmt.Errorf("discovery document: %s is no https URL", name)
		}
	}
	return m, nil
}

// secure tells whether an endpoint is https, or on this machine like its issuer.
func secure(u *url.URL, issuer string) bool {
	at, err := url.Parse(issuer)
	return u.Scheme == "https" || u.Scheme == "http" && err == nil && upstream.Loopback(at.Hostname()) && upstream.Loopback(u.Hostname())
}

// CheckIss compares the iss parameter of an authorization response with the issuer that was asked (RFC 9207 section 2.4). got has
// the values that came. Without a known issuer there is nothing to compare; where the provider advertises the parameter it must
// be there.
func CheckIss(got []string, issuer string, advertised bool) error {
	switch {
	case len(got) > 1:
		return errors.New("the answer has iss twice")
	case len(got) == 0 && advertised:
		return errors.New("the answer has no iss although the provider advertises it (RFC 9207)")
	case len(got) == 1 && issuer != "" && got[0] != issuer:
		return errors.New("the answer is from another issuer than the one asked (RFC 9207)")
	}
	return nil
}
