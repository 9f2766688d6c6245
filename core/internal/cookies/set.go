package cookies

import (
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/tokensource"
)

const (
	// FlowLifetime is the lifetime of the cookies of a flow.
	FlowLifetime = 15 * time.Minute
	// FormAnswerLifetime is the lifetime of a form_post response, which the browser's next request reads.
	FormAnswerLifetime = time.Minute
)

// pluginFamily is the prefix of the names of plugin cookies, after "__Host-".
const pluginFamily = "latchkey"

// Set has the cookies for one kind of origin, http or https.
type Set struct {
	Session, CallbackURL, CSRF, PKCE, State, Nonce, Challenge Spec

	Logout     Spec // the provider session for RP-initiated logout
	AskedLinks Spec // the sign-in links that this browser requested
	Flow       Spec // prefix of the names of flow cookies
	FormAnswer Spec // prefix of the names of form_post responses
	Plugins    Spec // prefix of the names of plugin cookies, with their attributes
}

// Plugin returns the cookie with a name, of a plugin or of Latchkey itself.
func (s *Set) Plugin(name string) Spec {
	spec := Spec{Attributes: s.Plugins.Attributes}
	spec.Attributes.Name += name
	return spec
}

// Options changes one cookie. Empty fields mean the default.
type Options struct {
	Name, Domain, Path, SameSite, Priority string
	MaxAge                                 time.Duration
	Script                                 bool  // no HttpOnly
	Secure                                 *bool // nil: as for the other cookies
	Partitioned                            bool
}

// Config configures the cookies.
type Config struct {
	Secrets  []string
	Audience string
	// Secure, if not nil, decides for all origins whether the cookies are Secure. Otherwise those of https origins are.
	Secure *bool

	SessionToken, CallbackURL, CSRFToken, PKCECodeVerifier, State, Nonce, WebAuthnChallenge Options

	// Fault reports a configuration error.
	Fault func(format string, args ...any)
}

// NewSets returns the cookies for http and https origins, with the keys of the encrypted ones (docs/protocol.md §3.1,
// §3.2).
func NewSets(c *Config) [2]*Set {
	reported := map[string]bool{}
	if c.Secure != nil {
		set := newSet(c, *c.Secure, reported)
		return [2]*Set{set, set}
	}
	secure := newSet(c, true, reported)
	return [2]*Set{newSet(c, false, reported), secure}
}

func newSet(c *Config, secure bool, reported map[string]bool) *Set {
	names := map[string]string{"encodedState": "the state parameter", "encodedWebauthnChallenge": "the passkey challenge"}
	m := &maker{Config: c, secure: secure, names: names, reported: reported}
	prefix, hostPrefix := "", ""
	if secure {
		prefix, hostPrefix = "__Secure-", "__Host-"
	}
	family := tokensource.CookieFamily(c.Audience)
	ours := hostPrefix + pluginFamily + strings.TrimPrefix(family, "authjs")
	prefix, hostPrefix = prefix+family, hostPrefix+family
	return &Set{
		Session:     m.sealed("SessionToken", c.SessionToken, prefix+"session-token", 0),
		CallbackURL: m.open("CallbackURL", c.CallbackURL, prefix+"callback-url"),
		CSRF:        m.open("CSRFToken", c.CSRFToken, hostPrefix+"csrf-token"),
		PKCE:        m.sealed("PKCECodeVerifier", c.PKCECodeVerifier, prefix+"pkce.code_verifier", FlowLifetime),
		State:       m.sealed("State", c.State, prefix+"state", FlowLifetime),
		Nonce:       m.sealed("Nonce", c.Nonce, prefix+"nonce", 0), // like Auth.js, without Max-Age
		Challenge:   m.sealed("WebAuthnChallenge", c.WebAuthnChallenge, prefix+"challenge", FlowLifetime),
		Logout:      m.open("CSRFToken", Options{}, hostPrefix+"logout"),
		AskedLinks:  m.open("CSRFToken", Options{}, hostPrefix+"asked"),
		Plugins:     m.open("CSRFToken", Options{}, ours),
		FormAnswer:  m.sealed("State", additional(c.State), prefix+"form-answer", FormAnswerLifetime),
		Flow:        m.flow(additional(c.State), prefix+"state"),
	}
}

// additional returns the options for an additional cookie with the attributes of an existing one. Name, MaxAge and
// Secure are reset, because the prefix of the new name determines them.
func additional(o Options) Options {
	o.Name, o.MaxAge, o.Secure = "", 0, nil
	return o
}

// maker creates the cookies for one kind of origin.
type maker struct {
	*Config
	secure   bool
	names    map[string]string // names of cookies and encrypted parameters so far, with their purpose
	reported map[string]bool   // fields whose errors were reported for the other kind of origin
}

// flow returns the cookie for additional flows. Its name starts with the name of the state cookie, but its keys are
// different.
func (m *maker) flow(o Options, name string) Spec {
	spec := m.sealed("State", o, name+".flow", FlowLifetime)
	spec.Attributes.Name = name
	return spec
}

// sealed returns a cookie with an encrypted value. Its name is the salt of its keys. An invalid secret was already
// reported.
func (m *maker) sealed(field string, o Options, name string, maxAge time.Duration) Spec {
	spec := m.open(field, o, name)
	spec.Keys, _ = jwe.NewKeyring(m.Secrets, spec.Name())
	if o.MaxAge <= 0 {
		spec.MaxAge = maxAge
	}
	return spec
}

// open returns a cookie with the options of a field of Config.
func (m *maker) open(field string, o Options, name string) Spec {
	if o.Name != "" {
		name = o.Name
	}
	attributes := cookie.Cookie{
		Name: name, Domain: o.Domain, Path: "/", HTTPOnly: !o.Script,
		Secure:   o.Secure != nil && *o.Secure || o.Secure == nil && (m.secure || cookie.NeedsSecure(o.Name)),
		SameSite: "Lax", Partitioned: o.Partitioned, Priority: capital(o.Priority),
	}
	if o.Path != "" {
		attributes.Path = o.Path
	}
	if o.SameSite != "" {
		attributes.SameSite = capital(o.SameSite)
	}
	if !attributes.Secure && m.Secure == nil && o.Secure == nil {
		// An http origin: browsers drop a cookie that needs Secure but does not have it.
		attributes.Partitioned = false
		if attributes.SameSite == "None" {
			attributes.SameSite = "Lax"
		}
	}
	if err := attributes.Validate(); err != nil {
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
	return Spec{Attributes: attributes, MaxAge: max(o.MaxAge, 0)}
}

// chunkOf returns the field of the cookie whose chunks would have this name, or "". A long value is split into chunks.
// Only the session cookie is that long, and it is created first.
func (m *maker) chunkOf(name string) string {
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
func (m *maker) fault(field, format string, args ...any) {
	if !m.reported[field] {
		m.Fault(format, args...)
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
