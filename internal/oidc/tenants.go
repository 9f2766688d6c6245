package oidc

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// untrustedFetches is the maximum number of fetches in a minute, for each issuer, because of tenants in unverified
	// tokens.
	untrustedFetches = 20
	// untrustedRetry is how long a tenant that was not found counts as absent for unverified tokens.
	untrustedRetry = 10 * time.Minute
)

// Tenant returns the discovery document of a tenant, for an issuer with several tenants. The name must be from a token
// that the issuer's token endpoint returned.
func (d *Discovery) Tenant(ctx context.Context, m *Metadata, name string) (*Metadata, error) {
	return d.tenantFor(ctx, m, name, "")
}

// TenantForUntrusted is Tenant for a token that an attacker may have sent. At most twenty documents are fetched in a
// minute for each issuer because of such tokens, and a tenant that was not found is not requested again for ten
// minutes.
func (d *Discovery) TenantForUntrusted(ctx context.Context, m *Metadata, name string) (*Metadata, error) {
	if known, err := d.tenants.holds(m.IssuerOf(name), untrustedRetry); err != nil {
		return nil, err
	} else if !known && !d.untrusted.spend(m.Issuer, d.now()) {
		return nil, errors.New("too many tokens of tenants that are not known, within a minute")
	}
	return d.tenantFor(ctx, m, name, m.Issuer)
}

func (d *Discovery) tenantFor(ctx context.Context, m *Metadata, name, sparing string) (*Metadata, error) {
	found, err := d.tenants.get(ctx, m.IssuerOf(name))
	if err != nil {
		return nil, err
	}
	own := *found.value
	own.tenant, own.sparing = true, sparing
	return &own, nil
}

// budget counts fetches because of unverified tokens, by issuer and minute. The issuers are configured, so the map
// cannot grow.
type budget struct {
	mu    sync.Mutex
	spent map[string]minute
}

type minute struct {
	since time.Time
	n     int
}

// spend counts one fetch. It reports false if the maximum is reached.
func (b *budget) spend(issuer string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.spent[issuer]
	if now.Sub(m.since) >= time.Minute {
		m = minute{since: now}
	}
	if m.n == untrustedFetches {
		return false
	}
	m.n++
	if b.spent == nil {
		b.spent = map[string]minute{}
	}
	b.spent[issuer] = m
	return true
}
