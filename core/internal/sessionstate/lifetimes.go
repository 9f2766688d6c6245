// Package sessionstate has the two forms of a session, without its request: Tokens are encrypted session tokens, Rows
// are sessions in a store. It encodes and decodes them, and decides when they expire, are renewed, or have ended.
package sessionstate

import (
	"time"
)

// Lifetimes limits how long a session lasts.
type Lifetimes struct {
	// MaxAge is the lifetime since the last extension, and Short that of a short session. If Short is zero, there are no
	// short sessions.
	MaxAge, Short time.Duration
	// Absolute is the maximum time since the sign-in. Zero means no maximum.
	Absolute time.Duration
	// Update is the age of a session that is due for a renewal.
	Update time.Duration
	// Impersonated is the lifetime of an impersonated session, which is not renewed.
	Impersonated time.Duration
}

// Of returns how long a session lasts since its last extension.
func (l *Lifetimes) Of(short bool) time.Duration {
	if short && l.Short != 0 {
		return l.Short
	}
	return l.MaxAge
}

// CookieExpiry returns the expiry of the cookie of a session that expires at a time. It is zero for a short session.
func (l *Lifetimes) CookieExpiry(short bool, expires time.Time) time.Time {
	if short && l.Short != 0 {
		return time.Time{}
	}
	return expires
}

// Earlier returns the earlier of two times, where a may be zero, which means never.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
