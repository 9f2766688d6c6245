package core

import "time"

// HashLoad is how busy the computing of password hashes is, in one process. The provider of module providers/password
// has a method Load that returns it; observe/prometheus and observe/otel ask each provider that has one.
type HashLoad struct {
	// Slots is how many hashes may be computed at once, Busy how many are, and Waiting how many requests wait for a slot.
	Slots, Busy, Waiting int
	// Refused is how many requests were turned away since the start, as too many waited or one waited too long.
	Refused uint64
}

// RevocationAge is how long ago this process has last learned which sessions were ended elsewhere; sessions that other
// processes have ended since are still good here. ok is false where Session.Revocation is off, for an Auth of
// [PerRequest], and before anybody has come: nothing is read without visitors, and the age grows while there are none.
func (a *Auth) RevocationAge() (age time.Duration, ok bool) {
	if a.sessions == nil || a.sessions.ended == nil || a.sessions.ended.learned.Load() == 0 {
		return 0, false
	}
	return a.sessions.ended.age(), true
}
