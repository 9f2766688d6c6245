package core

import (
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// Cookie is a cookie to be set: one Set-Cookie line. The zero value of every field but Name leaves the attribute out.
type Cookie struct {
	// Name is the cookie's name; a "__Host-" or "__Secure-" prefix binds the other fields (RFC 6265bis section 4.1.3).
	Name string
	// Value is the plain value; [Cookie.String] percent-encodes it, as Auth.js does.
	Value string
	// Path is the path below which the browser sends the cookie.
	Path string
	// Domain opens the cookie to subdomains; empty means this host only.
	Domain string
	// Expires is when the browser forgets the cookie, to the second; zero: with the browser's session.
	Expires time.Time
	// MaxAge is the time to live in seconds, which goes before Expires. It counts where HasMaxAge is set: 0 means "delete
	// now".
	MaxAge int
	// HasMaxAge writes MaxAge.
	HasMaxAge bool
	// HTTPOnly hides the cookie from scripts.
	HTTPOnly bool
	// Secure keeps the cookie off plain http.
	Secure bool
	// Partitioned asks for one jar for each top-level site (CHIPS); it needs Secure.
	Partitioned bool
	// Priority is "Low", "Medium" or "High": which cookies Chromium evicts first when a site has too many.
	Priority string
	// SameSite is "Lax", "Strict" or "None".
	SameSite string
}

// String returns the value of the Set-Cookie header.
func (c Cookie) String() string { return cookie.Cookie(c).String() }

const (
	// checkTTL is how long the cookies of a flow last.
	checkTTL = 15 * time.Minute
	// formAnswerTTL is the lifetime of a form_post answer, which the next request of the browser reads.
	formAnswerTTL = time.Minute
)

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
	c.HasMaxAge, c.MaxAge = s.maxAge > 0, int(s.maxAge/time.Second)
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

	logout     cookieSpec // which session at a provider a sign-out leads to
	askedLinks cookieSpec // which sign-in links this browser asked for
	flow       cookieSpec // the beginning of the names of flow cookies
	formAnswer cookieSpec // the beginning of the names of form_post answers
	parts      cookieSpec // the beginning of the names of those that parts keep, with their attributes
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

// newCookieSets builds the cookies of http and of https origins, and every key that seals one.
func newCookieSets(c *Config, secrets []string, faults *ConfigError) [2]*cookieSet {
	told := map[string]bool{}
	switch c.UseSecureCookies {
	case On, Off:
		set := newCookieSet(c, secrets, c.UseSecureCookies == On, told, faults)
		return [2]*cookieSet{set, set}
	}
	secure := newCookieSet(c, secrets, true, told, faults)
	return [2]*cookieSet{newCookieSet(c, secrets, false, told, faults), secure}
}

// newKeyring derives the keys of a salt. Secrets that allow none have been named as faults by then.
func newKeyring(secrets []string, salt string, faults *ConfigError) *jwe.Keyring {
	keys, err := jwe.NewKeyring(secrets, salt)
	if err != nil && len(faults.Problems) == 0 {
		faults.add(ErrInvalidConfig, "Secrets: %v", err)
	}
	return keys
}

// cookieMaker makes the cookies of one kind of origin.
type cookieMaker struct {
	config  *Config
	secrets []string
	secure  bool
	names   map[string]string // of cookies and sealed parameters made so far, and what they are for
	told    map[string]bool   // fields whose faults were named for the other kind of origin
	faults  *ConfigError
}

// newCookieSet builds the cookies of one kind of origin (docs/protocol.md §3.1, §3.2).
func newCookieSet(c *Config, secrets []string, secure bool, told map[string]bool, faults *ConfigError) *cookieSet {
	names := map[string]string{"encodedState": "the state parameter", "encodedWebauthnChallenge": "the passkey challenge"}
	m := &cookieMaker{config: c, secrets: secrets, secure: secure, names: names, told: told, faults: faults}
	prefix, hostPrefix := "", ""
	if secure {
		prefix, hostPrefix = "__Secure-", "__Host-"
	}
	family := cookieFamily(c.Audience)
	ours := hostPrefix + partFamily + strings.TrimPrefix(family, "authjs")
	prefix, hostPrefix = prefix+family, hostPrefix+family
	o := &c.Cookies
	return &cookieSet{
		session:     m.sealed("SessionToken", o.SessionToken, prefix+"session-token", 0),
		callbackURL: m.open("CallbackURL", o.CallbackURL, prefix+"callback-url"),
		csrf:        m.open("CSRFToken", o.CSRFToken, hostPrefix+"csrf-token"),
		pkce:        m.sealed("PKCECodeVerifier", o.PKCECodeVerifier, prefix+"pkce.code_verifier", checkTTL),
		state:       m.sealed("State", o.State, prefix+"state", checkTTL),
		nonce:       m.sealed("Nonce", o.Nonce, prefix+"nonce", 0), // Auth.js sets no Max-Age there
		challenge:   m.sealed("WebAuthnChallenge", o.WebAuthnChallenge, prefix+"challenge", checkTTL),
		logout:      m.open("CSRFToken", CookieOptions{}, hostPrefix+"logout"),
		askedLinks:  m.open("CSRFToken", CookieOptions{}, hostPrefix+"asked"),
		parts:       m.open("CSRFToken", CookieOptions{}, ours),
		formAnswer:  m.sealed("State", beside(o.State), prefix+"form-answer", formAnswerTTL),
		flow:        m.flowCookie(beside(o.State), prefix+"state"),
	}
}

// beside is for a cookie of ours beside that of the options: with its attributes, and a name, an age and the rule for
// Secure of its own, as its prefix needs that.
func beside(o CookieOptions) CookieOptions { o.Name, o.MaxAge, o.Secure = "", 0, Auto; return o }

// flowCookie makes the cookie of further flows. Its keys are other ones than those of the state cookie, with whose name
// its names begin.
func (m *cookieMaker) flowCookie(o CookieOptions, name string) cookieSpec {
	spec := m.sealed("State", o, name+".flow", checkTTL)
	spec.attributes.Name = name
	return spec
}

// sealed makes a cookie whose value is encrypted, with keys of its own.
func (m *cookieMaker) sealed(field string, o CookieOptions, name string, maxAge time.Duration) cookieSpec {
	spec := m.open(field, o, name)
	spec.keys = newKeyring(m.secrets, spec.name(), m.faults)
	if o.MaxAge <= 0 {
		spec.maxAge = maxAge
	}
	return spec
}

// open makes a cookie from the options that the field of [CookiesConfig] says.
func (m *cookieMaker) open(field string, o CookieOptions, name string) cookieSpec {
	attributes := Cookie{
		Name: or(o.Name, name), Domain: o.Domain, Path: or(o.Path, "/"), HTTPOnly: o.HTTPOnly != Off,
		Secure:   o.Secure == On || o.Secure == Auto && (m.secure || cookie.NeedsSecure(o.Name)),
		SameSite: or(capital(o.SameSite), "Lax"), Partitioned: o.Partitioned, Priority: capital(o.Priority),
	}
	if !attributes.Secure && m.config.UseSecureCookies == Auto && o.Secure == Auto {
		// An http origin: browsers drop what needs Secure and lacks it.
		attributes.Partitioned = false
		if attributes.SameSite == "None" {
			attributes.SameSite = "Lax"
		}
	}
	if err := cookie.Cookie(attributes).Validate(); err != nil {
		m.fault(field, "Cookies.%s: %v", field, err)
	}
	if other := m.names[attributes.Name]; other != "" {
		m.fault(field, "Cookies.%s has the name %q of %s: the name is part of the key, give each its own",
			field, attributes.Name, other)
	}
	if other := m.chunkOf(attributes.Name); other != "" {
		m.fault(field, "Cookies.%s has the name %q, which parts of a long %s have: give it another one",
			field, attributes.Name, other)
	}
	m.names[attributes.Name] = field
	return cookieSpec{attributes: attributes, maxAge: max(o.MaxAge, 0)}
}

// chunkOf returns the field of the cookie whose value, where it is too long for one, stands in cookies that are named
// so; "" without one. The session cookie, the only one as long as that, is made first.
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

// fault names a field's fault once for both kinds of origin.
func (m *cookieMaker) fault(field, format string, args ...any) {
	if !m.told[field] {
		m.faults.add(ErrInvalidConfig, format, args...)
	}
	m.told[field] = true
}

// capital spells an attribute's value as Set-Cookie has it; Validate reports what is none.
func capital(option string) string {
	if option == "" {
		return ""
	}
	return strings.ToUpper(option[:1]) + strings.ToLower(option[1:])
}

// forFormPost returns the cookie as a cross-site POST needs it (OpenID Connect form_post): SameSite=None, which needs
// Secure.
func forFormPost(c Cookie) Cookie {
	c.SameSite, c.Secure = "None", true
	return c
}

// partFamily begins the names of the cookies that parts keep, behind their prefix.
const partFamily = "latchkey"
