package password

import (
	"context"
	"testing"
	"time"
)

// Waiting returns the number of requests that wait for a hash.
func (p *Provider) Waiting() int { return p.hashing.stats().Waiting }

// CommonEntries returns the number of passwords in the built-in list, and its size.
func CommonEntries() (n, bytes int) { return len(commonWords) / commonEntry, len(commonWords) }

// Patience sets the maximum wait for a hash.
func (p *Provider) Patience(d time.Duration) { p.hashing.wait = d }

// AsInProduction refuses weak hashes until the test ends, as in a program that is not a test. The test must not be
// parallel.
func AsInProduction(t *testing.T) {
	t.Helper()
	before := isTest
	isTest = func() bool { return false }
	t.Cleanup(func() { isTest = before })
}

// Sleep replaces the delay of rejected sign-ins, in every Auth of the provider.
func (p *Provider) Sleep(sleep func(ctx context.Context, d time.Duration)) {
	for _, m := range p.liveManagement() {
		m.hashes.sleep = sleep
	}
}

// Kept returns the number of Auths that the provider refers to, including unused ones.
func (p *Provider) Kept() int { return len(p.used) }
