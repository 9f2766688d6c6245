package core

import (
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/tokensource"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/jwe"
)

// Cookie is a cookie to set: one Set-Cookie line. A zero field omits its attribute.
type Cookie struct {
	// Name is the name of the cookie. A "__Host-" or "__Secure-" prefix restricts the other fields (RFC 6265bis section
	// 4.1.3).
	Name string
	// Value is the plain value. [Cookie.String] percent-encodes it, as Auth.js does.
	Value string
	// Path is a path prefix. The browser sends the cookie with requests to paths below it.
	Path string
	// Domain makes the browser send the cookie to subdomains as well. Empty means this host only.
	Domain string
	// Expires is when the browser deletes the cookie, in whole seconds. The zero time means at the end of the browser
	// session.
	Expires time.Time
	// MaxAge is the lifetime in seconds. It takes precedence over Expires, and is used only if HasMaxAge is set. 0 deletes
	// the cookie.
	MaxAge int
	// HasMaxAge adds the attribute Max-Age, with the value MaxAge.
	HasMaxAge bool
	// HTTPOnly hides the cookie from JavaScript.
	HTTPOnly bool
	// Secure makes the browser send the cookie over https only.
	Secure bool
	// Partitioned gives the cookie a separate jar for each top-level site (CHIPS). It needs Secure.
	Partitioned bool
	// Priority is "Low", "Medium" or "High". Chromium evicts cookies with a low priority first if a site has too many.
	Priority string
	// SameSite is "Lax", "Strict" or "None".
	SameSite string
}

// String returns the value of the Set-Cookie header.
func (c Cookie) String() string { return cookie.Cookie(c).String() }

const (
	// checkTTL is the lifetime of the cookies of a flow.
	checkTTL = 15 * time.Minute
	// formAnswerTTL is the lifetime of a form_post response, which the browser's next request reads.
	formAnswerTTL = time.Minute
)

// cookieSpec is the specification of one cookie: its name, its attributes, and its keys if the value is encrypted.
type cookieSpec struct {
	attributes Cookie
	maxAge     time.Duration // the Max-Age attribute; zero: none
	keys       *jwe.Keyring
}

func (s *cookieSpec) name() string { return s.attributes.Name }

// set returns the cookie with a value and without an expiry date.
func (s *cookieSpec) set(value string) Cookie {
	c := s.attributes
	c.Value = value
	c.HasMaxAge, c.MaxAge = s.maxAge > 0, int(s.maxAge/time.Second)
	return c
}

// setUntil returns the cookie with a value and an expiry date.
func (s *cookieSpec) setUntil(value string, expires time.Time) Cookie {
	c := s.set(value)
	c.Expires = expires
	return c
}

// clear returns the cookie that deletes the cookie with that name. It repeats the attributes, because browsers match
// them.
func (s *cookieSpec) clear(name string) Cookie {
	c := s.attributes
	c.Name, c.HasMaxAge, c.MaxAge = name, true, 0
	return c
}

// cookieSet has the cookies for one kind of origin, http or https.
type cookieSet struct {
	session, callbackURL, csrf, pkce, state, nonce, challenge cookieSpec

	logout     cookieSpec // the provider session for RP-initiated logout
	askedLinks cookieSpec // the sign-in links that this browser requested
	flow       cookieSpec // prefix of the names of flow cookies
	formAnswer cookieSpec // prefix of the names of form_post responses
	plugins    cookieSpec // prefix of the names of plugin cookies, with their attributes
}

// check returns the cookie of a check.
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

// newCookieSets returns the cookies for http and https origins, with the keys of the encrypted ones.
func newCookieSets(c *Config, secrets []string, faults *ConfigError) [2]*cookieSet {
	reported := map[string]bool{}
	switch c.UseSecureCookies {
	case True, False:
		set := newCookieSet(c, secrets, c.UseSecureCookies == True, reported, faults)
		return [2]*cookieSet{set, set}
	}
	secure := newCookieSet(c, secrets, true, reported, faults)
	return [2]*cookieSet{newCookieSet(c, secrets, false, reported, faults), secure}
}

// newKeyring derives the keys for a salt. An invalid secret was already reported as a configuration error.
func newKeyring(secrets []string, salt string, faults *ConfigError) *jwe.Keyring {
	keys, err := jwe.NewKeyring(secrets, salt)
	if err != nil && len(faults.Problems) == 0 {
		faults.add(ErrInvalidConfig, "Secrets: %v", err)
	}
	return keys
}

// cookieMaker creates the cookies for one kind of origin.
type cookieMaker struct {
	config   *Config
	secrets  []string
	secure   bool
	names    map[string]string // names of cookies and encrypted parameters so far, with their purpose
	reported map[string]bool   // fields whose errors were reported for the other kind of origin
	faults   *ConfigError
}

