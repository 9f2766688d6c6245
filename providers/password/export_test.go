package password

import (
	"context"
	"time"
)

// Waiting returns the number of requests that wait for a hash.
func (p *Provider) Waiting() int { return p.hashing.stats().Waiting }

// CommonEntries returns the number of passwords in the built-in list, and its size.
func CommonEntries() (n, bytes int) { return len(commonWords) / commonEntry, len(commonWords) }

// Patience sets the maximum wait for a hash.
func (p *Provider) Patience(d time.Duration) { p.hashing.wait = d }

// Cheaply reduces the cost of a hash to a three-hundredth of the default, in every Auth of the provider. Options do not
// allow this; most tests do not depend on the cost.
func (p *Provider) Cheaply() {
	for _, m := range p.liveManagement() {
		m.hashes.costs = Params{Memory: 64, Time: 2, Threads: 1}
	}
}

// Sleep replaces the delay of rejected sign-ins, in every Auth of the provider.
func (p *Provider) Sleep(sleep func(ctx context.Context, d time.Duration)) {
	for _, m := range p.liveManagement() {
		m.hashes.sleep = sleep
	}
}

// Kept returns the number of Auths that the provider refers to, including unused ones.
func (p *Provider) Kept() int { return len(p.used) }
