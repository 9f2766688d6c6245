package password

import "time"

// Senders is how many letters are sent at the same time.
const Senders = senders

// Waiting is how many wait for a hash.
func (p *Provider) Waiting() int { return int(p.hashing.waiting.Load()) }

// CommonEntries are how many passwords the built-in list has, and in how many bytes.
func CommonEntries() (n, bytes int) { return len(commonWords) / commonEntry, len(commonWords) }

// Patience sets how long a visitor waits for a hash at most.
func (p *Provider) Patience(d time.Duration) { p.hashing.wait = d }
