// INTERIM: stands in so that core compiles; the author of this package deletes this file.
package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

type Options struct {
	Client *upstream.Client
	Now    func() time.Time
	Logger *slog.Logger
}
type Discovery struct{ o Options }
type Metadata struct {
	Issuer                                     string `json:"issuer"`
	AuthorizationEndpoint                      string `json:"authorization_endpoint"`
	TokenEndpoint                              string `json:"token_endpoint"`
	UserinfoEndpoint                           string `json:"userinfo_endpoint"`
	JWKSURI                                    string `json:"jwks_uri"`
	AuthorizationResponseIssParameterSupported bool   `json:"authorization_response_iss_parameter_supported"`
}
type Expect struct {
	Metadata                      *Metadata
	ClientID, ClientSecret, Nonce string
	Algs                          []string
	AccessToken                   string
}

func New(o Options) *Discovery { return &Discovery{o} }
func (d *Discovery) get(ctx context.Context, u string) ([]byte, error) {
	r, err := http.NewRequest("GET", u, nil)
	if err != nil {
		return nil, err
	}
	a, err := d.o.Client.Do(ctx, r, 0)
	if err != nil {
		return nil, err
	}
	if a.Status != 200 {
		return nil, fmt.Errorf("status %d", a.Status)
	}
	return a.Body, nil
}
func (d *Discovery) Metadata(ctx context.Context, iss string) (*Metadata, error) {
	b, err := d.get(ctx, strings.TrimRight(iss, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return nil, err
	}
	m := &Metadata{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, err
	}
	if m.Issuer != iss {
		return nil, errors.New("issuer mismatch")
	}
	return m, nil
}
func (d *Discovery) VerifyIDToken(ctx context.Context, raw string, e Expect) (map[string]any, error) {
	b, err := d.get(ctx, e.Metadata.JWKSURI)
	if err != nil {
		return nil, err
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, err
	}
	s, err := jose.ParseSigned(raw, []jose.SignatureAlgorithm{jose.RS256, jose.ES256})
	if err != nil {
		return nil, err
	}
	p, err := s.Verify(set)
	if err != nil {
		return nil, err
	}
	c, err := exactjson.DecodeObject(p)
	if err != nil {
		return nil, err
	}
	if c["iss"] != e.Metadata.Issuer {
		return nil, errors.New("iss")
	}
	if e.Nonce != "" && c["nonce"] != e.Nonce {
		return nil, errors.New("nonce")
	}
	return c, nil
}
func CheckIss(got []string, exp string, adv bool) error {
	if len(got) > 0 && exp != "" && got[0] != exp {
		return errors.New("iss mismatch")
	}
	return nil
}
