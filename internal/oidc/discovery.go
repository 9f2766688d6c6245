// Package oidc verifies the data of OpenID providers: discovery documents and key sets, which it caches, signed tokens,
// and the iss parameter of authorization responses.
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

	"github.com/latchkey-go/latchkey/internal/upstream"
)

// Options are the options of a Discovery.
type Options struct {
	// Client sends the requests.
	Client *upstream.Client
	// Now is the clock. The default is time.Now.
	Now func() time.Time
	// AcceptIssuer, if not nil, reports whether the document fetched for the issuer configured may name the issuer found.
	// Tokens must then have the issuer found. If it is nil, both must be equal (OpenID Connect Discovery section 4.3).
	AcceptIssuer func(configured, found string) bool
	// Logger receives a message if an old document is used because a new one cannot be fetched. If it is nil, nothing is
	// logged.
	Logger *slog.Logger
}

// Discovery fetches and caches the documents and keys of issuers. Each configuration has its own, so that tenants share
// nothing. It is safe for concurrent use. Create it with [New].
//
// A document is valid for an hour and renewed in the background shortly before. Concurrent callers share one fetch. An
// error is cached for three seconds. While a provider is unreachable, its old documents are used for up to a day.
type Discovery struct {
	client    *upstream.Client
	now       func() time.Time
	logger    *slog.Logger
	accept    func(configured, found string) bool // if nil, both must be equal
	documents *cache[*Metadata]
	keySets   *cache[*keySet]
	// Tenants have a separate cache: because tokens name them, they must not evict the configured issuers.
	tenants    *cache[*Metadata]
	tenantKeys *cache[*keySet]
	untrusted  budget
}

// New returns a Discovery. It fetches nothing yet.
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

// Client returns the client that sends the requests.
func (d *Discovery) Client() *upstream.Client { return d.client }

// Metadata returns the discovery document of an issuer. All its endpoints are https URLs, or on loopback like the
// issuer. The error is that of ctx, or describes what is wrong with the document.
func (d *Discovery) Metadata(ctx context.Context, issuer string) (*Metadata, error) {
	m, err := d.documents.get(ctx, issuer)
	return m.value, err
}

func (d *Discovery) loadMetadata(ctx context.Context, issuer string) (*Metadata, error) {
	if err := checkIssuer(issuer); err != nil {
		return nil, err
	}
	// A trailing slash of the issuer is ignored here, unlike in comparisons (OpenID Connect Discovery section 4).
	body, err := d.fetch(ctx, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return nil, err
	}
	return d.parseMetadata(body, issuer)
}

// fetch fetches a public document.
func (d *Discovery) fetch(ctx context.Context, address string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address is not a URL")
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

// warn logs that an old document is still used. It logs only the host, because the URL of a key set may have a query.
func (d *Discovery) warn(address string, err error) {
	host := ""
	if u, e := url.Parse(address); e == nil {
		host = u.Host
	}
	d.logger.WarnContext(context.Background(), "provider document not renewed, the old one serves",
		slog.String("host", host), slog.Any("error", err))
}

// CheckIss compares the iss parameter of an authorization response with the expected issuer (RFC 9207 section 2.4). got
// contains the values of the parameter. If no issuer is known, nothing is compared. If the provider advertises the
// parameter, it is required.
func CheckIss(got []string, issuer string, advertised bool) error {
	switch {
	case len(got) > 1:
		return errors.New("the authorization response has iss more than once")
	case len(got) == 0 && advertised:
		return errors.New("the authorization response has no iss although the provider advertises it (RFC 9207)")
	case len(got) == 1 && issuer != "" && got[0] != issuer:
		return fmt.Errorf("the authorization response is from the issuer %.200q and not from %q (RFC 9207)", got[0], issuer)
	}
	return nil
}
