package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

	askedLinks cookieSpec // which sign-in links this browser asked for
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
func (a *Auth) deriveKeys(c *Config, faults *ConfigError) {
	a.state, a.challenge = a.keyring("encodedState", faults), a.keyring("encodedWebauthnChallenge", faults)
	var err error
	if a.flowKeys, err = flowKeys(a.secrets); err != nil {
		faults.add(InvalidConfig, "Secrets: %v", err)
	}
	told := map[string]bool{}
	switch c.UseSecureCookies {
	case On, Off:
		set := a.newCookieSet(c, c.UseSecureCookies == On, told, faults)
		a.cookieSets = [2]*cookieSet{set, set}
	default:
		a.cookieSets[1] = a.newCookieSet(c, true, told, faults)
		a.cookieSets[0] = a.newCookieSet(c, false, told, faults)
	}
}

// keyring derives the keys of a salt. Secrets that allow none have been named as faults by then.
func (a *Auth) keyring(salt string, faults *ConfigError) *jwe.Keyring {
	keys, err := jwe.NewKeyring(a.secrets, salt)
	if err != nil && len(faults.Problems) == 0 {
		faults.add(InvalidConfig, "Secrets: %v", err)
	}
	return keys
}

// newCookieSet builds the cookies of one kind of origin. told has the fields whose faults were named for the other kind.
func (a *Auth) newCookieSet(c *Config, secure bool, told map[string]bool, faults *ConfigError) *cookieSet {
	prefix, hostPrefix, family := "", "", cookieFamily(c.Audience)
	if secure {
		prefix, hostPrefix = "__Secure-", "__Host-"
	}
	fault := func(field, format string, args ...any) {
		if !told[field] {
			faults.add(InvalidConfig, format, args...)
		}
		told[field] = true
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
		{"SessionToken", &set.session, c.Cookies.SessionToken, prefix + family + "session-token", true, false},
		{"CallbackURL", &set.callbackURL, c.Cookies.CallbackURL, prefix + family + "callback-url", false, false},
		{"CSRFToken", &set.csrf, c.Cookies.CSRFToken, hostPrefix + family + "csrf-token", false, false},
		{"PKCECodeVerifier", &set.pkce, c.Cookies.PKCECodeVerifier, prefix + family + "pkce.code_verifier", true, true},
		{"State", &set.state, c.Cookies.State, prefix + family + "state", true, true},
		{"Nonce", &set.nonce, c.Cookies.Nonce, prefix + family + "nonce", true, true},
		{"WebAuthnChallenge", &set.challenge, c.Cookies.WebAuthnChallenge, prefix + family + "challenge", true, true},
		{"CSRFToken", &set.askedLinks, CookieOptions{}, hostPrefix + family + "asked", false, false},
		{"State", &set.formAnswer, unnamed(c.Cookies.State), prefix + family + "form-answer", true, true},
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
			fault(each.field, "Cookies.%s: %v", each.field, err)
		}
		if other := names[attributes.Name]; other != "" {
			fault(each.field, "Cookies.%s has the name %q of %s: the name is part of the key, give each its own", each.field, attributes.Name, other)
		}
		names[attributes.Name] = each.field
		if each.sealed {
			each.spec.keys = a.keyring(attributes.Name, faults)
		}
	}
	return set
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
	if limit := x.r.HeaderLimit; limit > 0 && len(value)+len(chunks)*len(spec.name()) > limit-otherHeaders {
		return nil, &headerLimitError{len(value), limit}
	}
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

// otherHeaders is what a browser sends besides a session: its own header fields and the cookies of sign-ins under way.
const otherHeaders = 2500

// headerLimitError is a session that the router would not read again: its visitor would be answered 431 until they delete the cookie.
type headerLimitError struct{ size, limit int }

func (e *headerLimitError) Error() string {
	return fmt.Sprintf("the session cookie has %d bytes, and the router reads %d bytes of a request's header: set its limit (ReadBufferSize of fiber.Config) to 16384 or more, or keep less in the session", e.size, e.limit)
}

// clearSession returns the cookies that end the session in the browser.
func (x *exchange) clearSession() []Cookie {
	var out []Cookie
	for _, name := range x.sessionCookie().Present() {
		out = append(out, x.cookies.session.clear(name))
	}
	return out
}

// settleSession chooses among the readings of the session cookie, where there are several, the first that is a good session, so
// that all that is done with the request means the same session. Without it, whoever can plant cookies of our name from a
// neighbouring subdomain signs visitors out, or has one session checked and another used. An ordinary request has one reading and
// costs nothing here. An error means that the store failed.
func (x *exchange) settleSession(ctx context.Context) error {
	presented := x.sessionCookie()
	if x.settled || !presented.Several() {
		return nil
	}
	candidates := slices.Collect(presented.Values())
	if x.session.Strategy != StrategyJWT {
		if candidates = presented.LookUps(); len(candidates) == 1 {
			return nil
		}
	}
	for _, value := range candidates {
		good, err := x.isSession(ctx, value)
		if err != nil {
			return err
		}
		if good {
			presented.Prefer(value)
			break
		}
	}
	x.settled = true
	return nil
}

// isSession tells whether a reading of the session cookie is a session that goes on.
func (x *exchange) isSession(ctx context.Context, value string) (bool, error) {
	var err error
	if x.session.Strategy == StrategyJWT {
		var token *Token
		if token, err = x.decodeSession(ctx, value); err == nil {
			err = x.checkToken(ctx, token)
		}
		if !errors.Is(err, SessionTokenError) {
			return err == nil, nil
		}
	} else if _, _, err = x.storedSession(ctx, value); err == nil || errors.Is(err, ErrNotFound) {
		return err == nil, nil
	}
	return false, asError(err, SessionTokenError).under(SessionTokenError)
}

// sessionCookie is what the request carries of the session.
func (x *exchange) sessionCookie() *cookie.Joined {
	if !x.joined {
		x.presented, x.joined = cookie.Join(x.jar, x.cookies.session.name()), true
	}
	return &x.presented
}
