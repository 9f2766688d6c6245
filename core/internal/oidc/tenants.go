package oidc

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// strangerFetches is how many fetches a minute strangers can cause at one issuer, by naming tenants.
	strangerFetches = 20
	// strangerRetry is how long a tenant that was not found counts as absent for tokens that strangers may have posted.
	strangerRetry = 10 * time.Minute
)

// Tenant returns the discovery document of one tenant of an issuer that has many, named by a token which the issuer's
// token endpoint gave us.
func (d *Discovery) Tenant(ctx context.Context, m *Metadata, name string) (*Metadata, error) {
	return d.tenantFor(ctx, m, name, "")
}

// TenantForStranger is Tenant where a stranger may have named it. What is not at hand is fetched for strangers twenty
// times a minute and issuer, whatever they name, and what was not there is not looked for again for ten minutes.
func (d *Discovery) TenantForStranger(ctx context.Context, m *Metadata, name string) (*Metadata, error) {
	if known, err := d.tenants.holds(m.IssuerOf(name), strangerRetry); err != nil {
		return nil, err
	} else if !known && !d.strangers.spend(m.Issuer, d.now()) {
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

// budget counts what strangers cause, by issuer and minute. The issuers are those of the configuration.
type budget struct {
	mu    sync.Mutex
	spent map[string]minute
}

type minute struct {
	since time.Time
	n     int
}

// spend takes one from the budget, unless it is spent.
func (b *budget) spend(issuer string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.spent[issuer]
	if now.Sub(m.since) >= time.Minute {
		m = minute{since: now}
	}
	if m.n == strangerFetches {
		return false
	}
	m.n++
	if b.spent == nil {
		b.spent = map[string]minute{}
	}
	b.spent[issuer] = m
	return true
}
