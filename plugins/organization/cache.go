package organization

import (
	"sync"
	"time"
)

// memberships has the memberships that this process has read for guards, with Options.MembershipAge. A change by this
// process removes those of the user. Its zero value is ready for use. It is safe for concurrent use.
type memberships struct {
	mu      sync.Mutex
	of      map[string]map[string]cachedMembership // by user, and by ID of the organization or "" for the only one
	changes uint64
}

// cachedMembership is a membership, or nil if there was none.
type cachedMembership struct {
	m    *memberRecord
	read time.Time
}

// maxCachedUsers limits the memory. More users at the same time cost reads.
const maxCachedUsers = 50_000

// get returns a copy of a membership that was read less than age ago. changes is the number of changes until now, for
// put.
func (c *memberships) get(
	userID, id string, now time.Time, age time.Duration,
) (m *memberRecord, ok bool, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, ok := c.of[userID][id]
	if !ok || now.Sub(one.read) >= age {
		return nil, false, c.changes
	}
	if one.m != nil {
		m = &memberRecord{Membership: one.m.Membership}
	}
	return m, true, c.changes
}

// put stores a membership, unless this process has changed one since the read began.
func (c *memberships) put(userID, id string, m *memberRecord, read time.Time, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes {
		return
	}
	if c.of == nil || len(c.of) >= maxCachedUsers {
		c.of = map[string]map[string]cachedMembership{}
	}
	if c.of[userID] == nil {
		c.of[userID] = map[string]cachedMembership{}
	}
	if m != nil {
		m = &memberRecord{Membership: m.Membership}
	}
	if len(c.of[userID]) < 2*maxOwners {
		c.of[userID][id] = cachedMembership{m, read}
	}
}

// forget removes the memberships of a user whose membership may have changed.
func (c *memberships) forget(userID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	delete(c.of, userID)
}
