package core

import (
	"fmt"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// checkTTL is how long the cookies of a flow last (WIRE 3).
const checkTTL = 15 * time.Minute

// cookieSpec is one cookie of ours: its name and attributes, and the keys that seal its value where it is sealed.
type cookieSpec struct {
	attributes Cookie
	maxAge     time.Duration // the Max-Age attribute; zero: none
	keys       *jwe.Keyring
}

func (s *cookieSpec) name() string { return s.attributes.Name }

// set returns the cookie with a value, for the browser session.
func (s *cookieSpec) set(value string) Cookie {
	c := s.attributes
	c.Value = value
	c.HasMaxAge, c.MaxAge = s.maxAge > 0, int(s.maxAge.Seconds())
	return c
}

// setUntil returns the cookie with a value and an expiry date.
func (s *cookieSpec) setUntil(value string, expires time.Time) Cookie {
	c := s.set(value)
	c.Expires = expires
	return c
}

// clear returns the cookie that removes the one of that name. It repeats the attributes: browsers match on them.
func (s *cookieSpec) clear(name string) Cookie {
	c := s.attributes
	c.Name, c.HasMaxAge, c.MaxAge = name, true, 0
	return c
}

// cookieSet holds the cookies of one kind of origin.
type cookieSet struct {
	session, callbackURL, csrf, pkce, state, nonce, challenge cookieSpec

	formAnswer cookieSpec // of a form_post provider, on its hop
}

// checkCookie returns the cookie of a check.
func (s *cookieSet) check(k Check) *cookieSpec {
	switch k {
	case CheckState:
		return &s.state
	case CheckPKCE:
		return &s.pkce
	default:
		return &s.nonce
	}
}

// deriveKeys builds both cookie sets and every key, once.
func (a *Auth) deriveKeys(c *Config) error {
	var err error
	if a.state, err = jwe.NewKeyring(a.secrets, "encodedState"); err != nil {
		return fmt.Errorf("core: Secrets: %w", err)
	}
	if a.challenge, err = jwe.NewKeyring(a.secrets, "encodedWebauthnChallenge"); err != nil {
		return fmt.Errorf("core: Secrets: %w", err)
	}
	if a.flowKeys, err = flowKeys(a.secrets); err != nil {
		return err
	}
	faults := &ConfigError{logger: c.Logger, basePath: a.basePath, pages: c.Pages, theme: c.Theme, views: a.views}
	for i := range a.cookieSets {
		secure := i == 1
		switch c.UseSecureCookies {
		case On:
			secure = true
		case Off:
			secure = false
		}
		if i == 1 && c.UseSecureCookies != Auto {
			a.cookieSets[1] = a.cookieSets[0]
			break
		}
		if a.cookieSets[i], err = a.newCookieSet(c, secure, faults); err != nil {
			return err
		}
	}
	if len(faults.Problems) > 0 {
		return faults
	}
	return nil
}

func (a *Auth) newCookieSet(c *Config, secure bool, faults *ConfigError) (*cookieSet, error) {
	prefix, hostPrefix := "", ""
	if secure {
		prefix, hostPrefix = "__Secure-", "__Host-"
	}
	set := &cookieSet{}
	names := map[string]string{"encodedState": "the state parameter", "encodedWebauthnChallenge": "the passkey challenge"}
	for _, each := range []struct {
		field   string
		spec    *cookieSpec
		options CookieOptions
		name    string
		sealed  bool
		check   bool
	}{
		{"SessionToken", &set.session, c.Cookies.SessionToken, prefix + "authjs.session-token", true, false},
		{"CallbackURL", &set.callbackURL, c.Cookies.CallbackURL, prefix + "authjs.callback-url", false, false},
		{"CSRFToken", &set.csrf, c.Cookies.CSRFToken, hostPrefix + "authjs.csrf-token", false, false},
		{"PKCECodeVerifier", &set.pkce, c.Cookies.PKCECodeVerifier, prefix + "authjs.pkce.code_verifier", true, true},
		{"State", &set.state, c.Cookies.State, prefix + "authjs.state", true, true},
		{"Nonce", &set.nonce, c.Cookies.Nonce, prefix + "authjs.nonce", true, true},
		{"WebAuthnChallenge", &set.challenge, c.Cookies.WebAuthnChallenge, prefix + "authjs.challenge", true, true},
		{"State", &set.formAnswer, unnamed(c.Cookies.State), prefix + "authjs.form-answer", true, true},
	} {
		o := each.options
		attributes := Cookie{
			Name: or(o.Name, each.name), Domain: o.Domain, Path: or(o.Path, "/"), HTTPOnly: o.HTTPOnly != Off,
			Secure: o.Secure == On || o.Secure == Auto && secure, SameSite: or(capital(o.SameSite), "Lax"), Partitioned: o.Partitioned,
			Priority: capital(o.Priority),
		}
		each.spec.attributes = attributes
		if each.check {
			each.spec.maxAge = checkTTL
		}
		if each.field == "Nonce" { // the reference sets none there
			each.spec.maxAge = 0
		}
		if o.MaxAge > 0 {
			each.spec.maxAge = o.MaxAge
		}
		if each.spec == &set.formAnswer {
			each.spec.maxAge = hopTTL
		}
		if !secure && c.UseSecureCookies == Auto && o.Secure == Auto { // http origins: browsers drop what needs Secure and lacks it
			attributes.Partitioned = false
			if attributes.SameSite == "None" {
				attributes.SameSite = "Lax"
			}
			each.spec.attributes = attributes
		}
		if err := attributes.Validate(); err != nil {
			faults.add(InvalidConfig, "Cookies.%s: %v", each.field, err)
		}
		if other := names[attributes.Name]; other != "" {
			faults.add(InvalidConfig, "Cookies.%s has the name %q of %s: the name is part of the key, give each its own", each.field, attributes.Name, other)
		}
		names[attributes.Name] = each.field
		if each.sealed {
			keys, err := jwe.NewKeyring(a.secrets, attributes.Name)
			if err != nil {
				return nil, fmt.Errorf("core: Secrets: %w", err)
			}
			each.spec.keys = keys
		}
	}
	return set, nil
}

func unnamed(o CookieOptions) CookieOptions { o.Name = ""; return o }

// capital spells an attribute's value as Set-Cookie has it; Validate reports what is none.
func capital(option string) string {
	if option == "" {
		return ""
	}
	return strings.ToUpper(option[:1]) + strings.ToLower(option[1:])
}

// forFormPost returns the cookie as a cross-site POST needs it (OpenID Connect form_post): SameSite=None, which needs Secure.
func forFormPost(c Cookie) Cookie {
	c.SameSite, c.Secure = "None", true
	return c
}

// setSession returns the cookies that hold a session token: one, or numbered chunks. Chunks that the request carried and the
// new value does not use are cleared.
func (x *exchange) setSession(value string, expires time.Time) ([]Cookie, error) {
	chunks, err := x.sessionCookie().Replace(value)
	if err != nil {
		return nil, err
	}
	spec := &x.cookies.session
	out := make([]Cookie, 0, len(chunks))
	for _, chunk := range chunks {
		if chunk.Clear {
			out = append(out, spec.clear(chunk.Name))
			continue
		}
		c := spec.setUntil(chunk.Value, expires)
		c.Name = chunk.Name
		out = append(out, c)
	}
	return out, nil
}

// clearSession returns the cookies that end the session in the browser.
func (x *exchange) clearSession() []Cookie {
	var out []Cookie
	for _, name := range x.sessionCookie().Present() {
		out = append(out, x.cookies.session.clear(name))
	}
	return out
}

// sessionCookie is what the request carries of the session.
func (x *exchange) sessionCookie() *cookie.Joined {
	if !x.joined {
		x.presented, x.joined = cookie.Join(x.jar, x.cookies.session.name()), true
	}
	return &x.presented
}
