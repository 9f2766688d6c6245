// Package oidc verifies what an OpenID provider says: discovery documents and key sets, cached and bounded, ID tokens
// with their signatures, and the iss parameter of authorization responses.
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

	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// Options are what a Discovery works with.
type Options struct {
	// Client sends the requests.
	Client *upstream.Client
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// AcceptIssuer, if not nil, reports whether the document fetched for the issuer configured may name the issuer found.
	// Tokens must then carry the issuer found. nil: both are the same (OpenID Connect Discovery section 4.3).
	AcceptIssuer func(configured, found string) bool
	// Logger gets a line when an old document is used on because a new one cannot be had; nil: no log.
	Logger *slog.Logger
}

// Discovery knows the documents and keys of issuers. One belongs to one configuration, so that tenants never share. It
// is safe for concurrent use; make it with [New].
//
// A document is believed for an hour and renewed in the background shortly before. Many callers that need one make one
// fetch; a failure is believed for three seconds. While a provider is out of reach its old documents serve for a day.
type Discovery struct {
	client    *upstream.Client
	now       func() time.Time
	logger    *slog.Logger
	accept    func(configured, found string) bool // nil: both must be equal
	documents *cache[*Metadata]
	keySets   *cache[*keySet]
	// Tenants are named by tokens, which push nothing out of the caches of issuers that the configuration names.
	tenants    *cache[*Metadata]
	tenantKeys *cache[*keySet]
	strangers  budget
}

// New returns a Discovery. It fetches nothing before it is asked.
func New(o Options) *Discovery {
	d := &Discovery{client: o.Client, now: o.Now, logger: o.Logger, accept: o.AcceptIssuer}
	if d.now == nil {
		d.now = time.Now //nolint:forbidigo // the default, for the zero value
	}
	if d.logger == nil {
		d.logger = slog.New(slog.DiscardHandler)
	}
	d.documents = newCache(d.now, d.loadMetadata, d.warn)
	d.keySets = newCache(d.now, d.loadKeys, d.warn)
	d.tenants = newCache(d.now, d.loadMetadata, d.warn)
	d.tenantKeys = newCache(d.now, d.loadKeys, d.warn)
	return d
}

// Metadata returns the discovery document of an issuer. Every endpoint in it is https, or on this machine like its
// issuer. The error is that of ctx, or says what is wrong with the document.
func (d *Discovery) Metadata(ctx context.Context, issuer string) (*Metadata, error) {
	m, err := d.documents.get(ctx, issuer)
	return m.value, err
}

func (d *Discovery) loadMetadata(ctx context.Context, issuer string) (*Metadata, error) {
	if err := checkIssuer(issuer); err != nil {
		return nil, err
	}
	// OpenID Connect Discovery section 4: a slash at the end of the issuer does not count here, though it does in
	// comparisons.
	body, err := d.fetch(ctx, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return nil, err
	}
	return d.parseMetadata(body, issuer)
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
		return nil, fmt.Errorf("%s%s answered status %d", r.URL.Host, r.URL.EscapedPath(), answer.Status)
	}
	return answer.Body, nil
}

// warn logs that an old document is used on. Of its address it logs the host: that of a key set may have a query.
func (d *Discovery) warn(address string, err error) {
	host := ""
	if u, e := url.Parse(address); e == nil {
		host = u.Host
	}
	d.logger.WarnContext(context.Background(), "provider document not renewed, the old one serves",
		slog.String("host", host), slog.Any("error", err))
}

// CheckIss compares the iss parameter of an authorization response with the issuer that was asked (RFC 9207 section
// 2.4). got has the values that came. Without a known issuer there is nothing to compare; where the provider advertises
// the parameter it must be there.
func CheckIss(got []string, issuer string, advertised bool) error {
	switch {
	case len(got) > 1:
		return errors.New("the answer has iss twice")
	case len(got) == 0 && advertised:
		return errors.New("the answer has no iss although the provider advertises it (RFC 9207)")
	case len(got) == 1 && issuer != "" && got[0] != issuer:
		return fmt.Errorf("the answer is from the issuer %.200q, not from %q, which was asked (RFC 9207)", got[0], issuer)
	}
	return nil
}
