package core

import (
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/tokensource"
)

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

// cookieMaker creates the cookies for one kind of origin.
type cookieMaker struct {
	config   *Config
	secrets  []string
	secure   bool
	names    map[string]string // names of cookies and encrypted parameters so far, with their purpose
	reported map[string]bool   // fields whose errors were reported for the other kind of origin
	faults   *ConfigError
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

// capital returns an attribute value in the case that Set-Cookie uses. Validate reports invalid values.
func capital(option string) string {
	if option == "" {
		return ""
	}
	return strings.ToUpper(option[:1]) + strings.ToLower(option[1:])
}
