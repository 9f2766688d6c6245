package password

import (
	"context"
	"time"
)

// Waiting is how many wait for a hash.
func (p *Provider) Waiting() int { return p.hashing.load().Waiting }

// CommonEntries are how many passwords the built-in list has, and in how many bytes.
func CommonEntries() (n, bytes int) { return len(commonWords) / commonEntry, len(commonWords) }

// Patience sets how long a visitor waits for a hash at most.
func (p *Provider) Patience(d time.Duration) { p.hashing.wait = d }

// Cheaply makes a hash cost a three-hundredth of the default, for what the provider is attached to already. No Options
// may do so; most tests are not about the cost.
func (p *Provider) Cheaply() {
	for _, m := range p.live() {
		m.hashes.costs = Params{Memory: 64, Passes: 2, Lanes: 1}
	}
}

// Sleep replaces the wait of refused sign-ins, in every Auth that the provider is attached to already.
func (p *Provider) Sleep(sleep func(ctx context.Context, d time.Duration)) {
	for _, m := range p.live() {
		m.hashes.sleep = sleep
	}
}

// Kept returns how many Auths the provider knows, those among them that are in use no more.
func (p *Provider) Kept() int { return len(p.used) }
