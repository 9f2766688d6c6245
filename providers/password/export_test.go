package password

// Waiting is how many wait for a hash.
func (p *Provider) Waiting() int { return int(p.hashing.waiting.Load()) }
