package organization

import (
	"testing"
	"time"
)

// TestMembershipReadDuringChange: a membership that was read while this process changed it is not kept.
func TestMembershipReadDuringChange(t *testing.T) {
	t.Parallel()
	var c memberships
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	before := &memberRecord{Membership: Membership{UserID: "bob", Role: Admin}}
	_, _, changes := c.get("bob", "", now, time.Minute)
	c.forget("bob")
	c.put("bob", "", before, now, changes)
	if m, ok, _ := c.get("bob", "", now, time.Minute); ok {
		t.Errorf("kept %+v", m)
	}
	_, _, changes = c.get("bob", "", now, time.Minute)
	c.put("bob", "", before, now, changes)
	m, ok, _ := c.get("bob", "", now, time.Minute)
	if !ok {
		t.Fatal("not kept")
	}
	m.Role = "changed" // callers have their own copy
	if again, _, _ := c.get("bob", "", now, time.Minute); again.Role != Admin {
		t.Errorf("a caller has changed the role to %s", again.Role)
	}
	if _, ok, _ := c.get("bob", "", now.Add(time.Minute), time.Minute); ok {
		t.Error("kept for longer than the age")
	}
	for i := range maxCachedUsers + 1 {
		c.put("user"+string(rune(0x4e00+i%20000))+string(rune('a'+i/20000)), "", before, now, changes)
	}
	if n := len(c.of); n > maxCachedUsers {
		t.Errorf("%d users are kept", n)
	}
}
