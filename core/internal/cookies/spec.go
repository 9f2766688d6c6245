// Package cookies has the cookies of an Auth: their names and attributes, which the configuration can change, and the
// keys that encrypt their values.
package cookies

import (
	"time"

	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/jwe"
)

// Spec is the specification of one cookie: its name, its attributes, and its keys if the value is encrypted.
type Spec struct {
	Attributes cookie.Cookie
	MaxAge     time.Duration // the Max-Age attribute; zero: none
	Keys       *jwe.Keyring
}

// Name returns the name of the cookie.
func (s *Spec) Name() string { return s.Attributes.Name }

// Set returns the cookie with a value and without an expiry date.
func (s *Spec) Set(value string) cookie.Cookie {
	c := s.Attributes
	c.Value = value
	c.HasMaxAge, c.MaxAge = s.MaxAge > 0, int(s.MaxAge/time.Second)
	return c
}

// SetUntil returns the cookie with a value and an expiry date.
func (s *Spec) SetUntil(value string, expires time.Time) cookie.Cookie {
	c := s.Set(value)
	c.Expires = expires
	return c
}

// SetSession returns a session cookie. If expires is zero, it has no Max-Age either, whatever the configuration says.
func (s *Spec) SetSession(value string, expires time.Time) cookie.Cookie {
	c := s.SetUntil(value, expires)
	if expires.IsZero() {
		c.HasMaxAge, c.MaxAge = false, 0
	}
	return c
}

// Clear returns the cookie that deletes the cookie.
func (s *Spec) Clear() cookie.Cookie { return s.ClearName(s.Name()) }

// ClearName returns the cookie that deletes the cookie with that name, for example a chunk. It repeats the attributes,
// because browsers match them.
func (s *Spec) ClearName(name string) cookie.Cookie {
	c := s.Attributes
	c.Name, c.HasMaxAge, c.MaxAge = name, true, 0
	return c
}

// TagLength is the number of characters of the tag in the name of a flow cookie.
const TagLength = 8

// Tagged returns the cookie of one flow: its name ends in a dot and the first characters of the tag.
func (s *Spec) Tagged(tag string) *Spec {
	one := *s
	one.Attributes.Name += "." + tag[:min(len(tag), TagLength)]
	return &one
}