// newCookieSet returns the cookies for one kind of origin (docs/protocol.md §3.1, §3.2).
func newCookieSet(c *Config, secrets []string, secure bool, reported map[string]bool, faults *ConfigError) *cookieSet {
	names := map[string]string{"encodedState": "the state parameter", "encodedWebauthnChallenge": "the passkey challenge"}
	m := &cookieMaker{config: c, secrets: secrets, secure: secure, names: names, reported: reported, faults: faults}
	prefix, hostPrefix := "", ""
	if secure {
		prefix, hostPrefix = "__Secure-", "__Host-"
	}
	family := tokensource.CookieFamily(c.Audience)
	ours := hostPrefix + partFamily + strings.TrimPrefix(family, "authjs")
	prefix, hostPrefix = prefix+family, hostPrefix+family
	o := &c.Cookies
	return &cookieSet{
		session:     m.sealed("SessionToken", o.SessionToken, prefix+"session-token", 0),
		callbackURL: m.open("CallbackURL", o.CallbackURL, prefix+"callback-url"),
		csrf:        m.open("CSRFToken", o.CSRFToken, hostPrefix+"csrf-token"),
		pkce:        m.sealed("PKCECodeVerifier", o.PKCECodeVerifier, prefix+"pkce.code_verifier", checkTTL),
		state:       m.sealed("State", o.State, prefix+"state", checkTTL),
		nonce:       m.sealed("Nonce", o.Nonce, prefix+"nonce", 0), // like Auth.js, without Max-Age
		challenge:   m.sealed("WebAuthnChallenge", o.WebAuthnChallenge, prefix+"challenge", checkTTL),
		logout:      m.open("CSRFToken", CookieOptions{}, hostPrefix+"logout"),
		askedLinks:  m.open("CSRFToken", CookieOptions{}, hostPrefix+"asked"),
		plugins:     m.open("CSRFToken", CookieOptions{}, ours),
		formAnswer:  m.sealed("State", additionalCookie(o.State), prefix+"form-answer", formAnswerTTL),
		flow:        m.flowCookie(additionalCookie(o.State), prefix+"state"),
	}
}

// additionalCookie returns the options for an additional cookie with the attributes of an existing one. Name, MaxAge
// and Secure are reset, because the prefix of the new name determines them.
func additionalCookie(o CookieOptions) CookieOptions {
	o.Name, o.MaxAge, o.Secure = "", 0, Default
	return o
}

// flowCookie returns the cookie for additional flows. Its name starts with the name of the state cookie, but its keys
// are different.
func (m *cookieMaker) flowCookie(o CookieOptions, name string) cookieSpec {
	spec := m.sealed("State", o, name+".flow", checkTTL)
	spec.attributes.Name = name
	return spec
}

// sealed returns a cookie with an encrypted value. Its name is the salt of its keys.
func (m *cookieMaker) sealed(field string, o CookieOptions, name string, maxAge time.Duration) cookieSpec {
	spec := m.open(field, o, name)
	spec.keys = newKeyring(m.secrets, spec.name(), m.faults)
	if o.MaxAge <= 0 {
		spec.maxAge = maxAge
	}
	return spec
}

// open returns a cookie with the options of a field of [CookiesConfig].
func (m *cookieMaker) open(field string, o CookieOptions, name string) cookieSpec {
	attributes := Cookie{
		Name: or(o.Name, name), Domain: o.Domain, Path: or(o.Path, "/"), HTTPOnly: o.HTTPOnly != False,
		Secure:   o.Secure == True || o.Secure == Default && (m.secure || cookie.NeedsSecure(o.Name)),
		SameSite: or(capital(o.SameSite), "Lax"), Partitioned: o.Partitioned, Priority: capital(o.Priority),
	}
	if !attributes.Secure && m.config.UseSecureCookies == Default && o.Secure == Default {
		// An http origin: browsers drop a cookie that needs Secure but does not have it.
		attributes.Partitioned = false
		if attributes.SameSite == "None" {
			attributes.SameSite = "Lax"
		}
	}
	if err := cookie.Cookie(attributes).Validate(); err != nil {
		m.fault(field, "Cookies.%s: %v", field, err)
	}
	if other := m.names[attributes.Name]; other != "" {
		m.fault(field, "Cookies.%s has the name %q of %s: the name is part of the encryption key, "+
			"give each cookie its own name", field, attributes.Name, other)
	}
	if other := m.chunkOf(attributes.Name); other != "" {
		m.fault(field, "Cookies.%s has the name %q, which is the name of a chunk of a long %s: give it another one",
			field, attributes.Name, other)
	}
	m.names[attributes.Name] = field
	return cookieSpec{attributes: attributes, maxAge: max(o.MaxAge, 0)}
}

// chunkOf returns the field of the cookie whose chunks would have this name, or "". A long value is split into chunks.
// Only the session cookie is that long, and it is created first.
func (m *cookieMaker) chunkOf(name string) string {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return ""
	}
	if _, err := strconv.Atoi(name[at+1:]); err != nil {
		return ""
	}
	return m.names[name[:at]]
}

// fault reports a configuration error of a field once, not for each kind of origin.
func (m *cookieMaker) fault(field, format string, args ...any) {
	if !m.reported[field] {
		m.faults.add(ErrInvalidConfig, format, args...)
	}
	m.reported[field] = true
}

// capital returns an attribute value in the case that Set-Cookie uses. Validate reports invalid values.
func capital(option string) string {
	if option == "" {
		return ""
	}
	return strings.ToUpper(option[:1]) + strings.ToLower(option[1:])
}

// partFamily is the prefix of the names of plugin cookies, after "__Host-".
const partFamily = "latchkey"
